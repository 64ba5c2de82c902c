// What is shown while no definition is open: the server, its instructions, and how to use the page.

import { h } from "../dom.js";
import { jsonBlock, textBlock } from "../bounded.js";
import { plural, visible } from "../text.js";

const KEYS = [["/", "filter"], ["↑ ↓ Enter", "choose and open"], ["Ctrl Enter", "call"], ["Escape", "cancel, close"]];

/** Return the view of the server itself. */
export function overview(page) {
  const { connection } = page;
  const { serverInfo: info, capabilities, instructions } = connection;
  return h("article", { class: "definition-view" },
    h("header", { class: "heading" }, h("p", { class: "kind-word" }, "server"), h("h2", {}, h("bdi", {}, visible(info.title ?? info.name ?? "", 200))), h("p", { class: "description" }, `${visible(info.name, 200)} ${visible(info.version, 60)} · revision ${visible(connection.version, 20)} · ${plural(page.items.length, "definition")}`)),
    instructions ? h("section", { "aria-label": "Instructions" }, h("h3", {}, "Instructions"), textBlock(String(instructions), "Instructions")) : null,
    h("section", { "aria-label": "Capabilities" }, h("h3", {}, "Capabilities"), jsonBlock(JSON.stringify(capabilities), "Capabilities")),
    h("section", { "aria-label": "Keys" }, h("h3", {}, "Keys"), h("dl", { class: "keys" }, KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]))));
}
