// What a server asks while it works: a person fills in the form, opens the address, writes the model's answer, or names roots.

import { ArgumentEditor } from "../arguments/editor.js";
import { jsonBlock, textBlock } from "../bounded.js";
import { announce, button, h } from "../dom.js";
import { Raw } from "../json.js";
import { visible } from "../text.js";

const WEB = /^https?:\/\//i;
let count = 0;

/** Return a function that asks a person all of `{ key: { method, params } }`, and returns their answers by key. */
export function questionTray(place) {
  async function askOne(request, { about = "", signal } = {}) {
    const make = MAKERS[request?.method];
    if (!make) throw new Error(`the page cannot answer ${visible(request?.method, 100)}`);
    return new Promise((resolve, reject) => {
      const end = (done) => (value) => {
        card.remove();
        signal?.removeEventListener("abort", gone);
        done(value);
      };
      const gone = () => end(reject)(new Error("the request was cancelled"));
      signal?.addEventListener("abort", gone, { once: true });
      count += 1;
      const { title, body } = make(request.params ?? {}, end(resolve), end(reject), `question-${count}`);
      const card = h("section", { class: "question", "aria-label": title }, h("h3", {}, title), about ? h("p", { class: "note" }, "asked by ", h("bdi", {}, visible(about, 200))) : null, body);
      place.append(card);
      announce(title);
      if (!place.contains(document.activeElement)) (card.querySelector("input, textarea") ?? card.querySelector("button")).focus();
    });
  }
  return async (requests, options) => {
    const keys = Object.keys(requests);
    const answers = await Promise.all(keys.map((key) => askOne(requests[key], options)));
    return Object.fromEntries(keys.map((key, at) => [key, answers[at]]));
  };
}

const MAKERS = {
  "elicitation/create": elicitation,
  "sampling/createMessage": sampling,
  "roots/list": roots,
};

function elicitation(params, answer, _refuse, id) {
  const end = [button("Decline", () => answer({ action: "decline" })), button("Dismiss", () => answer({ action: "cancel" }), { class: "quiet" })];
  const message = h("p", { class: "message" }, visible(params.message ?? "", 5000));
  if (params.mode === "url") {
    const url = String(params.url ?? "");
    const link = WEB.test(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer", class: "button" }, "Open in a new tab") : h("p", { class: "note" }, "this is not a web address, so it cannot be opened");
    return { title: "The server asks to open an address", body: [message, h("p", {}, h("code", { class: "address" }, visible(url, 2000))), h("div", { class: "bar" }, link, button("Accept", () => answer({ action: "accept" }), { class: "primary" }), ...end)] };
  }
  const editor = new ArgumentEditor({ schema: params.requestedSchema ?? {}, idPrefix: id });
  const problem = h("p", { class: "problem", role: "alert" });
  const accept = () => {
    const error = editor.error();
    if (error) problem.textContent = `not JSON: ${error}`;
    else answer({ action: "accept", content: new Raw(editor.text()) });
  };
  return { title: "The server asks you", body: [message, editor.element, problem, h("div", { class: "bar" }, button("Accept", accept, { class: "primary" }), ...end)] };
}

function sampling(params, answer, refuse, id) {
  const text = h("textarea", { id: `${id}-text`, rows: 4 });
  const model = h("input", { id: `${id}-model`, value: "a-person" });
  const reason = h("select", { id: `${id}-reason` }, ["endTurn", "stopSequence", "maxTokens"].map((each) => h("option", {}, each)));
  const messages = (Array.isArray(params.messages) ? params.messages : []).slice(0, 100).map((each) => h("div", { class: "message-of" }, h("p", { class: "kind-word" }, visible(each?.role, 40)), typeof each?.content?.text === "string" ? textBlock(each.content.text) : jsonBlock(JSON.stringify(each?.content ?? null))));
  const send = () => answer({ role: "assistant", content: { type: "text", text: text.value }, model: model.value || "a-person", stopReason: reason.value });
  const system = params.systemPrompt ? h("details", {}, h("summary", {}, "System prompt"), textBlock(String(params.systemPrompt))) : null;
  return { title: "The server asks your model", body: [system, messages, h("label", { for: text.id }, "What the model says"), text, h("div", { class: "two" }, h("label", { for: model.id }, "Model"), model, h("label", { for: reason.id }, "Stop reason"), reason), h("p", { class: "note" }, `at most ${visible(params.maxTokens ?? "?", 20)} tokens`), h("div", { class: "bar" }, button("Send", send, { class: "primary" }), button("Refuse", () => refuse(new Error("User rejected sampling request"))))] };
}

function roots(_params, answer, refuse, id) {
  const text = h("textarea", { id: `${id}-roots`, rows: 3, placeholder: "file:///home/me/project" });
  text.value = localStorage.getItem("mcpc-roots") ?? "";
  const problem = h("p", { class: "problem", role: "alert" });
  const send = () => {
    const lines = text.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const wrong = lines.find((line) => !line.startsWith("file://"));
    if (wrong) {
      problem.textContent = `${visible(wrong, 200)} does not begin with file://`;
      return;
    }
    localStorage.setItem("mcpc-roots", text.value);
    answer({ roots: lines.map((uri) => ({ uri, name: decodeURIComponent(uri.replace(/%(?![0-9a-f]{2})/gi, "%25").split("/").filter(Boolean).at(-1) ?? "") })) });
  };
  return { title: "The server asks which folders you work in", body: [h("label", { for: text.id }, "Roots, one file:// address a line"), text, problem, h("div", { class: "bar" }, button("Send", send, { class: "primary" }), button("Refuse", () => refuse(new Error("User rejected roots request"))))] };
}
