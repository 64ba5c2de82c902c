// The handshake era (2025-11-25 and before): a session; questions come as requests of the server on the answer's stream.

import { Connection, RpcError } from "./connection.js";
import { exchange, HttpFailure } from "./http.js";
import { encode } from "../json.js";

const AGAIN_MS = [500, 1000, 2000, 5000];

export class HandshakeConnection extends Connection {
  isStateless = false;
  #session = null;

  async open() {
    const { result } = await this.request("initialize", { protocolVersion: this.version, capabilities: this.client.capabilities, clientInfo: this.client.info });
    this.version = result.protocolVersion ?? this.version;
    this.capabilities = result.capabilities ?? {};
    this.serverInfo = result.serverInfo ?? {};
    this.instructions = result.instructions ?? "";
    await this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    if (this.logLevel()) await this.setLogLevel(this.logLevel());
    this.#listen();
  }

  /** Send a request; return { result, text, milliseconds }. */
  async request(method, { parsedArguments, ...params }, options = {}) {
    const began = performance.now();
    const waited = { milliseconds: 0 };
    const id = (this.number += 1);
    const message = this.message(method, params, id, options);
    const signal = AbortSignal.any([this.closed.signal, ...(options.signal ? [options.signal] : [])]);
    options.signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    for await (const [text, each] of this.#exchange(message, method, id, signal)) {
      if (each?.method !== undefined) this.#incoming(each, text, { ...options, waited });
      else if (each?.id !== id) continue;
      else if (each.error) throw new RpcError(each.error, text);
      else return { result: each.result ?? {}, text, milliseconds: performance.now() - began - waited.milliseconds };
    }
    throw new HttpFailure("the connection ended before there was an answer");
  }

  /** Return the text of a request. */
  message(method, params, id, options = {}) {
    const sent = options.onprogress ? { ...params, _meta: { progressToken: `p${id}` } } : params;
    return encode({ jsonrpc: "2.0", id, method, params: sent });
  }

  async setLogLevel(level) {
    if (this.capabilities.logging && level) await this.request("logging/setLevel", { level });
  }

  async subscribe(uri, isOn) {
    await this.request(isOn ? "resources/subscribe" : "resources/unsubscribe", { uri });
  }

  close() {
    super.close();
    if (this.#session) fetch(this.endpoint, { method: "DELETE", headers: this.#headers(), credentials: "omit" }).catch(() => {});
  }

  #headers() {
    const more = this.#session ? { "Mcp-Session-Id": this.#session } : {};
    return this.headers(this.capabilities && this.number > 1 ? { ...more, "MCP-Protocol-Version": this.version } : more);
  }

  #exchange(text, method, id, signal) {
    const onhead = (response) => {
      this.#session = response.headers.get("mcp-session-id") ?? this.#session;
    };
    return exchange({ url: this.endpoint, headers: this.#headers(), text, method, id, signal, recorder: this.recorder, onhead });
  }

  async #send(message) {
    for await (const each of this.#exchange(encode(message), message.method ?? "(answer)", message.id, this.closed.signal)) void each;
  }

  #cancel(id) {
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "cancelled on the page" } }).catch(() => {});
  }

  /** Handle a message that the server sends unasked: a notification, or a request that a person answers. */
  async #incoming(message, text, options = {}) {
    if (message.id === undefined) return this.notified(message, text, options);
    const began = performance.now();
    let answer;
    try {
      answer = message.method === "ping" ? { result: {} } : { result: (await this.ask({ only: message }, options)).only };
    } catch (problem) {
      answer = { error: { code: -1, message: problem.message } };
    }
    if (options.waited) options.waited.milliseconds += performance.now() - began;
    await this.#send({ jsonrpc: "2.0", id: message.id, ...answer }).catch(() => {});
  }

  /** Hold the stream on which the server tells what it says unasked, if it may say anything. */
  async #listen() {
    const tells = ["tools", "prompts", "resources"].some((kind) => this.capabilities[kind]?.listChanged || this.capabilities[kind]?.subscribe);
    const signal = this.closed.signal;
    for (let tries = 0; tells && this.#session && !signal.aborted; tries += 1) {
      try {
        const headers = { ...this.#headers(), Accept: "text/event-stream" };
        delete headers["Content-Type"];
        for await (const [text, each] of exchange({ url: this.endpoint, httpMethod: "GET", headers, method: "(stream)", signal, recorder: this.recorder })) {
          tries = 0;
          if (each?.method === undefined) throw new HttpFailure("refused", 405);
          this.#incoming(each, text);
        }
      } catch (problem) {
        if (signal.aborted || [400, 404, 405].includes(problem.status)) {
          if (!signal.aborted && problem.status === 404) this.dispatchEvent(new Event("down"));
          return;
        }
      }
      if (!signal.aborted) this.dispatchEvent(new Event("down"));
      await new Promise((done) => setTimeout(done, AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)]));
    }
  }
}
