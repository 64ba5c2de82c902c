// An MCP App in its frame: no origin, and messages that this host checks and counts.  A browser lets a frame look up the
// name of a host that it may not load from, so what an App learns may leave: a person is asked before it learns anything.

import { button, fill, h } from "../dom.js";
import { Raw } from "../json.js";
import { visible } from "../text.js";

const FRAME = "app-frame.html";
const MAX_A_SECOND = 200;
const MAX_HEIGHT = 900;
const MAX_MESSAGE = 4_000_000;
const MAX_QUESTIONS = 3; // those that wait for an answer
const LOADS = 2; // the empty document, and the App that is written into it
const WEB = /^https?:\/\//i;
const FORWARDED = new Set(["resources/read", "resources/list", "resources/templates/list", "prompts/list"]);
const CALLS = "call tools of this server", READS = "read what this server offers";

/** Return the address of a tool's App; an empty text without one. */
export function appUri(entry) {
  const uri = entry._meta?.ui?.resourceUri ?? entry._meta?.["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : "";
}

/** Return the panel of an App, with the arguments and the result of the call that shows it. */
export function appPanel({ uri, item, text, answer, page }) {
  const place = h("div", { class: "app" }, h("p", { class: "note" }, "Loading the App …"));
  load().catch((problem) => fill(place, h("p", { class: "problem" }, visible(problem.message, 1000))));
  async function load() {
    const { result } = await page.connection.request("resources/read", { uri }, { about: item.key });
    const found = (Array.isArray(result.contents) ? result.contents : [])[0] ?? {};
    const html = typeof found.text === "string" ? found.text : new TextDecoder().decode(Uint8Array.from(atob(found.blob ?? ""), (each) => each.charCodeAt(0)));
    if (!html) throw new Error(`${uri} has no HTML`);
    new AppHost({ place, html, item, text, answer, page }).start();
  }
  return place;
}

class AppHost {
  #count = 0;
  #second = 0;
  #loads = 0;
  #isOver = false;
  #answers = new Map();

  constructor(given) {
    Object.assign(this, given);
  }

  start() {
    this.frame = h("iframe", { src: FRAME, sandbox: "allow-scripts", title: `App of ${visible(this.item.key, 100)}`, class: "app-frame", referrerpolicy: "no-referrer", allow: "", onload: () => this.#loaded() });
    this.told = h("ul", { class: "app-messages", "aria-label": "Messages of the App" });
    this.asked = h("div", { class: "app-asked" });
    this.listener = (event) => this.#receive(event);
    addEventListener("message", this.listener);
    // Questions stand above the frame: an App that changes its height does not move a button below the pointer.
    fill(this.place, this.asked, this.frame, h("details", {}, h("summary", {}, "Messages of the App"), this.told));
  }

  #loaded() {
    this.#loads += 1;
    if (this.#loads > LOADS) this.#end("The App tried to leave its frame and was ended.");
  }

  #end(reason) {
    if (this.#isOver) return;
    this.#isOver = true;
    removeEventListener("message", this.listener);
    this.frame.remove();
    this.asked.remove();
    this.place.prepend(h("p", { class: "problem", role: "alert" }, reason));
  }

  #receive(event) {
    if (event.source !== this.frame.contentWindow) {
      if (!this.frame.isConnected) this.#gone();
      return;
    }
    const second = Math.floor(performance.now() / 1000);
    this.#count = second === this.#second ? this.#count + 1 : 1;
    this.#second = second;
    if (this.#count > MAX_A_SECOND) {
      this.#end(`The App sent more than ${MAX_A_SECOND} messages in a second and was ended.`);
      return;
    }
    const message = event.data;
    if (message === null || typeof message !== "object") return;
    if (message.appFrame === "ready" && this.#loads === 0) {
      this.#post({ appHtml: this.html });
      return;
    }
    if (message.jsonrpc !== "2.0" || typeof message.method !== "string") return;
    this.#note(message);
    this.#answer(message);
  }

  #gone() {
    removeEventListener("message", this.listener);
  }

  #post(message) {
    this.frame.contentWindow?.postMessage(message, "*");
  }

  #note({ method, params }) {
    const text = JSON.stringify(params ?? {}) ?? "";
    this.told.append(h("li", {}, h("code", {}, visible(method, 100)), " ", visible(text, 300)));
    while (this.told.children.length > 100) this.told.firstChild.remove();
  }

  async #answer(message) {
    const own = Object.hasOwn(HANDLERS, message.method) ? HANDLERS[message.method] : null;
    const handle = own ?? (FORWARDED.has(message.method) ? forward : null);
    if (message.id === undefined) {
      handle?.(this, message.params ?? {});
      return;
    }
    try {
      if (!handle) throw Object.assign(new Error(`the host does not know ${visible(message.method, 100)}`), { code: -32601 });
      if ((JSON.stringify(message.params ?? {}) ?? "").length > MAX_MESSAGE) throw new Error("the message is too long");
      this.#post({ jsonrpc: "2.0", id: message.id, result: await handle(this, message.params ?? {}, message.method) });
    } catch (problem) {
      this.#post({ jsonrpc: "2.0", id: message.id, error: { code: problem.code ?? -32603, message: problem.message } });
    }
  }

  /** Tell the App what the tool was called with, and what came back. */
  tellResult() {
    this.#post({ jsonrpc: "2.0", method: "ui/notifications/tool-input", params: { arguments: JSON.parse(this.text) } });
    this.#post({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: this.answer.result });
  }

  /** Ask the person, once for this App, whether it may do something; fail if it may not. */
  async permit(action) {
    if (!this.#answers.has(action)) this.#answers.set(action, this.#ask([`The App asks to ${action}. What it learns may leave this machine.`], (end) => button("Allow", () => end(true))));
    if (!(await this.#answers.get(action))) throw new Error(`the person did not allow the App to ${action}`);
  }

  /** Ask the person whether a link may be opened. */
  async askLink(url) {
    const open = (end) => WEB.test(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer", class: "button", onclick: () => end(true) }, "Open") : null;
    return (await this.#ask(["The App asks to open ", h("code", {}, visible(url, 500))], open)) ? {} : { isError: true };
  }

  #ask(question, consent) {
    return new Promise((resolve) => {
      const end = (isAllowed) => {
        row.remove();
        resolve(isAllowed);
      };
      const row = h("p", { class: "question" }, ...question, " ", consent(end), button("Refuse", () => end(false)));
      if (this.asked.childElementCount >= MAX_QUESTIONS) end(false);
      else this.asked.append(row);
    });
  }
}

const HANDLERS = {
  "ui/initialize": (host, params) => ({
    protocolVersion: typeof params.protocolVersion === "string" ? params.protocolVersion : "2026-01-26",
    hostInfo: host.page.connection.client.info,
    hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {} },
    hostContext: { toolInfo: { tool: host.item.entry }, theme: host.page.isDark() ? "dark" : "light", displayMode: "inline", availableDisplayModes: ["inline"], containerDimensions: { maxHeight: MAX_HEIGHT, width: host.frame.clientWidth }, locale: navigator.language, platform: "web" },
  }),
  "ui/notifications/initialized": (host) => host.tellResult(),
  "ui/notifications/size-changed": (host, { height }) => {
    if (typeof height === "number" && height > 0) host.frame.style.height = `${Math.min(MAX_HEIGHT, Math.ceil(height))}px`;
  },
  "ui/open-link": (host, { url }) => host.askLink(String(url ?? "")),
  "ui/message": () => ({}),
  "ui/update-model-context": () => ({}),
  "ui/request-display-mode": () => ({ mode: "inline" }),
  "notifications/message": () => {},
  ping: () => ({}),
  "tools/call": async (host, params) => {
    const tool = host.page.item(`tool:${params.name}`)?.entry;
    const visibility = tool?._meta?.ui?.visibility;
    if (!tool || (Array.isArray(visibility) && !visibility.includes("app"))) throw Object.assign(new Error("an App may not call this tool"), { code: -32602 });
    await host.permit(CALLS);
    const given = params.arguments ?? {};
    const { result } = await host.page.connection.request("tools/call", { name: params.name, arguments: new Raw(JSON.stringify(given)), parsedArguments: given }, { about: `the App of ${host.item.key}`, tool });
    return result;
  },
};

async function forward(host, params, method) {
  await host.permit(READS);
  return (await host.page.connection.request(method, params, { about: `the App of ${host.item.key}` })).result;
}
