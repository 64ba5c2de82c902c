// A prompt: its arguments with completion, and its messages.

import { jsonBlock } from "../bounded.js";
import { commandMenu } from "../commands.js";
import { h, tabbed } from "../dom.js";
import { sizeText, timeText, visible } from "../text.js";
import { completedFields } from "./completion.js";
import { contentBlock } from "./content.js";
import { heading } from "./heading.js";
import { runner } from "./runner.js";
import { saveMenu } from "./save.js";

/** Return the view of a prompt. */
export function promptView(item, page) {
  const given = Array.isArray(item.entry.arguments) ? item.entry.arguments : [];
  const fields = completedFields(given, { type: "ref/prompt", name: item.key }, page, () => {});
  const what = () => ({ kind: "prompt", name: item.key, text: JSON.stringify(fields.values()) });
  let last = null;
  const bar = runner("Get", async (options) => {
    last = await page.connection.request("prompts/get", { name: item.key, arguments: fields.values() }, { ...options, about: item.key });
    return messagesView(last, page);
  }, [commandMenu(what, page), saveMenu(() => ({ ...what(), answer: last, suggested: fields.suggested() }), page)]);
  const section = given.length ? h("section", { class: "arguments", "aria-label": "Arguments" }, h("h3", {}, "Arguments"), fields.element) : null;
  return { element: h("article", { class: "definition-view" }, heading(item), section, bar.element, bar.place), call: bar.run, cancel: bar.cancel, isRunning: bar.isRunning };
}

function messagesView(answer, page) {
  const messages = Array.isArray(answer.result.messages) ? answer.result.messages : [];
  const shown = () => h("div", {}, messages.slice(0, 200).map((each) => h("div", { class: "message-of" }, h("p", { class: "kind-word" }, visible(each?.role ?? "", 40)), contentBlock(each?.content, page.openResource))));
  return h("section", { class: "result good", "aria-label": "Result" },
    h("p", { class: "head" }, h("strong", { class: "verdict" }, "Success"), h("span", {}, timeText(answer.milliseconds)), h("span", {}, sizeText(answer.text.length))),
    tabbed("Forms of the result", [[`Messages (${messages.length})`, shown], ["JSON", () => jsonBlock(answer.text)]]));
}
