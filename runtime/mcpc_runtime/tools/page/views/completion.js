// Text fields whose values the server completes: arguments of prompts, variables of templates.

import { fill, h } from "../dom.js";
import { visible } from "../text.js";

const DELAY = 150;
const MOST = 100;

/** Return { element, values(), suggested() } for arguments; `ref`: what the server completes.  `suggested`: the last suggestions. */
export function completedFields(rows, ref, page, onchange) {
  const inputs = new Map();
  let last = null;
  const values = () => Object.fromEntries([...inputs].filter(([, input]) => input.value !== "").map(([name, input]) => [name, input.value]));
  const element = h("div", { class: "fields" }, rows.map((row, at) => field(row, at)));

  function field(row, at) {
    const name = String(row?.name ?? "");
    const id = `field-${at}`;
    const choices = h("ul", { class: "choices", id: `${id}-choices`, role: "listbox", "aria-label": "Suggestions", hidden: true });
    const input = h("input", { id, autocomplete: "off", spellcheck: "false", ...(page.connection.capabilities.completions ? { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-choices` } : {}), oninput: () => changed(), onkeydown: move, onblur: () => setTimeout(hide, 150), onfocus: () => changed(false) });
    inputs.set(name, input);
    let timer = 0;
    let active = -1;
    function changed(isTyped = true) {
      if (isTyped) onchange();
      if (!page.connection.capabilities.completions) return;
      clearTimeout(timer);
      timer = setTimeout(complete, DELAY);
    }
    async function complete() {
      const others = values();
      delete others[name];
      const params = { ref, argument: { name, value: input.value }, ...(Object.keys(others).length ? { context: { arguments: others } } : {}) };
      const { result } = await page.connection.request("completion/complete", params).catch(() => ({ result: {} }));
      const found = Array.isArray(result.completion?.values) ? result.completion.values.slice(0, MOST).map(String) : [];
      last = { complete: { [ref.name === undefined ? "resource" : "prompt"]: ref.name ?? ref.uri, argument: name, value: input.value || undefined }, arguments: others, expect: { values: found } };
      active = -1;
      fill(choices, found.map((value, index) => h("li", { role: "option", id: `${id}-${index}`, "aria-selected": "false", onmousedown: (event) => { event.preventDefault(); pick(value); } }, visible(value, 300))));
      choices.hidden = !found.length || document.activeElement !== input;
      input.setAttribute("aria-expanded", String(!choices.hidden));
      choices.values = found;
    }
    function pick(value) {
      input.value = value;
      onchange();
      hide();
    }
    function hide() {
      choices.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }
    function move(event) {
      if (choices.hidden) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        active = (active + step + choices.children.length) % choices.children.length;
        [...choices.children].forEach((each, index) => each.setAttribute("aria-selected", String(index === active)));
        choices.children[active].scrollIntoView({ block: "nearest" });
        input.setAttribute("aria-activedescendant", `${id}-${active}`);
      } else if (event.key === "Enter" && active >= 0 && !event.ctrlKey) {
        event.preventDefault();
        pick(choices.values[active]);
      } else if (event.key === "Escape") {
        event.stopPropagation();
        hide();
      }
    }
    return h("div", { class: "field-row" }, h("label", { for: id }, h("bdi", {}, visible(name, 200)), row?.required ? h("span", { class: "required" }, " required") : null), h("div", { class: "combo" }, input, choices), row?.description ? h("p", { class: "note" }, visible(row.description, 1000)) : null);
  }

  return { element, values, suggested: () => last };
}

