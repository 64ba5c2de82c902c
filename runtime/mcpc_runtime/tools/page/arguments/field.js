/* One place of a value: its name, how it is given (left out, a whole value, a control, raw JSON), and its control.

A value that its control would not give back exactly is shown as raw JSON in this place; nothing is lost.  Objects and
lists are closed until they are opened, so that deep and recursive schemas cost what is seen of them. */

import { button, make, say, setAttribute } from "./dom.js";
import { dateControl, isDated } from "./dates.js";
import { describe, hintOf, suggestionsOf, summaryOf } from "./hints.js";
import { numberControl, rawControl, textControl } from "./leaves.js";
import { ListControl } from "./lists.js";
import { object, same, write } from "./lossless_json.js";
import { ObjectControl } from "./objects.js";
import { blank, optionFor } from "./schemas.js";

const RAW = { label: "JSON", raw: true };
const OUT = "out";
const OPEN_DEPTH = 3;
const CONTROLS = { number: numberControl, integer: numberControl };

/** Settings: schema, name, node (undefined: left out), place ("root", "property", "extra", "item"), required, depth,
    report(node), actions (elements at the end of the row). */
export class Field {
  constructor(form, settings) {
    this.form = form;
    Object.assign(this, { required: false, depth: 0, actions: [] }, settings);
    this.id = form.newId();
    this.optional = this.place === "property";
    this.schemaRead = form.schemas.expand(this.schema);
    this.options = form.schemas.options(this.schema);
    this.before = new Map();
    this.opened = this.place === "root" || this.opensItself();
    this.build();
    this.show();
  }

  opensItself() {
    return this.form.spend() && this.depth < OPEN_DEPTH && (this.node !== undefined || this.required);
  }

  build() {
    const at = (part) => `${this.id}-${part}`;
    this.heading = make("span", { class: "arg-heading" });
    this.hint = make("span", { class: "arg-hint", id: at("hint") });
    const said = describe(this.schemaRead, this.name);
    this.description = said && make("p", { class: "arg-description", id: at("about") }, said);
    this.slot = make("div", { class: "arg-slot" });
    this.state = make("select", { class: "arg-state", id: at("state"), change: () => this.choose(this.state.value) });
    this.suggestions = make("div", { class: "arg-suggestions" });
    this.content = make("div", { class: "arg-content", id: at("content") });
    this.problems = make("ul", { class: "arg-problems", id: at("problems") });
    this.failure = make("p", { class: "arg-problem", id: at("failure"), role: "status" });
    const head = make("div", { class: "arg-head" }, this.heading, this.mark(), this.hint, this.description || undefined);
    this.row = make("div", { class: "arg-row" }, this.slot, this.state, ...this.actions);
    const body = make("div", { class: "arg-body" }, this.row, this.suggestions, this.failure, this.problems);
    this.element = make("div", { class: `arg-field arg-${this.place}` }, head, body, this.content);
  }

  mark() {
    return this.required ? make("span", { class: "arg-required" }, "required") : undefined;
  }

  /** Show the node with the option that fits it best. */
  show() {
    this.option = this.node === undefined ? this.firstOption() : (optionFor(this.options, this.node) ?? RAW);
    this.mount();
  }

  firstOption() {
    return this.options.find((option) => option.type !== undefined);
  }

  /** Make the control of the option; the raw one where it would not give the node back. */
  mount() {
    this.form.fail(this, null);
    this.fail(null);
    this.control = undefined;
    const group = this.isGroup();
    if (!group && this.option !== undefined && this.option.literal === undefined) this.mountLeaf();
    this.element.classList.toggle("arg-group", group);
    this.slot.replaceChildren(...(this.control === undefined ? [] : [this.control.element]));
    this.content.hidden = group && !this.opened;
    if (group) this.mountGroup();
    else this.content.replaceChildren();
    this.label();
    this.sync();
  }

  isGroup() {
    return this.option?.type === "object" || this.option?.type === "array";
  }

  mountLeaf() {
    this.control = this.leaf(this.option);
    const read = this.control.read();
    if (this.node === undefined || (read !== undefined && write(read) === write(this.node))) return;
    this.option = RAW;
    this.control = this.leaf(RAW);
  }

  leaf(option) {
    const { node, name, optional } = this;
    const placeholder = this.defaultText();
    const fail = (problem) => {
      this.fail(problem);
      if (problem !== null) this.form.changed();
    };
    const settings = { option, node, name, optional, placeholder, change: (it) => this.took(it), fail };
    if (option.raw) return rawControl(settings);
    if (option.type === "string" && isDated(option.schema.format)) return dateControl(settings);
    return (CONTROLS[option.type] ?? textControl)(settings);
  }

  defaultText() {
    const value = this.schemaRead.default;
    if (value === undefined || value === null || typeof value === "object") return value?.source;
    return String(value).slice(0, 200);
  }

  mountGroup() {
    this.content.replaceChildren();
    if (!this.opened) return;
    const Control = this.option.type === "object" ? ObjectControl : ListControl;
    const { name, node, depth } = this;
    const settings = { schema: this.option.schema, name, node, depth, owner: this, report: (it) => this.took(it) };
    this.control = new Control(this.form, settings);
    this.content.replaceChildren(this.control.element);
  }

  open(opened = true) {
    if (this.opened === opened) return;
    this.opened = opened;
    this.content.hidden = !opened;
    if (this.control === undefined) this.mountGroup();
    this.label();
    this.sync();
  }

  /** Whether `control` is still a part of the form. */
  holds(control) {
    return this.control === control && (this.held === undefined || this.held(this));
  }

  /** Name the field: a label for its control, or the button that opens it. */
  label() {
    const shown = this.name === "" ? '""' : this.name;
    const about = [this.hint.id, this.description && this.description.id, this.failure.id, this.problems.id];
    this.input = this.isGroup() ? undefined : (this.control?.input ?? this.state);
    if (this.input && this.input !== this.state) this.input.id = this.id;
    const name = this.isGroup() ? this.disclosure(shown) : make("label", { class: "arg-name", for: this.input.id }, shown);
    const wasFocused = this.heading.contains(document.activeElement);
    this.heading.replaceChildren(...(this.place === "root" ? [] : [name]));
    if (wasFocused) name.focus();
    this.focusable = this.input ?? (this.place === "root" ? this.state : name);
    this.focusable.setAttribute("aria-describedby", about.filter(Boolean).join(" "));
    if (this.required && this.input) this.input.setAttribute("aria-required", "true");
    if (this.place === "root" && this.input) this.input.setAttribute("aria-label", this.name);
    else if (this.input === this.state) this.state.removeAttribute("aria-label");
    else setAttribute(this.state, "aria-label", `How ${shown} is given`);
    this.nameGroup(shown);
  }

  nameGroup(shown) {
    const group = this.isGroup() && this.place !== "root";
    setAttribute(this.content, "role", group ? "group" : undefined);
    setAttribute(this.content, "aria-label", group ? shown : undefined);
  }

  disclosure(shown) {
    const attributes = { class: "arg-disclosure", "aria-expanded": String(this.opened), "aria-controls": this.content.id };
    return button(shown, () => {
      this.shut = this.opened;
      this.open(!this.opened);
    }, attributes);
  }

  /** Show how the value is given now. */
  sync() {
    const states = [...(this.optional ? [[OUT, "left out"]] : []), ...this.options.map((one, at) => [String(at), one.label])];
    states.push(["json", RAW.label]);
    if (this.state.length !== states.length) this.state.replaceChildren(...states.map(([value, text]) => make("option", { value }, text)));
    this.state.value = this.node === undefined && !this.option?.raw ? OUT : this.option?.raw ? "json" : String(this.options.indexOf(this.option));
    this.element.classList.toggle("arg-out", this.node === undefined);
    this.state.hidden = this.place === "root" && this.options.length === 1 && !this.option?.raw;
    say(this.hint, hintOf(this.option, this.options, this.node !== undefined));
    this.state.classList.toggle("arg-sole", this.input === this.state);
    if (this.isGroup()) this.slot.replaceChildren(make("span", { class: "arg-summary" }, this.opened ? "" : summaryOf(this.node)));
    this.suggest();
  }

  suggest() {
    const open = suggestionsOf(this.schemaRead).filter(({ node }) => !same(node, this.node));
    const key = open.map(({ word, text }) => word + text).join("\n");
    if (key === this.suggested) return;
    this.suggested = key;
    this.suggestions.replaceChildren(...open.map(({ word, node, text }) =>
      button(`${word} ${text}`, () => this.replace(node), { class: "arg-button arg-suggestion", title: `Use this ${word} for ${this.name}` }),
    ));
  }

  /** Take what the control reports. */
  took(node) {
    this.node = node;
    this.setProblems([]);
    this.sync();
    this.report(node);
  }

  /** Show and report another node, as a button does. */
  replace(node) {
    this.node = node;
    this.setProblems([]);
    this.show();
    this.focusable.focus();
    this.report(node);
  }

  /** Give the value another way: `value` is one of the states. */
  choose(value) {
    this.before.set(this.option, this.node);
    this.setProblems([]);
    const option = value === "json" ? RAW : this.options[Number(value)];
    if (value === OUT) this.node = undefined;
    else if (option !== RAW) this.node = this.startOf(option);
    this.option = value === OUT ? this.firstOption() : option;
    if (this.isGroup() && value !== OUT) this.opened = true;
    this.mount();
    this.state.focus();
    this.report(this.node);
  }

  startOf(option) {
    const { node } = this;
    if (node !== undefined && option.literal === undefined && optionFor([option], node) === option) return this.carried(option);
    return this.before.get(option) ?? blank(option);
  }

  /** Return the node for another option: members that both have stay, the tag is that of the new one. */
  carried(option) {
    if (option.type !== "object" || this.option === RAW || this.option === option) return this.node;
    const start = this.before.get(option) ?? blank(option);
    const known = new Set(start.members.map(({ name }) => name));
    const properties = option.schema.properties ?? {};
    const shared = this.node.members.filter(({ name }) => !known.has(name) && Object.hasOwn(properties, name));
    return object([...start.members, ...shared]);
  }

  fail(problem) {
    this.form.fail(this, problem);
    const place = problem?.line === undefined ? "" : ` (line ${problem.line}, column ${problem.column})`;
    say(this.failure, problem === null ? "" : problem.message + place);
    this.invalid();
  }

  setProblems(messages) {
    this.problems.replaceChildren(...messages.map((text) => make("li", { class: "arg-problem" }, text)));
    this.invalid();
  }

  invalid() {
    const wrong = this.failure.textContent !== "" || this.problems.childElementCount > 0;
    this.element.classList.toggle("arg-invalid", wrong);
    if (this.focusable && !this.isGroup()) setAttribute(this.focusable, "aria-invalid", wrong ? "true" : undefined);
  }

  /** Return the node as its control shows it. */
  collect() {
    if (this.control !== undefined) return this.control.read();
    if (this.isGroup() || this.state.value === OUT) return this.node;
    const shown = this.options[Number(this.state.value)]?.literal;
    return same(shown, this.node) ? this.node : shown;
  }

  /** Return the field that is nearest to a place, and what is left of its path; opens what the user has not closed. */
  find(tokens) {
    if (tokens.length === 0 || !this.isGroup() || this.shut) return { field: this, rest: tokens };
    this.open();
    const child = this.control.child(tokens[0]);
    return child === undefined ? { field: this, rest: tokens } : child.find(tokens.slice(1));
  }

  /** Show another name (of an item that has moved). */
  rename(name) {
    if (name === this.name) return;
    this.name = name;
    this.label();
  }
}
