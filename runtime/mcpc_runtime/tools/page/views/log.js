// What the server says unasked: log messages, progress, changed lists and resources; under `mcpc dev` what it and its handlers
// write to standard error, too, as tracebacks.

import { button, fill, h } from "../dom.js";
import { clock, visible } from "../text.js";

const MOST = 1000;
const SHOWN = 300;
const SAME_MS = 1000;
const LONGEST = 20_000;
const TRACEBACK = "Traceback (";
const STDERR = "standard error";

/** Return { element, add, hear, refresh, count, hasTraceback }: `add` for notifications, `hear` for lines of standard error. */
export function logView() {
  const rows = [];
  const list = h("ol", { class: "log" });
  let isPlanned = false;
  const element = h("div", {}, h("div", { class: "bar" }, h("span", { class: "space" }), button("Clear", () => { rows.length = 0; refresh(); }, { class: "small quiet" })), list);
  function refresh() {
    isPlanned = false;
    fill(list, rows.length ? rows.slice(-SHOWN).reverse().map(row) : h("li", { class: "note" }, "Nothing was logged yet. Choose a log level above for messages of handlers."));
  }
  /** Lines that come together are one entry: a traceback is read downwards. */
  function hear(line) {
    const last = rows.at(-1);
    const isNext = last?.method === STDERR && Date.now() - last.at < SAME_MS && last.params.data.length + line.length < LONGEST;
    const isOther = line.startsWith(TRACEBACK) && !last?.params.data.endsWith("\n"); // in a chain an empty line is before it
    if (!isNext || isOther) return add({ method: STDERR, params: { data: line } });
    last.params.data += `\n${line}`;
    return plan();
  }
  function add({ method, params, about }) {
    rows.push({ at: new Date(), method, params, about });
    if (rows.length > MOST) rows.shift();
    plan();
  }
  function plan() {
    if (!isPlanned) {
      isPlanned = true;
      requestAnimationFrame(refresh);
    }
  }
  refresh();
  const hasTraceback = () => rows.some(({ method, params }) => method === STDERR && params.data.includes(TRACEBACK));
  return { element, add, hear, refresh, count: () => rows.length, hasTraceback };
}

function row({ at, method, params, about }) {
  const isMessage = method === "notifications/message";
  const level = isMessage ? String(params.level ?? "") : method.replace("notifications/", "");
  const data = method === STDERR ? params.data : isMessage ? (typeof params.data === "string" ? params.data : JSON.stringify(params.data)) : method === "notifications/progress" ? `${params.progress ?? ""}${params.total ? ` of ${params.total}` : ""} ${params.message ?? ""}` : JSON.stringify({ ...params, _meta: undefined });
  return h("li", { "data-level": visible(level, 40) }, h("span", { class: "time" }, clock(at)), h("span", { class: "level" }, visible(level, 40)), h("span", { class: "logger" }, visible(params.logger ?? about ?? "", 100)), h("bdi", { class: "data" }, visible(data ?? "", method === STDERR ? LONGEST : 5000)));
}
