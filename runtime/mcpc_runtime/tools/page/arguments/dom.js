/* Elements from data: text is always set as text, never read as HTML, and nothing has an inline style.

What is read rather than edited is `visible`: characters that hide or reorder text are spelled out. */

import { visible } from "../text.js";

const READ = new Set(["aria-label", "title", "placeholder"]);

/** Return an element; `attributes` whose value is false or undefined are left out, functions listen to events. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false) setAttribute(element, name, value);
  }
  const shown = children.filter((child) => child !== undefined && child !== null);
  element.append(...shown.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** Return a button that does not submit a form. */
export function button(label, onClick, attributes = {}) {
  return make("button", { type: "button", class: "arg-button", click: onClick, ...attributes }, label);
}

/** Show a text in an element. */
export function say(element, text) {
  element.textContent = visible(text);
}

/** Set an attribute, or remove it for undefined and "". */
export function setAttribute(element, name, value) {
  if (value === undefined || value === "") element.removeAttribute(name);
  else element.setAttribute(name, READ.has(name) ? visible(value) : value);
}
