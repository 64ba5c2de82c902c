// The raw conversation: every request with its answers, headers and times, within bounds.

const MAX_EXCHANGES = 1000;
const MAX_BYTES = 32_000_000;

/** Records exchanges; listeners hear of each change. */
export class Recorder extends EventTarget {
  exchanges = [];
  #bytes = 0;
  #count = 0;

  /** Return a new exchange: a request and what was received for it. */
  begin(httpMethod, headers, text, method, id) {
    const exchange = { number: (this.#count += 1), at: Date.now(), began: performance.now(), httpMethod, headers, text, method, id, status: 0, statusText: "", received: [], responseHeaders: [], ended: null, error: "", bytes: text.length };
    this.exchanges.push(exchange);
    this.#keep(text.length);
    this.#tell(exchange);
    return exchange;
  }

  /** Add the head of the response. */
  head(exchange, response) {
    exchange.status = response.status;
    exchange.responseHeaders = [...response.headers];
    this.#tell(exchange);
  }

  /** Add a received message. */
  add(exchange, text) {
    exchange.received.push({ text, after: performance.now() - exchange.began });
    exchange.bytes += text.length;
    this.#keep(text.length);
    this.#tell(exchange);
  }

  /** End an exchange, with an error or without. */
  end(exchange, error = "") {
    if (exchange.ended !== null) return;
    exchange.ended = performance.now() - exchange.began;
    exchange.error = error;
    this.#tell(exchange);
  }

  /** Tell that the server could not be reached. */
  lost() {
    this.dispatchEvent(new Event("lost"));
  }

  /** Forget all exchanges. */
  clear() {
    this.exchanges = [];
    this.#bytes = 0;
    this.#tell(null);
  }

  #keep(bytes) {
    this.#bytes += bytes;
    while (this.exchanges.length > 1 && (this.exchanges.length > MAX_EXCHANGES || this.#bytes > MAX_BYTES)) {
      this.#bytes -= this.exchanges.shift().bytes;
    }
  }

  #tell(exchange) {
    this.dispatchEvent(new CustomEvent("change", { detail: exchange }));
  }
}
