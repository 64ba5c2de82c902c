// The raw conversation: every request with its headers, what came back, and when.

import { jsonBlock, textBlock } from "../bounded.js";
import { button, copyText, fill, h } from "../dom.js";
import { clock, sizeText, timeText, visible } from "../text.js";

const SHOWN = 200;

/** Return { element, refresh } for a recorder. */
export function conversationView(recorder) {
  const filter = h("input", { type: "search", class: "small", placeholder: "Filter", "aria-label": "Filter the conversation", oninput: () => refresh() });
  const list = h("ol", { class: "exchanges" });
  const opened = new Set();
  let isPlanned = false;
  const bar = h("div", { class: "bar" }, filter, h("span", { class: "space" }), button("Copy all", (event) => copyText(JSON.stringify(recorder.exchanges.map(plain), null, 2), event.currentTarget), { class: "small quiet" }), button("Clear", () => recorder.clear(), { class: "small quiet" }));

  function refresh() {
    isPlanned = false;
    if (!element.isConnected) return;
    const words = filter.value.toLowerCase();
    const found = recorder.exchanges.filter((each) => !words || [each.method, each.text.slice(0, 20_000), ...each.received.slice(0, 20).map(({ text }) => text.slice(0, 20_000))].some((text) => text?.toLowerCase().includes(words)));
    const shown = found.slice(-SHOWN).reverse();
    const held = new Map([...list.children].map((row) => [Number(row.dataset.number), row]));
    fill(list, shown.map((each) => {
      const row = held.get(each.number);
      const state = `${each.status}/${each.received.length}/${each.ended}`;
      if (row?.dataset.state === state) return row;
      const made = exchangeRow(each, opened);
      made.dataset.state = state;
      return made;
    }));
  }
  recorder.addEventListener("change", () => {
    if (!isPlanned) {
      isPlanned = true;
      requestAnimationFrame(refresh);
    }
  });
  const element = h("div", { class: "conversation" }, bar, list);
  return { element, refresh };
}

function exchangeRow(each, opened) {
  const tone = each.error || each.status >= 400 ? "bad" : each.ended === null ? "open" : "";
  const took = each.ended === null ? "…" : timeText(each.ended);
  const details = h("details", { open: opened.has(each.number), ontoggle: () => toggle() },
    h("summary", {}, h("span", { class: "time" }, clock(new Date(each.at))), h("span", { class: "method" }, visible(each.method, 100)), h("span", { class: `status ${tone}` }, each.error ? visible(each.error, 60) : String(each.status || "")), h("span", { class: "took" }, took), h("span", { class: "size" }, sizeText(each.bytes))));
  function toggle() {
    if (details.open) opened.add(each.number);
    else opened.delete(each.number);
    if (details.open && details.children.length === 1) details.append(body(each));
  }
  if (opened.has(each.number)) details.append(body(each));
  const row = h("li", {}, details);
  row.dataset.number = each.number;
  return row;
}

function body(each) {
  return h("div", { class: "exchange" },
    h("h4", {}, each.httpMethod), headersTable(Object.entries(each.headers)), each.text ? jsonBlock(each.text, "Request") : null,
    h("h4", {}, each.status ? `Status ${each.status}` : "No response"), headersTable(each.responseHeaders),
    each.received.slice(0, 50).map(({ text, after }) => h("div", {}, h("p", { class: "note" }, `after ${timeText(after)}`), isJson(text) ? jsonBlock(text, "Message") : textBlock(text, "Message"))),
    each.received.length > 50 ? h("p", { class: "note" }, `${each.received.length - 50} more messages; copy all to see them`) : null);
}

const hidden = (name, value) => (name.toLowerCase() === "authorization" ? "Bearer …" : value);

function headersTable(headers) {
  return headers.length ? h("dl", { class: "headers" }, headers.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, visible(hidden(name, value), 500))])) : null;
}

function plain(each) {
  return { at: new Date(each.at).toISOString(), method: each.httpMethod, request: { headers: Object.fromEntries(Object.entries(each.headers).map(([name, value]) => [name, hidden(name, value)])), body: each.text }, status: each.status, headers: Object.fromEntries(each.responseHeaders), received: each.received, milliseconds: each.ended, error: each.error };
}

function isJson(text) {
  return /^\s*[[{]/.test(text);
}
