/* Elements from data: text is always set as text, never read as HTML, and nothing has an inline style. */

/** Return an element; `attributes` whose value is false or undefined are left out, functions listen to events. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/** Return a button that does not submit a form. */
export function button(label, onClick, attributes = {}) {
  return make("button", { type: "button", class: "arg-button", click: onClick, ...attributes }, label);
}

/** Set an attribute, or remove it for undefined and "". */
export function setAttribute(element, name, value) {
  if (value === undefined || value === "") element.removeAttribute(name);
  else element.setAttribute(name, value);
}
