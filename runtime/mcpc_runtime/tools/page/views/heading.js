// The head of a definition: its kind, name, title, facts, and description.

import { button, copyText, h } from "../dom.js";
import { jsonBlock } from "../bounded.js";
import { visible } from "../text.js";

const LONG = 400;

/** Return the head of a definition. `facts`: short texts, each [text, tone]. */
export function heading(item, facts = []) {
  const { entry } = item;
  const description = typeof entry.description === "string" ? entry.description : "";
  return h("header", { class: "heading" },
    h("p", { class: "kind-word" }, item.kind, item.title ? h("bdi", { class: "title" }, ` ${visible(item.title, 200)}`) : null),
    h("h2", {}, h("bdi", {}, visible(item.key, 500)), button("Copy", (event) => copyText(item.key, event.currentTarget), { class: "small quiet", "aria-label": "Copy the name" })),
    facts.length ? h("ul", { class: "facts" }, facts.map(([text, tone]) => h("li", { class: tone ?? "" }, visible(text, 200)))) : null,
    description.length > LONG ? h("details", { class: "description" }, h("summary", {}, visible(description.slice(0, LONG)), "…"), h("p", {}, visible(description.slice(LONG), 50_000))) : h("p", { class: "description" }, visible(description)),
    h("details", { class: "definition" }, h("summary", {}, "Definition"), jsonBlock(JSON.stringify(entry), "Definition")));
}
