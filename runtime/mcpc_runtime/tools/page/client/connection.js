// What both eras share: requests with progress and cancellation, lists by pages, and what a server says unasked.

import { CLIENT, capabilities } from "./eras.js";

const MAX_PAGES = 1000;

/** An error that the server answered with. */
export class RpcError extends Error {
  constructor(error, text) {
    super(error?.message ?? "the server answered with an error");
    this.code = error?.code;
    this.data = error?.data;
    this.text = text;
  }
}

/** The base of both eras: `ask(requests)` has a person answer, events are `notification` and `down`. */
export class Connection extends EventTarget {
  capabilities = {};
  serverInfo = {};
  instructions = "";
  number = 0;

  constructor({ endpoint, token, version, recorder, ask, logLevel }) {
    super();
    Object.assign(this, { endpoint, token, version, recorder, ask, logLevel });
    this.client = { info: CLIENT, capabilities: capabilities(version) };
    this.closed = new AbortController();
  }

  /** The headers of every request. */
  headers(more = {}) {
    const own = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...more };
    return this.token ? { ...own, Authorization: `Bearer ${this.token}` } : own;
  }

  /** Return all items of a list. */
  async list(method, member) {
    const found = [];
    let cursor;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { result } = await this.request(method, cursor === undefined ? {} : { cursor });
      if (!Array.isArray(result[member])) throw new Error(`the answer to ${method} has no list \`${member}\``);
      for (const item of result[member]) if (item !== null && typeof item === "object") found.push(item);
      cursor = result.nextCursor;
      if (typeof cursor !== "string") return found;
    }
    throw new Error(`the pages of ${method} do not end`);
  }

  /** Tell listeners of a notification, and the request that it is about. */
  notified(message, text, options = {}) {
    const { method, params } = message;
    if (method === "notifications/progress") options.onprogress?.(params ?? {});
    this.dispatchEvent(new CustomEvent("notification", { detail: { method, params: params ?? {}, text, about: options.about ?? "" } }));
  }

  close() {
    this.closed.abort();
  }
}
