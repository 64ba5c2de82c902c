// The argument editor: a form with a field for each property of an object schema, and the whole arguments as JSON.
// What is sent is JSON text: that which was set or typed; after a change in the form, each member as it was written.

import { button, fill, h } from "../dom.js";
import { members, syntaxError } from "../json.js";
import { visible } from "../text.js";
import { Field, textArea } from "./field.js";
import { constantOf, own, resolved, tokensOf } from "./schemas.js";

const MAX_FIELDS = 500;
const MAX_PROBLEMS = 100;

export class ArgumentEditor {
  /** `onChange()` is called after each change of the user. */
  constructor({ schema, onChange = () => {}, idPrefix = "arg" }) {
    Object.assign(this, { root: schema, schema: resolved(schema, schema), onChange, idPrefix, isTouched: false });
    this.required = (Array.isArray(this.schema.required) ? this.schema.required : []).filter((name) => typeof name === "string");
    this.switches = { form: button("Form", () => this.switchTo("form")), json: button("JSON", () => this.switchTo("json")) };
    const modes = h("div", { class: "arg-modes", role: "group", "aria-label": "Edit as" }, Object.values(this.switches));
    this.top = h("div", { role: "alert" });
    this.failure = h("p", { class: "arg-problem", role: "status", id: `${idPrefix}-failure` });
    this.body = h("div");
    this.element = h("div", { class: "arg-editor" }, modes, this.top, this.failure, this.body);
    this.setText(this.start());
  }

  /** Return the text that the editor begins with: required properties that have one value have it. */
  start() {
    const constants = this.required.map((name) => [name, constantOf(resolved(this.propertySchema(name), this.root))]);
    return written(constants.filter(([, source]) => source !== undefined));
  }

  propertySchema(name) {
    return own(own(this.schema, "properties"), name);
  }

  /** Show a JSON text: in the form, or as JSON if it is not an object. */
  setText(text) {
    this.source = text;
    try {
      this.showForm(members(text));
    } catch (problem) {
      if (!(problem instanceof SyntaxError)) throw problem;
      this.showJson();
    }
  }

  /** Return the exact JSON text of the value. */
  text() {
    if (this.area !== null) return this.area.value === this.firstShown ? this.source : this.area.value;
    if (!this.isEdited) return this.source;
    return written(this.names.filter((name) => this.values.has(name)).map((name) => [name, this.values.get(name)]));
  }

  /** Return what is wrong with what was typed, or null. */
  error() {
    return this.area === null ? this.failedField()?.problem ?? null : syntaxError(this.text());
  }

  failedField() {
    return [...this.fields.values()].find(({ problem }) => problem !== null);
  }

  /** Change to "form" or "json", unless something typed is wrong: it would be lost. */
  switchTo(mode) {
    if (mode === "json" && this.area === null) {
      const failed = this.failedField();
      if (failed) failed.input.focus();
      else {
        this.source = this.text();
        this.showJson();
      }
    } else if (mode === "form" && this.area !== null) {
      const text = this.text();
      try {
        const values = members(text);
        this.source = text;
        this.showForm(values);
      } catch (problem) {
        this.fail(problem.message);
        this.area.focus();
      }
    }
  }

  show(mode, ...children) {
    this.setTop([]);
    fill(this.body, children);
    for (const [name, each] of Object.entries(this.switches)) each.setAttribute("aria-pressed", String(name === mode));
  }

  showJson() {
    this.fields = new Map();
    const label = { class: "arg-input arg-code arg-whole", "aria-label": "Arguments as JSON", "aria-describedby": this.failure.id };
    this.area = textArea(this.source, label, (text) => {
      this.fail(syntaxError(text));
      this.changed();
    });
    // The area shows "\r\n" as "\n": an unchanged text is known by what the area first showed.
    this.firstShown = this.area.value;
    this.fail(syntaxError(this.source));
    this.show("json", this.area);
  }

  showForm(values) {
    this.area = null;
    this.isEdited = false;
    this.values = values;
    this.fail(null);
    const properties = own(this.schema, "properties");
    this.names = [...new Set([...Object.keys(properties ?? {}), ...this.required, ...values.keys()])];
    this.fields = new Map(this.names.slice(0, MAX_FIELDS).map((name, at) => [name, this.field(name, at)]));
    const left = this.names.length - this.fields.size;
    const note = left > 0 ? `${left} more properties have no field; give them as JSON.` : "No properties.";
    this.show("form", [...this.fields.values()].map(({ element }) => element), left > 0 || this.names.length === 0 ? h("p", { class: "note" }, note) : null);
  }

  field(name, at) {
    const field = new Field({
      id: `${this.idPrefix}-${at}`, name, schema: this.propertySchema(name), root: this.root, isRequired: this.required.includes(name), source: this.values.get(name),
      changed: () => {
        if (this.values.get(name) !== field.source) this.isEdited = true;
        if (field.source === undefined) this.values.delete(name);
        else this.values.set(name, field.source);
        this.changed();
      },
    });
    return field;
  }

  changed() {
    this.isTouched = true;
    this.setTop([]);
    this.onChange();
  }

  fail(message) {
    this.failure.textContent = visible(message ?? "");
    if (message === null) this.area?.removeAttribute("aria-invalid");
    else this.area.setAttribute("aria-invalid", "true");
  }

  /** Show the validator's messages, [{ path: JSON Pointer, message }], at their fields; the others on top.  `isAll`: also those of what no person has touched. */
  setProblems(problems, isAll = true) {
    const messages = new Map();
    const top = [];
    for (const { path, message } of problems.slice(0, MAX_PROBLEMS)) {
      const [name, ...rest] = tokensOf(path);
      if (!this.fields.has(name)) top.push(path === "" ? message : `${path}: ${message}`);
      else messages.set(name, [...(messages.get(name) ?? []), rest.length === 0 ? message : `/${rest.join("/")}: ${message}`]);
    }
    for (const [name, field] of this.fields) field.setProblems(isAll || field.isTouched ? (messages.get(name) ?? []) : []);
    this.setTop(isAll || this.isTouched ? top : []);
  }

  setTop(messages) {
    fill(this.top, messages.map((text) => h("p", { class: "arg-problem" }, visible(text, 700))));
  }
}

/** Return the JSON text of an object, from the names and the JSON texts of its members. */
function written(entries) {
  const lines = entries.map(([name, source]) => `  ${JSON.stringify(name)}: ${source}`);
  return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n}`;
}
