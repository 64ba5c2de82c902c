// An MCP App in its frame: no origin, no network, and one way out, which is messages that this host checks and counts.

import { button, fill, h } from "../dom.js";
import { Raw } from "../json.js";
import { visible } from "../text.js";

const FRAME = "app-frame.html";
const MAX_A_SECOND = 200;
const MAX_HEIGHT = 900;
const MAX_MESSAGE = 4_000_000;
const LOADS = 2; // the empty document, and the App that is written into it
const WEB = /^https?:\/\//i;
const FORWARDED = new Set(["resources/read", "resources/list", "resources/templates/list", "prompts/list", "ping"]);

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

  constructor(given) {
    Object.assign(this, given);
  }

  start() {
    this.frame = h("iframe", { src: FRAME, sandbox: "allow-scripts", title: `App of ${visible(this.item.key, 100)}`, class: "app-frame", referrerpolicy: "no-referrer", allow: "", onload: () => this.#loaded() });
    this.told = h("ul", { class: "app-messages", "aria-label": "Messages of the App" });
    this.asked = h("div", { class: "app-asked" });
    this.listener = (event) => this.#receive(event);
    addEventListener("message", this.listener);
    fill(this.place, this.frame, this.asked, h("details", {}, h("summary", {}, "Messages of the App"), this.told));
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

  /** Ask the person whether a link may be opened. */
  askLink(url) {
    return new Promise((resolve) => {
      const end = (isError) => {
        row.remove();
        resolve(isError ? { isError: true } : {});
      };
      const row = h("p", { class: "question" }, "The App asks to open ", h("code", {}, visible(url, 500)), " ",
        WEB.test(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer", class: "button", onclick: () => end(false) }, "Open") : null, button("Refuse", () => end(true)));
      fill(this.asked, row);
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
  "tools/call": async (host, params) => {
    const tool = host.page.item(`tool:${params.name}`)?.entry;
    const visibility = tool?._meta?.ui?.visibility;
    if (!tool || (Array.isArray(visibility) && !visibility.includes("app"))) throw Object.assign(new Error("an App may not call this tool"), { code: -32602 });
    const given = params.arguments ?? {};
    const { result } = await host.page.connection.request("tools/call", { name: params.name, arguments: new Raw(JSON.stringify(given)), parsedArguments: given }, { about: `the App of ${host.item.key}`, tool });
    return result;
  },
};

async function forward(host, params, method) {
  if (method === "ping") return {};
  return (await host.page.connection.request(method, params, { about: `the App of ${host.item.key}` })).result;
}
