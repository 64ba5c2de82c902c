// The page's state: the connection, what the server offers, drafts of arguments, and what is open.

import { readCatalogue } from "./catalogue.js";
import { HANDSHAKE, STATELESS } from "./client/eras.js";
import { HandshakeConnection } from "./client/handshake.js";
import { Recorder } from "./client/recorder.js";
import { StatelessConnection } from "./client/stateless.js";
import { encode } from "./json.js";
import { isDark } from "./theme.js";
import { Tasks } from "./views/task.js";

const CHANGED = "list_changed";
const TASK_TTL_MS = 600_000;

/** The page.  Events: `state`, `items`, `notification`, `token` (the server wants one). */
export class Page extends EventTarget {
  items = [];
  connection = null;
  recorder = new Recorder();
  watched = new Set();
  version = "";
  level = "";
  state = "connecting";
  dev = null;
  isDark = isDark;
  #drafts = new Map();
  #attempt = 0;

  constructor(facts, token, ask) {
    super();
    Object.assign(this, { facts, token, ask });
    this.endpoint = new URL(facts.endpoint, location.href).href;
    this.tasks = new Tasks(this);
    this.tasks.addEventListener("change", () => this.#tell("items"));
    this.recorder.addEventListener("lost", () => this.state === "connected" && this.#tell("down"));
  }

  /** Connect, or connect again: with the chosen revision, or with the newest that the server has. */
  async connect() {
    const attempt = (this.#attempt += 1);
    this.connection?.close();
    this.#enter("connecting");
    let failure = null;
    for (const version of this.version ? [this.version] : [STATELESS[0], HANDSHAKE[0]]) {
      const connection = this.#make(version);
      try {
        await connection.open();
        const items = await readCatalogue(connection);
        if (attempt !== this.#attempt) return connection.close();
        this.connection = connection;
        this.items = items;
        this.watched.clear();
        this.#enter("connected");
        this.#tell("items");
        return undefined;
      } catch (problem) {
        connection.close();
        if (attempt !== this.#attempt) return undefined;
        failure = problem;
        if (problem.status === 401) return this.#wantsToken(problem);
      }
    }
    this.#enter("failed", failure?.message ?? "");
    return undefined;
  }

  #make(version) {
    const Kind = STATELESS.includes(version) ? StatelessConnection : HandshakeConnection;
    const { endpoint, token, recorder } = this;
    const connection = new Kind({ endpoint, token, version, recorder, ask: (requests, options) => this.ask(requests, options), logLevel: () => this.level });
    connection.addEventListener("notification", ({ detail }) => this.#notified(detail));
    connection.addEventListener("down", () => connection === this.connection && this.#tell("down"));
    return connection;
  }

  #wantsToken(problem) {
    this.#enter("failed", this.token ? "the token was refused" : "a token is needed");
    this.dispatchEvent(new CustomEvent("token", { detail: problem }));
  }

  #enter(state, reason = "") {
    this.state = state;
    this.reason = reason;
    this.#tell("state");
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }

  async #notified(detail) {
    this.dispatchEvent(new CustomEvent("notification", { detail }));
    if (!detail.method.endsWith(CHANGED)) return;
    const { connection } = this;
    const items = await readCatalogue(connection).catch(() => null);
    if (items && connection === this.connection) {
      this.items = items;
      this.#tell("items");
    }
  }

  /** All items: what the server offers, and the tasks of this page. */
  allItems() {
    return [...this.items, ...this.tasks.items()];
  }

  item(id) {
    return this.allItems().find((each) => each.id === id);
  }

  /** What a person wrote for a definition, while the page is open. */
  draft(id) {
    if (!this.#drafts.has(id)) this.#drafts.set(id, {});
    return this.#drafts.get(id);
  }

  /** Return what is wrong with arguments or a result of a tool: { checked, problems }. */
  async validate(body) {
    const headers = { "Content-Type": "application/json", ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}) };
    const response = await fetch("validate", { method: "POST", headers, body: encode(body), credentials: "omit", redirect: "error" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  }

  /** The params by which a call becomes a task in the handshake era, where the tool demands it. */
  taskParams(entry) {
    const isLegacy = !this.connection.isStateless && this.connection.capabilities.tasks?.requests?.tools?.call;
    return isLegacy && entry.execution?.taskSupport === "required" ? { task: { ttl: TASK_TTL_MS } } : {};
  }

  async watch(uri, isOn) {
    await this.connection.subscribe(uri, isOn);
    if (isOn) this.watched.add(uri);
    else this.watched.delete(uri);
  }
}
