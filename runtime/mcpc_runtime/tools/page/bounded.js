// Texts and JSON of any length, of which only a part is rendered until more is asked for.

import { button, copyText, fill, h } from "./dom.js";
import { indented } from "./json.js";
import { sizeText, visible } from "./text.js";

const FIRST = 20_000;
const MOST = 1_000_000;

/** Return a JSON text, indented and coloured. */
export function jsonBlock(text, label = "JSON") {
  return growing(text, label, (limit) => {
    const { pieces, isAll } = indented(text, limit);
    const nodes = pieces.map(([kind, piece]) => (kind ? h("span", { class: `json-${kind}` }, visible(piece)) : piece));
    return { nodes, isAll };
  });
}

/** Return a text as it is, in lines. */
export function textBlock(text, label = "Text") {
  return growing(text, label, (limit) => ({ nodes: [visible(text, limit)], isAll: text.length <= limit }));
}

function growing(text, label, render) {
  const code = h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": label });
  const bar = h("div", { class: "bar" });
  let limit = FIRST;
  function show() {
    const { nodes, isAll } = render(limit);
    fill(code, nodes);
    const more = isAll || limit >= MOST ? null : button(`Show more of ${sizeText(text.length)}`, grow, { class: "small" });
    const cut = !isAll && limit >= MOST ? h("span", { class: "note" }, `cut here, of ${sizeText(text.length)}; copy it to see all`) : null;
    fill(bar, more, cut);
  }
  function grow() {
    limit = Math.min(MOST, limit * 10);
    show();
    code.focus();
  }
  show();
  return h("div", { class: "block" }, code, button("Copy", (event) => copyText(text, event.currentTarget), { class: "small copy" }), bar);
}
