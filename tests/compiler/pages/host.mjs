// A host and as much of a browser as the pages need: runs a page's script, answers it, and prints what became of it.
//   node host.mjs PAGE.html SCENE.json
import { readFileSync } from "node:fs";
import vm from "node:vm";

class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], attributes: {}, listeners: {}, dataset: {}, own: "" });
    this.style = { setProperty: (key, value) => (this.attributes[key] = value) };
  }
  set textContent(text) { this.children = []; this.own = text; }
  get textContent() { return this.own + this.children.map((one) => one.textContent ?? String(one)).join(""); }
  setAttribute(key, value) { this.attributes[key] = value; }
  append(...more) { this.children.push(...more); }
  replaceChildren(...more) { this.children = more; }
  addEventListener(kind, listener) { this.listeners[kind] = listener; }
  fire(kind, event = {}) { return this.listeners[kind]?.({ preventDefault() {}, ...event }); }
  *all() { yield this; for (const one of this.children) if (one instanceof Element) yield* one.all(); }
  find(tag, text) { return [...this.all()].find((one) => one.tag === tag && (!text || one.textContent === text)); }
  querySelectorAll(wanted) {
    const type = /type=(\w+)/.exec(wanted)[1];
    return [...this.all()].filter((one) => one.tag === "input" && one.attributes.type === type);
  }
  get name() { return this.attributes.name; }
  get value() {
    const chosen = this.children.find((one) => one.tag === "option" && "selected" in one.attributes);
    return this.now ?? chosen?.value ?? this.attributes.value ?? this.textContent;
  }
  set value(value) { this.now = value; }
  get valueAsNumber() { return Number(this.value); }
  get checked() { return "checked" in this.attributes; }
  get type() { return this.attributes.type; }
}
Element.prototype.toString = function () { return this.textContent; };

const [, , path, scene] = process.argv;
const page = readFileSync(path, "utf8");
const { results, presses, submits } = JSON.parse(readFileSync(scene, "utf8"));
const known = { view: new Element("div"), status: new Element("p"), config: new Element("script") };
known.config.own = /id="config">([^]*?)<\/script>/.exec(page)[1];
const root = new Element("html");
const sent = [];
let hear;
const parent = { postMessage: (message) => { sent.push(message); answer(message); } };
const say = (data) => hear({ source: parent, data: { jsonrpc: "2.0", ...data } });

function answer(message) {
  if (message.id === undefined || message.method === undefined) return;
  const failing = message.method === "tools/call" && message.params.name === "failing";
  const failed = { content: [{ type: "text", text: "no luck" }], isError: true };
  queueMicrotask(() => say({ id: message.id, result: failing ? failed : { hostContext: { theme: "dark" } } }));
}

const window = { parent, addEventListener: (_, listener) => (hear = listener) };
const document = {
  getElementById: (id) => known[id],
  createElement: (name) => new Element(name),
  documentElement: root,
};
class FormData {
  constructor(form) {
    const fields = [...form.all()].filter((one) => one.name);
    this.pairs = fields.map((one) => [one.name, one.value]);
  }
  [Symbol.iterator]() { return this.pairs[Symbol.iterator](); }
}
class ResizeObserver { constructor(told) { this.told = told; } observe() { this.told(); } }
const script = page.slice(page.lastIndexOf("<script>") + 8, page.lastIndexOf("</script>"));
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
vm.runInNewContext(script, { window, document, FormData, ResizeObserver, Intl, console });
await turn();
hear({ source: {}, data: { jsonrpc: "2.0", method: "ui/notifications/tool-result", params: { content: [] } } });
say({ id: "host-1", method: "ping" });
say({ id: "host-2", method: "sampling/createMessage" });
for (const params of results || []) say({ method: "ui/notifications/tool-result", params });
for (const text of presses || []) known.view.find("button", text).fire("click");
if (submits) known.view.find("form").fire("submit");
await turn();
const shown = known.view.textContent;
console.log(JSON.stringify({ sent, shown, status: known.status.textContent, scheme: root.style.colorScheme }));
