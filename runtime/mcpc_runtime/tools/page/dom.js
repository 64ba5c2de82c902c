// Elements from plain values.  Rule: text of a server reaches the page as text nodes and checked attributes only.

/** Return an element: `on…` members are listeners, the others are attributes; false, null and undefined are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replace the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Return a button. */
export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, label);
}

/** Return a labelled row of tabs over panels; `tabs`: [name, make()], where a panel is made when it is first shown. */
export function tabbed(label, tabs, chosen = 0) {
  const panel = h("div", { class: "panel", role: "tabpanel", tabindex: 0 });
  const made = new Map();
  const buttons = tabs.map(([name], index) =>
    button(name, () => show(index), { role: "tab", class: "tab", onkeydown: (event) => move(event, index) }),
  );
  function move(event, index) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (index + step + tabs.length) % tabs.length;
    buttons[next].focus();
    show(next);
  }
  function show(index) {
    if (!made.has(index)) made.set(index, tabs[index][1]());
    buttons.forEach((each, at) => {
      each.setAttribute("aria-selected", String(at === index));
      each.tabIndex = at === index ? 0 : -1;
    });
    panel.setAttribute("aria-label", tabs[index][0]);
    fill(panel, made.get(index));
  }
  const element = h("div", { class: "tabbed" }, h("div", { class: "tabs", role: "tablist", "aria-label": label }, buttons), panel);
  if (tabs.length) show(Math.min(chosen, tabs.length - 1));
  return element;
}

let announcer = null;
/** Say a text to screen readers. */
export function announce(text) {
  announcer ??= document.getElementById("announcer");
  announcer.textContent = text;
}

/** Copy a text, and say so on the button that asked for it. */
export async function copyText(text, asked) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = asked.textContent;
  asked.textContent = "Copied";
  announce("Copied");
  setTimeout(() => (asked.textContent = label), 1200);
}
