"use strict";
// The view's side of MCP Apps (2026-01-26): JSON-RPC with the host in messages between windows.
const config = JSON.parse(document.getElementById("config").textContent);
const view = document.getElementById("view");
const host = { shows() {}, waiting: new Map(), last: 0 };

function post(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask(method, params) {
  const id = ++host.last;
  return new Promise((resolve, reject) => {
    host.waiting.set(id, { resolve, reject });
    post({ id, method, params });
  });
}

async function call(name, args) {
  const result = await ask("tools/call", { name, arguments: args });
  if (result.isError) throw new Error(textOf(result) || "the tool failed");
  return result;
}

function say(text) {
  return ask("ui/message", { role: "user", content: [{ type: "text", text }] }).catch(() => {});
}

function status(text) {
  document.getElementById("status").textContent = text;
}

function textOf(result) {
  const found = (result.content || []).find((one) => one.type === "text");
  return found ? found.text : "";
}

// What a tool says: its structure, else its text as JSON; of the SDK's envelope what is in it.
function dataOf(result) {
  let data = result.structuredContent;
  if (data === undefined || data === null) {
    try {
      data = JSON.parse(textOf(result));
    } catch {
      data = textOf(result);
    }
  }
  return data && data.success === true && "result" in data ? data.result : data;
}

function made(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = String(text);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : String(value));
  }
  return element;
}

function dress(context) {
  const variables = context && context.styles && context.styles.variables;
  for (const [name, value] of Object.entries(variables || {})) {
    if (name.startsWith("--") && typeof value === "string") document.documentElement.style.setProperty(name, value);
  }
  if (context && (context.theme === "light" || context.theme === "dark")) {
    document.documentElement.style.colorScheme = context.theme;
  }
}

const TOLD = {
  "ui/notifications/tool-result": (params) => host.shows(dataOf(params || {})),
  "ui/notifications/host-context-changed": dress,
};

window.addEventListener("message", (event) => {
  const message = event.data;
  if (event.source !== window.parent || !message || message.jsonrpc !== "2.0") return;
  if (message.method !== undefined) {
    if (message.id === undefined) (TOLD[message.method] || (() => {}))(message.params);
    else if (message.method === "ping" || message.method === "ui/resource-teardown") post({ id: message.id, result: {} });
    else post({ id: message.id, error: { code: -32601, message: "Method not found" } });
    return;
  }
  const asked = host.waiting.get(message.id);
  host.waiting.delete(message.id);
  if (asked && message.error) asked.reject(new Error(message.error.message));
  else if (asked) asked.resolve(message.result || {});
});

async function begin(shows) {
  host.shows = shows;
  const appInfo = { name: config.title, version: "1.0.0" };
  const found = await ask("ui/initialize", { protocolVersion: "2026-01-26", appInfo, appCapabilities: {} });
  dress(found.hostContext);
  post({ method: "ui/notifications/initialized" });
  new ResizeObserver(() => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    post({ method: "ui/notifications/size-changed", params: { width, height } });
  }).observe(document.documentElement);
}
