/* The argument editor: a form from a JSON Schema, and the same value as raw JSON.

`text()` is what is sent. It is the text that was set or typed as long as the form changes nothing, and afterwards keeps
how every untouched number, string and name was written. */

import { button, make, say, setAttribute } from "./dom.js";
import { Field } from "./field.js";
import { rawControl } from "./leaves.js";
import { JsonError, fromValue, parse, toValue, write } from "./lossless_json.js";
import { Schemas, blank, tokensOf } from "./schemas.js";

const OPENED_AT_ONCE = 200;
const MOST_PROBLEMS = 100;

/** Return an editor. `schema`: a value, or its JSON text (then its large numbers are exact); undefined: any object.
    `value` or `text`: what it begins with. `onChange(editor)` is called after each change of the user. */
export function createArgumentEditor({ schema, value, text, onChange = () => {}, idPrefix = "arg" }) {
  const editor = new Editor(typeof schema === "string" ? toValue(parse(schema), true) : schema, onChange, idPrefix);
  if (text !== undefined) editor.setText(text);
  else editor.setValue(value === undefined ? editor.start() : value);
  return editor;
}

/** What the fields of a form share. */
class Form {
  constructor(schema, idPrefix, announce, changed) {
    this.schemas = new Schemas(schema);
    Object.assign(this, { announce, changed });
    this.idPrefix = idPrefix;
    this.ids = 0;
    this.reset();
  }

  reset() {
    this.left = OPENED_AT_ONCE;
    this.failures = new Map();
  }

  newId() {
    this.ids += 1;
    return `${this.idPrefix}-${this.ids}`;
  }

  /** Whether one more field may open itself. */
  spend() {
    this.left -= 1;
    return this.left >= 0;
  }

  fail(field, problem) {
    if (problem === null) this.failures.delete(field);
    else this.failures.set(field, problem);
  }

  /** Return the first field that is still there and whose text is wrong, and what is wrong: [field, problem], or []. */
  failure() {
    return [...this.failures].find(([field]) => field.holds(field.control)) ?? [];
  }
}

class Editor {
  constructor(schema, onChange, idPrefix) {
    this.schema = schema ?? true;
    this.onChange = onChange;
    this.status = make("p", { class: "arg-status", role: "status" });
    const announce = (text) => this.status.replaceChildren(text);
    this.form = new Form(this.schema, idPrefix, announce, () => onChange(this));
    this.idPrefix = idPrefix;
    this.shown = "form";
    this.broken = null;
    this.build();
  }

  build() {
    this.switches = { form: button("Form", () => this.switchTo("form")), raw: button("JSON", () => this.switchTo("raw")) };
    const modes = make("div", { class: "arg-modes", role: "group", "aria-label": "Edit as" }, ...Object.values(this.switches));
    this.top = make("div", { class: "arg-problems", role: "alert" });
    this.failure = make("p", { class: "arg-problem", role: "status", id: `${this.idPrefix}-failure` });
    this.body = make("div", { class: "arg-editor-body" });
    this.element = make("div", { class: "arg-editor" }, modes, this.top, this.failure, this.body, this.status);
  }

  /** Return what the editor begins with: an object where the schema allows one. */
  start() {
    const options = this.form.schemas.options(this.schema);
    const option = options.find(({ type }) => type === "object") ?? options[0];
    return option === undefined ? {} : toValue(blank({ ...option, schema: { ...option.schema, default: undefined } }));
  }

  mode() {
    return this.shown;
  }

  /** Return the value as JavaScript has it; of broken raw JSON the last good one. */
  value() {
    return toValue(this.node);
  }

  /** Return the value's exact JSON text; in raw mode what is typed. */
  text() {
    if (this.shown === "raw") return this.raw.unchanged() ? this.source : this.raw.input.value;
    return this.node === this.sourceNode ? this.source : write(this.node);
  }

  /** Return the JSON text of what the form's controls show: equal to that of the value, or the form has a fault. */
  formText() {
    return write(this.root?.collect() ?? this.node);
  }

  /** Return what is wrong with what was typed, {message, line, column}, or null. */
  error() {
    const problem = this.shown === "raw" ? this.broken : this.form.failure()[1] ?? null;
    return problem && { message: problem.message, line: problem.line ?? null, column: problem.column ?? null };
  }

  setValue(value) {
    const node = fromValue(value);
    this.take(node, write(node));
  }

  /** Show a JSON text; a broken one in raw mode. */
  setText(text) {
    try {
      this.take(parse(text), text);
    } catch (problem) {
      if (!(problem instanceof JsonError)) throw problem;
      this.node ??= fromValue(this.start());
      this.source = text;
      this.sourceNode = undefined;
      this.shown = "raw";
      this.render();
      this.fail(problem);
    }
  }

  take(node, source) {
    this.node = node;
    this.sourceNode = node;
    this.source = source;
    this.render();
  }

  /** Change to "form" or "raw", unless something typed is wrong: it would be lost. */
  setMode(mode) {
    if (mode === this.shown || this.error() !== null) return;
    const text = this.text();
    this.shown = mode;
    this.source = text;
    this.sourceNode = this.node;
    this.render();
  }

  switchTo(mode) {
    this.setMode(mode);
    if (this.shown !== mode) (this.shown === "raw" ? this.raw.input : this.form.failure()[0].focusable).focus();
  }

  render() {
    this.fail(null);
    this.setTop([]);
    this.form.reset();
    for (const [mode, one] of Object.entries(this.switches)) one.setAttribute("aria-pressed", String(mode === this.shown));
    this.element.classList.toggle("arg-raw-mode", this.shown === "raw");
    this.body.replaceChildren(this.shown === "raw" ? this.renderRaw() : this.renderForm());
  }

  renderRaw() {
    this.root = undefined;
    const change = (node) => this.changed(node);
    const fail = (problem) => {
      this.fail(problem);
      if (problem !== null) this.onChange(this);
    };
    this.raw = rawControl({ node: this.sourceNode, text: this.source, optional: false, change, fail });
    this.raw.input.setAttribute("aria-label", "Arguments as JSON");
    this.raw.input.setAttribute("aria-describedby", this.failure.id);
    return this.raw.element;
  }

  renderForm() {
    const report = (node) => this.changed(node);
    this.root = new Field(this.form, { schema: this.schema, name: "arguments", node: this.node, place: "root", report });
    return this.root.element;
  }

  changed(node) {
    this.node = node;
    if (this.shown === "raw") this.broken = null;
    this.setTop([]);
    this.onChange(this);
  }

  fail(problem) {
    this.broken = problem;
    say(this.failure, problem === null ? "" : `${problem.message} (line ${problem.line}, column ${problem.column})`);
    if (this.raw !== undefined) setAttribute(this.raw.input, "aria-invalid", problem === null ? undefined : "true");
  }

  /** Show the validator's messages, [{path: JSON Pointer, message}], beside their fields; the others on top. */
  setProblems(problems) {
    const placed = new Map((this.marked ?? []).map((field) => [field, []]));
    const top = [];
    for (const { path, message } of problems.slice(0, MOST_PROBLEMS)) {
      const found = this.shown === "form" ? this.root.find(tokensOf(path)) : undefined;
      if (found === undefined || found.field === this.root) top.push(path === "" ? message : `${path}: ${message}`);
      else placed.set(found.field, [...(placed.get(found.field) ?? []), said(found.rest, message)]);
    }
    for (const [field, messages] of placed) field.setProblems(messages);
    this.marked = [...placed.keys()];
    this.setTop(top);
  }

  setTop(messages) {
    this.top.replaceChildren(...messages.map((text) => make("p", { class: "arg-problem" }, text)));
  }
}

function said(rest, message) {
  return rest.length === 0 ? message : `${rest.map((token) => `/${token}`).join("")}: ${message}`;
}
