// What the server says unasked: log messages, progress, changed lists and resources.

import { button, fill, h } from "../dom.js";
import { clock, visible } from "../text.js";

const MOST = 1000;
const SHOWN = 300;

/** Return { element, add, refresh } for notifications. */
export function logView() {
  const rows = [];
  const list = h("ol", { class: "log" });
  let isPlanned = false;
  const element = h("div", {}, h("div", { class: "bar" }, h("span", { class: "space" }), button("Clear", () => { rows.length = 0; refresh(); }, { class: "small quiet" })), list);
  function refresh() {
    isPlanned = false;
    fill(list, rows.length ? rows.slice(-SHOWN).reverse().map(row) : h("li", { class: "note" }, "Nothing was logged yet."));
  }
  function add({ method, params, about }) {
    rows.push({ at: new Date(), method, params, about });
    if (rows.length > MOST) rows.shift();
    if (!isPlanned) {
      isPlanned = true;
      requestAnimationFrame(refresh);
    }
  }
  refresh();
  return { element, add, refresh, count: () => rows.length };
}

function row({ at, method, params, about }) {
  const isMessage = method === "notifications/message";
  const level = isMessage ? String(params.level ?? "") : method.replace("notifications/", "");
  const data = isMessage ? (typeof params.data === "string" ? params.data : JSON.stringify(params.data)) : method === "notifications/progress" ? `${params.progress ?? ""}${params.total ? ` of ${params.total}` : ""} ${params.message ?? ""}` : JSON.stringify({ ...params, _meta: undefined });
  return h("li", { "data-level": visible(level, 40) }, h("span", { class: "time" }, clock(at)), h("span", { class: "level" }, visible(level, 40)), h("span", { class: "logger" }, visible(params.logger ?? about ?? "", 100)), h("bdi", { class: "data" }, visible(data ?? "", 5000)));
}
