// One property in the form: its name, its control, and a menu of the ways to give its value (a whole value, a text, JSON, not at all).
// `source` is the JSON text of the value, undefined for one that is left out.  It is kept as it is until a person changes it.

import { button, fill, h } from "../dom.js";
import { syntaxError } from "../json.js";
import { visible } from "../text.js";
import { JSON_OPTION, NOT_SET, descriptionOf, hintOf, optionFor, optionsOf, placeholderOf, resolved, suggestionsOf } from "./schemas.js";

const OUT = "out";
const MAX_ROWS = 14;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Return a text area that is as high as its text, where the browser does not see to it (field-sizing). */
export function textArea(value, attributes, oninput) {
  const fit = () => (area.rows = Math.min(area.value.split("\n").length, MAX_ROWS));
  const area = h("textarea", { rows: 1, spellcheck: "false", autocomplete: "off", ...attributes, oninput: () => (fit(), oninput(area.value)) });
  area.value = value;
  fit();
  return area;
}

/** Controls by kind of option: each returns an input; `take(source)` and `fail(message)` report what is typed. */
const CONTROLS = {
  string({ source, schema, take }) {
    const value = source === undefined ? "" : JSON.parse(source);
    const typed = (text) => take(JSON.stringify(text));
    if (schema.format !== "password") return textArea(value, { class: "arg-input" }, typed);
    const input = h("input", { type: "password", class: "arg-input", autocomplete: "off", oninput: () => typed(input.value) });
    input.value = value;
    return input;
  },
  number({ source, kind, take, fail }) {
    const typed = (text) => {
      if (text === "") take(undefined);
      else if (NUMBER.test(text)) take(text);
      else fail("Not a JSON number; expected digits as in 12, -0.5 or 1e3");
    };
    const inputmode = kind === "integer" ? "numeric" : "decimal";
    const input = h("input", { type: "text", inputmode, class: "arg-input arg-code", autocomplete: "off", oninput: () => typed(input.value.trim()) });
    input.value = source ?? "";
    return input;
  },
  json({ source, take, fail }) {
    return textArea(source ?? "", { class: "arg-input arg-code arg-json" }, (text) => {
      const problem = text.trim() === "" ? null : syntaxError(text);
      if (problem === null) take(text.trim() || undefined);
      else fail(problem);
    });
  },
};
CONTROLS.integer = CONTROLS.number;

export class Field {
  /** `settings`: id, name, schema, root (the schema that references are looked up in), isRequired, source, changed(). */
  constructor(settings) {
    Object.assign(this, settings);
    this.schema = resolved(this.schema, this.root);
    this.options = optionsOf(this.schema, this.root);
    this.problem = null;
    this.isTouched = false;
    this.shownName = this.name === "" ? '""' : visible(this.name, 300);
    this.label = h("label", { class: "arg-name", for: this.id }, this.shownName);
    this.hint = h("span", { class: "arg-hint", id: `${this.id}-hint` });
    this.about = h("p", { class: "arg-description", id: `${this.id}-about` }, visible(descriptionOf(this.schema, this.name), 5000));
    const choices = [[OUT, NOT_SET], ...this.options.map(({ label }, at) => [at, visible(label)])];
    this.state = h("select", { class: "arg-state", onchange: () => this.choose(this.state.value) }, choices.map(([value, text]) => h("option", { value }, text)));
    this.slot = h("div", { class: "arg-slot" });
    this.suggestions = h("div", { class: "arg-suggestions" });
    this.failure = h("p", { class: "arg-problem", id: `${this.id}-failure`, role: "status" });
    this.problems = h("ul", { id: `${this.id}-problems` });
    const required = this.isRequired ? h("span", { class: "arg-required" }, "required") : null;
    const body = h("div", { class: "arg-body" }, h("div", { class: "arg-row" }, this.slot, this.state), this.suggestions, this.failure, this.problems);
    this.element = h("div", { class: "arg-field" }, h("div", { class: "arg-head" }, this.label, required, this.hint, this.about), body);
    this.show(optionFor(this.options, this.source));
  }

  /** Show the control of an option; as JSON what the control of a text would change. */
  show(option) {
    this.option = option;
    this.fail(null);
    this.control = option?.kind === undefined ? null : this.makeControl(option);
    if (option?.kind === "string" && this.source !== undefined && this.control.value !== JSON.parse(this.source)) {
      this.option = JSON_OPTION;
      this.control = this.makeControl(JSON_OPTION);
    }
    fill(this.slot, this.control);
    this.nameInput();
    this.sync();
  }

  makeControl({ kind, schema }) {
    const take = (source) => {
      this.source = source;
      this.fail(null);
      this.report();
    };
    const fail = (message) => {
      this.fail(message);
      this.changed();
    };
    return CONTROLS[kind]({ source: this.source, kind, schema, take, fail });
  }

  /** Give the input its label and its descriptions; the list of options is the input where nothing else is. */
  nameInput() {
    this.input = this.control ?? this.state;
    this.state.id = this.control === null ? this.id : `${this.id}-state`;
    if (this.control === null) this.state.removeAttribute("aria-label");
    else this.state.setAttribute("aria-label", `How ${this.shownName} is given`);
    this.input.id = this.id;
    this.input.setAttribute("aria-describedby", [this.hint, this.about, this.failure, this.problems].map(({ id }) => id).join(" "));
    if (this.isRequired) this.input.setAttribute("aria-required", "true");
    this.state.hidden = this.options.length === 1;
    this.state.classList.toggle("arg-menu", this.control !== null);
    this.state.options[0].text = (this.control === null && visible(placeholderOf(this.schema, false))) || NOT_SET;
  }

  /** Show how the value is given now. */
  sync() {
    const isOut = this.source === undefined && (this.option !== JSON_OPTION || this.options.length === 1);
    this.state.value = isOut ? OUT : String(this.options.indexOf(this.option));
    if (this.control !== null) this.control.placeholder = this.source === undefined ? visible(placeholderOf(this.schema, this.isRequired)) : "empty text";
    this.hint.textContent = visible(hintOf(this.schema, this.option));
    const suggestion = ({ word, source, label }) => button(`${word} ${visible(label)}`, () => this.replace(source), { class: "arg-suggestion", title: `Use this ${word} for ${this.shownName}` });
    fill(this.suggestions, suggestionsOf(this.schema).filter(({ source }) => source !== this.source).map(suggestion));
  }

  report() {
    this.isTouched = true;
    this.setProblems([]);
    this.sync();
    this.changed();
  }

  /** Show and report another value, as a button does. */
  replace(source) {
    this.source = source;
    this.show(optionFor(this.options, source));
    this.input.focus();
    this.report();
  }

  /** Give the value another way: `choice` is left out, or the number of an option. */
  choose(choice) {
    const option = this.options[Number(choice)];
    if (choice === OUT) this.source = undefined;
    else if (option.source !== undefined) this.source = option.source;
    else if (this.source === undefined || optionFor([option], this.source) === undefined) this.source = { string: '""', number: "0", integer: "0" }[option.kind];
    this.show(choice === OUT ? optionFor(this.options, undefined) : option);
    this.state.focus();
    this.report();
  }

  /** Say what is wrong with the typed text; null for nothing. */
  fail(message) {
    this.problem = message;
    this.failure.textContent = visible(message ?? "");
    this.markInvalid();
  }

  /** Show the validator's messages. */
  setProblems(messages) {
    fill(this.problems, messages.map((text) => h("li", { class: "arg-problem" }, visible(text, 700))));
    this.markInvalid();
  }

  markInvalid() {
    const isInvalid = this.problem !== null || this.problems.childElementCount > 0;
    this.element.classList.toggle("arg-invalid", isInvalid);
    if (isInvalid) this.input?.setAttribute("aria-invalid", "true");
    else this.input?.removeAttribute("aria-invalid");
  }
}
