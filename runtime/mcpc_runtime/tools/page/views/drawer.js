// The drawer at the bottom: conversation, log and builds, of which one is shown, or none.

import { fill, h } from "../dom.js";

/** Fill a drawer with panels `{ name: { element, refresh } }`; return { show(name), toggle(name), mark(name, text, tone) }. */
export function drawer(place, panels) {
  const names = Object.keys(panels);
  const body = h("div", { class: "drawer-body", id: "drawer-body", tabindex: -1 });
  let shown = "";
  const tabs = new Map(names.map((name) => [name, h("button", { type: "button", class: "tab", "aria-expanded": "false", "aria-controls": "drawer-body", onclick: () => toggle(name) }, name, h("span", { class: "number" }))]));
  fill(place, h("div", { class: "drawer-tabs" }, [...tabs.values()]), body);
  place.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && shown) {
      event.stopPropagation();
      tabs.get(shown).focus();
      show("");
    }
  });
  function show(name) {
    shown = name;
    place.classList.toggle("open", Boolean(name));
    for (const [each, tab] of tabs) tab.setAttribute("aria-expanded", String(each === name));
    fill(body, name ? panels[name].element : null);
    if (name) panels[name].refresh();
  }
  const toggle = (name) => show(shown === name ? "" : name);
  function mark(name, text, tone = "") {
    const tab = tabs.get(name);
    tab.lastChild.textContent = text;
    tab.dataset.tone = tone;
  }
  return { show, toggle, mark, shown: () => shown };
}
