// The start of the page: reads the address, connects, and joins the state to the views.

import { HANDSHAKE, LOG_LEVELS, STATELESS } from "./client/eras.js";
import { itemOf } from "./catalogue.js";
import { Dev } from "./dev.js";
import { button, fill, h } from "./dom.js";
import { Page } from "./page.js";
import { keepToken, noteOpen, openNow, readAddress } from "./start.js";
import { visible } from "./text.js";
import { themeSwitch } from "./theme.js";
import { buildRow, buildsView } from "./views/builds.js";
import { conversationView } from "./views/conversation.js";
import { drawer } from "./views/drawer.js";
import { ItemList } from "./views/list.js";
import { logView } from "./views/log.js";
import { overview } from "./views/overview.js";
import { promptView } from "./views/prompt.js";
import { questionTray } from "./views/questions.js";
import { resourceView, templateView } from "./views/resource.js";
import { taskView } from "./views/task.js";
import { askToken } from "./views/token.js";
import { toolView } from "./views/tool.js";

const VIEWS = { tool: toolView, resource: resourceView, skill: resourceView, template: templateView, prompt: promptView, task: taskView };
const AGAIN_MS = 1000;
const get = (id) => document.getElementById(id);

async function start() {
  const address = readAddress();
  themeSwitch(get("theme"));
  const facts = await (await fetch("facts", { credentials: "omit" })).json();
  const tray = h("div", { id: "questions" });
  const detail = h("div", { id: "detail" });
  fill(get("main"), tray, detail);
  const page = new Page(facts, address.token, questionTray(tray));
  const shell = new Shell(page, detail, address.open);
  if (facts.dev) shell.follow(new Dev(address.dev));
  else page.connect();
}

class Shell {
  #open = null;
  #view = null;
  #shown = "";

  constructor(page, detail, open) {
    Object.assign(this, { page, detail });
    this.wanted = open;
    this.list = new ItemList(get("side"), (item) => this.open(item));
    this.conversation = conversationView(page.recorder);
    this.log = logView();
    this.panels = { Conversation: this.conversation, Log: this.log };
    this.drawer = drawer(get("drawer"), this.panels);
    page.openResource = (uri) => this.open(page.item(`resource:${uri}`) ?? page.item(`skill:${uri}`) ?? itemOf("resource", { uri, name: uri }));
    page.addEventListener("state", () => this.state());
    page.addEventListener("items", () => this.items());
    page.addEventListener("down", () => this.down());
    page.addEventListener("token", () => this.token(page.reason));
    page.addEventListener("notification", ({ detail: told }) => this.notified(told));
    page.recorder.addEventListener("change", () => this.drawer.mark("Conversation", String(page.recorder.exchanges.length)));
    this.choices();
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("popstate", () => this.restore());
  }

  /** The choices of the top bar. */
  choices() {
    const { page } = this;
    const option = (value, label = value) => h("option", { value }, label);
    fill(get("revision"), option("", "newest"), h("optgroup", { label: "stateless" }, STATELESS.map((each) => option(each))), h("optgroup", { label: "handshake" }, HANDSHAKE.map((each) => option(each))));
    get("revision").addEventListener("change", (event) => {
      page.version = event.target.value;
      page.connect();
    });
    fill(get("level"), option("", "no log"), LOG_LEVELS.map((each) => option(each)));
    get("level").addEventListener("change", (event) => {
      page.level = event.target.value;
      page.connection?.setLogLevel(page.level).catch(() => {});
    });
    get("token").hidden = !page.facts.token;
    get("token").addEventListener("click", () => this.token(""));
    get("server").addEventListener("click", () => {
      this.close();
      document.body.classList.add("is-open");
    });
  }

  token(reason) {
    askToken((token) => {
      keepToken(token);
      this.page.token = token;
      this.page.connect();
    }, reason);
  }

  /** Follow the builds of `mcpc dev`, and connect to each that is served. */
  follow(dev) {
    const { page } = this;
    page.dev = dev;
    this.panels.Builds = buildsView(dev);
    this.drawer = drawer(get("drawer"), this.panels);
    let served = 0;
    dev.addEventListener("builds", () => {
      const last = dev.builds.at(-1);
      this.panels.Builds.refresh();
      this.drawer.mark("Builds", String(last?.number ?? 0), last && !last.ok ? "bad" : "");
      if (dev.served !== served) {
        served = dev.served;
        page.connect();
      }
      this.build(last);
    });
    dev.addEventListener("log", ({ detail: lines }) => {
      for (const line of lines) this.log.hear(line);
      this.drawer.mark("Log", String(this.log.count()), this.log.hasTraceback() ? "bad" : "");
    });
    dev.addEventListener("down", () => this.say("mcpc dev has ended", "bad"));
    dev.addEventListener("refused", () => this.say("open the address that mcpc dev printed: it has the token", "bad"));
    dev.follow();
  }

  /** Show a build that failed: over everything while nothing is served, else as a line above what is open. */
  build(last) {
    const place = this.banner ?? (this.banner = h("div", { id: "banner" }));
    if (!place.isConnected) get("main").prepend(place);
    if (!last || last.ok) fill(place);
    else if (!this.page.dev.served) {
      fill(place, buildRow(last, true));
      fill(this.detail);
      this.say("the project cannot be built yet", "bad");
    } else fill(place, h("p", { class: "banner bad", role: "alert" }, "The build failed; the last good one is served. ", button("Show", () => this.drawer.show("Builds"), { class: "small" })));
  }

  say(text, tone = "") {
    get("state").textContent = text;
    get("state").dataset.tone = tone;
  }

  state() {
    const { page } = this;
    if (page.state === "connected") {
      const { connection } = page;
      const info = connection.serverInfo;
      get("server").textContent = visible(info.title ?? info.name ?? "server", 80);
      document.title = `${visible(info.title ?? info.name ?? "server", 80)} · mcpc`;
      this.say(`connected, ${connection.isStateless ? "stateless" : "handshake"} ${visible(connection.version, 20)}`, "good");
      this.isDown = false;
    } else if (page.state === "failed") {
      this.say(visible(page.reason, 200), "bad");
      if (!this.#open) fill(this.detail, h("div", { class: "empty" }, h("p", {}, visible(page.reason, 500)), button("Connect again", () => page.connect())));
      this.down();
    } else if (!this.isDown) this.say("connecting");
  }

  /** Try again until the server is back. */
  down() {
    const { page } = this;
    if (page.dev || page.reason?.includes("token") || this.timer) return;
    this.isDown = true;
    this.say("the server does not answer; trying again", "bad");
    this.timer = setTimeout(() => {
      this.timer = 0;
      page.connect();
    }, AGAIN_MS);
  }

  items() {
    const { page } = this;
    this.list.show(page.allItems());
    const wanted = this.wanted && page.item(this.wanted);
    if (wanted) {
      this.wanted = "";
      this.open(wanted, false);
    } else if (this.#open) {
      const now = page.item(this.#open.id);
      if (now && now.kind !== "task" && JSON.stringify(now.entry) !== this.#shown) this.open(now, false);
    } else if (page.state === "connected") this.begin();
  }

  /** Show the first tool until a person chooses; where there is one column, the list stays before it. */
  begin() {
    const first = this.isClosed ? undefined : this.page.items.find(({ kind }) => kind === "tool");
    if (first === undefined) return this.home();
    this.open(first, false);
    document.body.classList.remove("is-open");
  }

  home() {
    this.#open = this.#view = null;
    document.body.classList.remove("is-open");
    this.list.mark("");
    if (this.page.connection) fill(this.detail, this.back(), overview(this.page));
  }

  open(item, isNoted = true) {
    if (isNoted) noteOpen(item.id);
    const isSame = this.#open?.id === item.id;
    this.#open = item;
    this.#shown = JSON.stringify(item.entry);
    this.#view = VIEWS[item.kind](item, this.page);
    document.body.classList.add("is-open");
    fill(this.detail, this.back(), this.#view.element);
    this.list.mark(item.id);
    if (isNoted && !isSame) {
      get("main").scrollTop = 0;
      get("main").focus({ preventScroll: true });
    }
  }

  back() {
    return button("‹ All definitions", () => this.close(), { class: "back quiet" });
  }

  close() {
    this.isClosed = true;
    noteOpen("");
    this.home();
    get("filter").focus();
  }

  restore() {
    const item = this.page.item(openNow());
    if (item) this.open(item, false);
    else this.begin();
  }

  notified(told) {
    if (told.method === "notifications/subscriptions/acknowledged") return;
    this.log.add(told);
    this.drawer.mark("Log", String(this.log.count()), this.log.hasTraceback() ? "bad" : "");
    if (told.method === "notifications/resources/updated") this.#view?.updated?.(told.params.uri);
  }

  key(event) {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      document.body.classList.remove("is-open");
      get("filter").focus();
      get("filter").select();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#view?.call();
    } else if (event.key === "Escape" && !document.querySelector("dialog[open]") && this.#open) {
      if (this.#view?.isRunning?.()) this.#view.cancel();
      else if (!isTyping) this.close();
      else event.target.blur();
    }
  }
}

start().catch((problem) => {
  get("state").textContent = visible(problem.message, 200);
  fill(get("main"), h("p", { class: "empty" }, "The page could not start: the server does not answer. ", button("Try again", () => location.reload())));
});
