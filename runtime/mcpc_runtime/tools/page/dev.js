// What `mcpc dev` tells the page: builds as they end, their problems and changes, and what the server writes to standard error;
// and saving tests in the project.

import { encode } from "./json.js";

const AGAIN_MS = 1000;

export class Dev extends EventTarget {
  builds = [];
  served = 0; // the number of the build that is served

  constructor(token) {
    super();
    this.token = token;
  }

  async #fetch(path, options = {}) {
    const response = await fetch(`dev/${path}`, { ...options, headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` }, credentials: "omit", redirect: "error" });
    const found = await response.json().catch(() => ({}));
    if (!response.ok) throw Object.assign(new Error(found.error?.message ?? `status ${response.status}`), { status: response.status });
    return found;
  }

  /** Ask for builds without end; listeners of `builds` hear of new ones, of `log` of new lines, `refused` of a wrong token, `down` of an end. */
  async follow() {
    let after = 0;
    for (;;) {
      try {
        const found = await this.#fetch(`builds?after=${after}`);
        after = found.version;
        this.served = found.served;
        this.builds = found.builds;
        this.dispatchEvent(new Event("builds"));
        if (found.log.length) this.dispatchEvent(new CustomEvent("log", { detail: found.log }));
      } catch (problem) {
        this.dispatchEvent(new Event(problem.status === 401 ? "refused" : "down"));
        if (problem.status === 401) return;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  }

  /** Save a case of `mcpc test`; return { path }. */
  saveTest(body) {
    return this.#fetch("tests", { method: "POST", body: encode(body) });
  }
}
