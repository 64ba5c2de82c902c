// The bar under arguments that sends a request: send, cancel, progress, and the place of what came back.

import { announce, button, fill, h } from "../dom.js";
import { timeText, visible } from "../text.js";
import { failureView } from "./result.js";

/** Return { element, run, cancel, place }.  `send({ signal, onprogress })` returns the view of the result. */
export function runner(label, send, extra = []) {
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const told = h("span", { class: "told" });
  const running = h("div", { class: "running", hidden: true }, bar, told);
  const go = button([label, h("kbd", { "aria-hidden": "true" }, "Ctrl ↵")], () => run(), { class: "primary", "aria-keyshortcuts": "Control+Enter" });
  const stop = button("Cancel", () => cancel(), { hidden: true });
  const place = h("div", { class: "outcome" });
  let controller = null;
  let clock = 0;

  function onprogress({ progress, total, message }) {
    if (typeof total === "number" && total > 0) bar.value = Math.min(1, progress / total);
    told.dataset.said = `${progress ?? ""}${total ? ` of ${total}` : ""} ${visible(message ?? "", 300)}`;
  }

  async function run() {
    if (controller) return;
    controller = new AbortController();
    const began = performance.now();
    bar.removeAttribute("value");
    told.dataset.said = "";
    clock = setInterval(() => (told.textContent = `${timeText(performance.now() - began)}  ${told.dataset.said}`), 100);
    running.hidden = stop.hidden = false;
    go.disabled = true;
    place.setAttribute("aria-busy", "true");
    try {
      const view = await send({ signal: controller.signal, onprogress });
      if (view) {
        fill(place, view);
        place.scrollIntoView({ block: "nearest" });
      }
      announce(`${label}: finished`);
    } catch (problem) {
      const failure = controller.signal.aborted ? new Error("cancelled") : problem;
      fill(place, failureView(failure, performance.now() - began));
      announce(`${label}: ${failure.message}`);
    } finally {
      clearInterval(clock);
      controller = null;
      running.hidden = stop.hidden = true;
      go.disabled = false;
      place.removeAttribute("aria-busy");
    }
  }

  function cancel() {
    controller?.abort();
  }

  return { element: h("div", { class: "runner" }, h("div", { class: "bar" }, go, stop, h("span", { class: "space" }), extra), running), run, cancel, place, isRunning: () => controller !== null };
}
