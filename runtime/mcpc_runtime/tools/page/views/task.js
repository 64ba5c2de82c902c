// Tasks: calls that go on after their answer.  The page asks about them until they end, and answers what they ask.

import { itemOf } from "../catalogue.js";
import { button, fill, h } from "../dom.js";
import { jsonBlock } from "../bounded.js";
import { failureView } from "./result.js";
import { visible } from "../text.js";

const OVER = new Set(["completed", "failed", "cancelled"]);
const LEAST_MS = 250;
const MOST_MS = 30_000;

/** Return the task that a call became, in the form of either era; null for any other result. */
export function taskFromResult(result, tool) {
  const given = result.resultType === "task" ? result : result.task;
  return given && typeof given.taskId === "string" ? { ...given, tool, isLegacy: result.resultType !== "task" } : null;
}

/** The tasks of this page: asks about each until it is over. */
export class Tasks extends EventTarget {
  known = new Map();

  constructor(page) {
    super();
    this.page = page;
  }

  items() {
    return [...this.known.values()].reverse().map((task) => itemOf("task", { ...task, title: task.tool, description: `${task.status} · ${task.tool}` }));
  }

  /** Follow a new task; return its view.  `show(answer)` makes the view of its result. */
  follow(task, show) {
    task.show = show;
    this.known.set(task.taskId, task);
    this.#changed(task);
    this.#poll(task);
    return this.view(task);
  }

  view(task) {
    const place = h("section", { class: "result", "aria-label": "Task" });
    const render = () => {
      const over = OVER.has(task.status);
      const head = h("p", { class: "head" }, h("strong", { class: `verdict ${task.status}` }, `Task ${visible(task.status, 40)}`), h("code", {}, visible(task.taskId, 100)), visible(task.statusMessage ?? "", 500), over ? null : button("Cancel the task", () => this.cancel(task), { class: "small" }));
      fill(place, head, task.outcome ?? (task.detail ? h("details", {}, h("summary", {}, "What the server says of it"), jsonBlock(task.detail)) : null));
    };
    this.addEventListener("change", (event) => event.detail === task && render());
    render();
    return place;
  }

  async cancel(task) {
    await this.page.connection.request("tasks/cancel", { taskId: task.taskId }).catch((problem) => (task.statusMessage = problem.message));
    this.#changed(task);
  }

  #changed(task) {
    this.dispatchEvent(new CustomEvent("change", { detail: task }));
  }

  async #poll(task) {
    const { connection } = this.page;
    let asked = "";
    for (let failures = 0; failures < 5 && connection === this.page.connection; ) {
      try {
        const { result, text, milliseconds } = await connection.request("tasks/get", { taskId: task.taskId });
        failures = 0;
        const { status, statusMessage, pollInterval, pollIntervalMs } = result;
        Object.assign(task, { status, statusMessage, detail: text });
        if (OVER.has(status)) {
          await this.#finish(task, result, text, milliseconds);
          return;
        }
        const open = JSON.stringify(Object.keys(result.inputRequests ?? {}));
        if (status === "input_required" && result.inputRequests && open !== asked) {
          asked = open;
          this.#ask(task, result.inputRequests).then(() => (asked = ""), () => {});
        }
        this.#changed(task);
        await new Promise((done) => setTimeout(done, Math.max(LEAST_MS, Math.min(MOST_MS, pollIntervalMs ?? pollInterval ?? 1000))));
      } catch (problem) {
        failures += 1;
        task.statusMessage = problem.message;
        this.#changed(task);
        await new Promise((done) => setTimeout(done, 1000));
      }
    }
  }

  async #ask(task, requests) {
    const inputResponses = await this.page.ask(requests, { about: task.tool });
    await this.page.connection.request("tasks/update", { taskId: task.taskId, inputResponses });
  }

  async #finish(task, result, text, milliseconds) {
    const took = Date.parse(result.lastUpdatedAt) - Date.parse(result.createdAt) || milliseconds;
    if (task.isLegacy && task.status === "completed") {
      const answer = await this.page.connection.request("tasks/result", { taskId: task.taskId });
      task.outcome = task.show({ ...answer, milliseconds: took });
    } else if (result.result) task.outcome = task.show({ result: result.result, text: JSON.stringify({ result: result.result }), milliseconds: took });
    else task.outcome = failureView(Object.assign(new Error(result.error?.message ?? `the task was ${task.status}`), { code: result.error?.code, text: result.error ? text : undefined }), took);
    this.#changed(task);
  }
}

/** Return the view of a task that is chosen in the list. */
export function taskView(item, page) {
  const task = page.tasks.known.get(item.key);
  const element = h("article", { class: "definition-view" }, h("header", { class: "heading" }, h("p", { class: "kind-word" }, "task"), h("h2", {}, h("bdi", {}, visible(task?.tool ?? item.key, 300)))), task ? page.tasks.view(task) : h("p", {}, "This task is not known any more."));
  return { element, call: () => {}, cancel: () => task && page.tasks.cancel(task) };
}

