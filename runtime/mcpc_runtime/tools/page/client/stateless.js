// The stateless era (2026-07-28): each request says who sends it; questions come as results, and the request is repeated.

import { PREFIX } from "./eras.js";
import { Connection, RpcError } from "./connection.js";
import { repeatedHeaders } from "./headers.js";
import { exchange, HttpFailure } from "./http.js";
import { encode } from "../json.js";

const MAX_ROUNDS = 50;
const AGAIN_MS = [500, 1000, 2000, 5000];

export class StatelessConnection extends Connection {
  isStateless = true;
  #watched = new Set();
  #listening = null;

  async open() {
    const { result } = await this.request("server/discover", {});
    this.capabilities = result.capabilities ?? {};
    this.serverInfo = result._meta?.[`${PREFIX}serverInfo`] ?? result.serverInfo ?? {};
    this.instructions = result.instructions ?? "";
    this.#listen();
  }

  /** Send a request until it is complete; return { result, text, milliseconds }. */
  async request(method, params, options = {}) {
    const began = performance.now();
    let waited = 0;
    let more = {};
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const answer = await this.#once(method, { ...params, ...more }, options);
      if (answer.result.resultType !== "input_required") return { ...answer, milliseconds: performance.now() - began - waited };
      const asked = performance.now();
      const inputResponses = await this.ask(answer.result.inputRequests ?? {}, options);
      waited += performance.now() - asked;
      more = { inputResponses, requestState: answer.result.requestState };
    }
    throw new Error("the server asks without end");
  }

  async #once(method, params, options) {
    const id = (this.number += 1);
    const message = this.message(method, params, id, options);
    const { parsedArguments, ...sent } = params;
    const headers = this.headers(repeatedHeaders(method, { ...sent, parsedArguments }, this.version, options.tool));
    const signal = AbortSignal.any([this.closed.signal, ...(options.signal ? [options.signal] : [])]);
    for await (const [text, each] of exchange({ url: this.endpoint, headers, text: message, method, id, signal, recorder: this.recorder })) {
      if (each?.method !== undefined) this.notified(each, text, options);
      else if (each?.error) throw new RpcError(each.error, text);
      else if (each?.id === id && each.result !== null && typeof each.result === "object") return { result: each.result, text };
      else throw new HttpFailure("the answer is not of the protocol");
    }
    throw new HttpFailure("the connection ended before there was an answer");
  }

  /** Return the text of a request. */
  message(method, { parsedArguments, ...params }, id, options = {}) {
    const meta = { [`${PREFIX}protocolVersion`]: this.version, [`${PREFIX}clientInfo`]: this.client.info, [`${PREFIX}clientCapabilities`]: this.client.capabilities };
    if (options.onprogress) meta.progressToken = `p${id}`;
    if (this.logLevel() && this.capabilities.logging) meta[`${PREFIX}logLevel`] = this.logLevel();
    return encode({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } });
  }

  async setLogLevel() {}

  async subscribe(uri, isOn) {
    if (isOn) this.#watched.add(uri);
    else this.#watched.delete(uri);
    this.#listen();
  }

  /** Hold the stream on which changes are told, for what this server tells and what is watched. */
  async #listen() {
    this.#listening?.abort();
    const wanted = {};
    for (const kind of ["tools", "prompts", "resources"]) if (this.capabilities[kind]?.listChanged) wanted[`${kind}ListChanged`] = true;
    if (this.#watched.size) wanted.resourceSubscriptions = [...this.#watched];
    const current = (this.#listening = new AbortController());
    const signal = AbortSignal.any([current.signal, this.closed.signal]);
    for (let tries = 0; Object.keys(wanted).length && !signal.aborted; tries += 1) {
      const id = (this.number += 1);
      const method = "subscriptions/listen";
      const text = this.message(method, { notifications: wanted }, id);
      try {
        for await (const [line, each] of exchange({ url: this.endpoint, headers: this.headers(repeatedHeaders(method, {}, this.version)), text, method, id, signal, recorder: this.recorder })) {
          tries = 0;
          if (each?.method !== undefined) this.notified(each, line);
          if (each?.error) return;
        }
      } catch {
        if (signal.aborted) return;
      }
      if (!signal.aborted) this.dispatchEvent(new Event("down"));
      await new Promise((done) => setTimeout(done, AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)]));
    }
  }
}
