// Resources, templates and skills: read, subscribe, and fill in the variables of a template with completion.

import { commandMenu } from "../commands.js";
import { button, fill, h, tabbed } from "../dom.js";
import { clock, sizeText, timeText, visible } from "../text.js";
import { completedFields } from "./completion.js";
import { contents } from "./content.js";
import { jsonBlock } from "../bounded.js";
import { heading } from "./heading.js";
import { runner } from "./runner.js";
import { saveMenu } from "./save.js";
import { expand, variables } from "../uri-template.js";

/** Return the view of a resource or a skill. */
export function resourceView(item, page) {
  const uri = item.key;
  const changes = h("p", { class: "note", role: "status" });
  const { capabilities } = page.connection;
  let isOn = page.watched.has(uri);
  const watch = button(isOn ? "Unsubscribe" : "Subscribe", toggle, { "aria-pressed": String(isOn) });
  async function toggle() {
    await page.watch(uri, !isOn);
    isOn = !isOn;
    watch.textContent = isOn ? "Unsubscribe" : "Subscribe";
    watch.setAttribute("aria-pressed", String(isOn));
  }
  const what = () => ({ kind: "resource", uri });
  let last = null;
  const extra = [capabilities.resources?.subscribe ? watch : null, commandMenu(what, page), saveMenu(() => ({ ...what(), answer: last }), page)];
  const bar = runner("Read", async (options) => {
    last = await read(page, uri, options);
    return readView(last, page);
  }, extra.filter(Boolean));
  const folder = item.kind === "skill" && capabilities.extensions?.["io.modelcontextprotocol/skills"]?.directoryRead ? skillFiles(item, page) : null;
  const element = h("article", { class: "definition-view" }, heading(item, resourceFacts(item.entry)), folder, bar.element, changes, bar.place);
  const ontold = (updated) => {
    if (updated === uri) changes.textContent = `changed at ${clock(new Date())}; read it again`;
  };
  bar.run();
  return { element, call: bar.run, cancel: bar.cancel, isRunning: bar.isRunning, updated: ontold };
}

/** Return the view of a resource template. */
export function templateView(item, page) {
  const names = variables(item.key);
  const shown = h("code", { class: "expanded" });
  const fields = completedFields(names.map((name) => ({ name })), { type: "ref/resource", uri: item.key }, page, () => (shown.textContent = visible(expand(item.key, fields.values()), 2000)));
  const what = () => ({ kind: "resource", uri: expand(item.key, fields.values()) });
  let last = null;
  const bar = runner("Read", async (options) => {
    last = await read(page, what().uri, options);
    return readView(last, page);
  }, [commandMenu(what, page), saveMenu(() => ({ ...what(), answer: last, suggested: fields.suggested() }), page)]);
  shown.textContent = visible(expand(item.key, {}), 2000);
  const element = h("article", { class: "definition-view" }, heading(item, resourceFacts(item.entry)), h("section", { class: "arguments", "aria-label": "Variables" }, h("h3", {}, "Variables"), fields.element, h("p", { class: "note" }, "URI ", shown)), bar.element, bar.place);
  return { element, call: bar.run, cancel: bar.cancel, isRunning: bar.isRunning };
}

async function read(page, uri, options) {
  return page.connection.request("resources/read", { uri }, { ...options, about: uri });
}

function readView(answer, page) {
  const found = Array.isArray(answer.result.contents) ? answer.result.contents : [];
  return h("section", { class: "result good", "aria-label": "Result" },
    h("p", { class: "head" }, h("strong", { class: "verdict" }, "Success"), h("span", {}, timeText(answer.milliseconds)), h("span", {}, sizeText(answer.text.length))),
    tabbed("Forms of the result", [[`Contents (${found.length})`, () => h("div", {}, found.slice(0, 200).map((each) => contents(each ?? {}, page.openResource)))], ["JSON", () => jsonBlock(answer.text)]]));
}

function skillFiles(item, page) {
  const place = h("ul", { class: "files" });
  const folder = item.key.slice(0, item.key.lastIndexOf("/"));
  page.connection.request("resources/directory/read", { uri: folder }).then(({ result }) => {
    fill(place, (result.resources ?? []).slice(0, 500).map((each) => h("li", {}, button(visible(each.uri, 500), () => page.openResource(String(each.uri)), { class: "as-link" }))));
  }).catch(() => place.remove());
  return place;
}

function resourceFacts(entry) {
  const facts = [];
  if (typeof entry.mimeType === "string") facts.push([entry.mimeType, ""]);
  if (typeof entry.size === "number") facts.push([sizeText(entry.size), ""]);
  return facts;
}
