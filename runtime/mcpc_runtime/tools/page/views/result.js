// The end of a request: a result in its forms, checked against the output schema; or an error.

import { jsonBlock } from "../bounded.js";
import { fill, h, tabbed } from "../dom.js";
import { member } from "../json.js";
import { plural, sizeText, timeText, visible } from "../text.js";
import { contentBlock } from "./content.js";

/** Return the view of a finished request.  `more`: further tabs, each [name, make()]. */
export function resultView(answer, { open, more = [], check }) {
  const { result, text, milliseconds } = answer;
  const failed = result.isError === true;
  const blocks = Array.isArray(result.content) ? result.content : null;
  const tabs = [...more.filter(([name]) => name === "App")];
  if (blocks) tabs.push([`Content (${blocks.length})`, () => h("div", {}, blocks.length ? blocks.slice(0, 200).map((block) => contentBlock(block, open)) : h("p", { class: "note" }, "The result has no content."))]);
  tabs.push(...more.filter(([name]) => name !== "App"));
  if (result.structuredContent !== undefined) tabs.push(["Structured", () => jsonBlock(member(text, ["result", "structuredContent"]) ?? "null", "Structured content")]);
  tabs.push(["JSON", () => jsonBlock(text, "The whole answer")]);
  const checked = h("span", { class: "checked" });
  if (check && !failed) check(result).then((found) => showCheck(checked, found)).catch(() => {});
  return h("section", { class: `result ${failed ? "bad" : "good"}`, "aria-label": "Result" },
    h("p", { class: "head" }, h("strong", { class: "verdict" }, failed ? "Tool error" : "Success"), h("span", {}, timeText(milliseconds)), h("span", {}, sizeText(text.length)), checked),
    tabbed("Forms of the result", tabs));
}

function showCheck(place, found) {
  if (!found.checked) return;
  const { problems } = found;
  place.classList.add(problems.length ? "bad" : "good");
  fill(place, problems.length ? h("details", {}, h("summary", {}, `${plural(problems.length, "problem")} by its output schema`), h("ul", {}, problems.map(({ path, message }) => h("li", {}, h("code", {}, visible(path || "/", 300)), " ", visible(message, 700))))) : "matches its output schema");
}

/** Return the view of a request that failed. */
export function failureView(problem, milliseconds) {
  const code = problem.code === undefined ? "" : ` ${problem.code}`;
  return h("section", { class: "result bad", "aria-label": "Result" },
    h("p", { class: "head" }, h("strong", { class: "verdict" }, problem.text ? `Protocol error${code}` : "No answer"), milliseconds === undefined ? null : h("span", {}, timeText(milliseconds))),
    h("p", { class: "message" }, visible(problem.message, 5000)),
    problem.text ? jsonBlock(problem.text, "The whole answer") : null);
}
