// A tool: its arguments, a call, its result, and the commands that make the same call elsewhere.

import { ArgumentEditor } from "../arguments/editor.js";
import { commandMenu } from "../commands.js";
import { h } from "../dom.js";
import { Raw } from "../json.js";
import { appPanel, appUri } from "./app.js";
import { heading } from "./heading.js";
import { resultView } from "./result.js";
import { runner } from "./runner.js";
import { saveMenu } from "./save.js";
import { taskFromResult } from "./task.js";

const DELAY = 250;
const HINTS = { readOnlyHint: ["read-only", "only writes"], destructiveHint: ["destructive", "not destructive"], idempotentHint: ["idempotent", ""], openWorldHint: ["open world", "closed world"] };

/** Return the view of a tool: { element, call, cancel }. */
export function toolView(item, page) {
  const { entry } = item;
  const draft = page.draft(item.id);
  let last = null;
  const editor = new ArgumentEditor({ schema: entry.inputSchema ?? {}, onChange: changed, idPrefix: "argument" });
  if (draft.text !== undefined) editor.setText(draft.text);
  let timer = 0;
  function changed() {
    draft.text = editor.text();
    clearTimeout(timer);
    timer = setTimeout(check, DELAY);
  }
  async function check() {
    const sent = editor.text();
    if (editor.error()) return;
    const found = await page.validate({ tool: item.key, arguments: new Raw(sent) }).catch(() => null);
    if (found && sent === editor.text()) editor.setProblems(found.problems, draft.isTried);
  }
  async function send({ signal, onprogress }) {
    draft.isTried = true; // from now on what is missing is told, too
    const error = editor.error();
    if (error) throw new Error(`the arguments are not JSON: ${error}`);
    const text = editor.text();
    const params = { name: item.key, arguments: new Raw(text), parsedArguments: JSON.parse(text), ...page.taskParams(entry) };
    const answer = await page.connection.request("tools/call", params, { signal, onprogress, about: item.key, tool: entry });
    last = { text, answer };
    const task = taskFromResult(answer.result, item.key);
    if (task) return page.tasks.follow(task, (done) => show({ ...answer, ...done }, text));
    const problems = answer.result._meta?.["mcpc/problems"];
    if (Array.isArray(problems)) check();
    return show(answer, text);
  }
  function show(answer, text) {
    const uri = appUri(entry);
    const more = uri ? [["App", () => appPanel({ uri, item, text, answer, page })]] : [];
    const check = entry.outputSchema ? (result) => page.validate({ tool: item.key, result: result.structuredContent ?? null }) : null;
    return resultView(answer, { open: page.openResource, more, check });
  }
  const what = () => ({ kind: "tool", name: item.key, text: editor.text(), entry });
  const bar = runner("Call", send, [commandMenu(what, page), saveMenu(() => ({ ...what(), answer: last?.answer }), page)]);
  const element = h("article", { class: "definition-view" }, heading(item, toolFacts(entry)),
    h("section", { class: "arguments", "aria-label": "Arguments" }, h("h3", {}, "Arguments"), editor.element), bar.element, bar.place);
  if (draft.text !== undefined) check();
  return { element, call: bar.run, cancel: bar.cancel, isRunning: bar.isRunning };
}

function toolFacts(entry) {
  const given = entry.annotations ?? {};
  const facts = Object.entries(HINTS).filter(([name]) => typeof given[name] === "boolean").map(([name, words]) => [words[given[name] ? 0 : 1], name === "destructiveHint" && given[name] ? "warn" : ""]);
  if (appUri(entry)) facts.push(["has an App", "accent"]);
  if (entry.execution?.taskSupport && entry.execution.taskSupport !== "forbidden") facts.push([`task: ${entry.execution.taskSupport}`, "accent"]);
  if (entry.outputSchema) facts.push(["has an output schema", ""]);
  return facts.filter(([text]) => text);
}
