/* An object: a row for each property of the schema and each other member, and a way to add members.

The members keep their order and how their names were written. Many properties are shown a part at a time. */

import { button, make, say } from "./dom.js";
import { Field } from "./field.js";
import { get, member, object } from "./lossless_json.js";
import { firstValue, isObject, own } from "./schemas.js";

const SHOWN = 60;
const MOST_TYPED = 50;

export class ObjectControl {
  constructor(form, { schema, node, name, depth, owner, report }) {
    Object.assign(this, { form, schema, node, name, depth, owner, report });
    this.names = Object.keys(isObject(schema.properties) ? schema.properties : {});
    this.required = new Set(Array.isArray(schema.required) ? schema.required : []);
    this.rows = new Map();
    this.asked = new Set();
    this.limit = SHOWN;
    this.element = make("div", { class: "arg-object" });
    this.list = make("div", { class: "arg-rows" });
    this.rest = make("div", { class: "arg-more" });
    this.element.append(...[this.filterRow(), this.list, this.rest, this.adder()].filter(Boolean));
    this.render();
  }

  extras() {
    const members = this.node?.members ?? [];
    return members.map(({ name }) => name).filter((name) => own(this.schema.properties, name) === undefined);
  }

  /** Show the rows: with many properties those that matter, those found, and the first ones. */
  render() {
    const all = [...new Set([...this.names, ...this.extras(), ...[...this.required].filter((name) => typeof name === "string")])];
    const shown = this.chosen(all);
    this.list.replaceChildren(...shown.map((name) => this.rowOf(name).element));
    const hidden = all.length - shown.length;
    const more = () => this.show(this.limit + SHOWN);
    this.rest.replaceChildren(...(hidden > 0 && !this.filter?.value ? [button(`Show more (${hidden} hidden)`, more)] : []));
    if (all.length === 0) this.list.append(make("p", { class: "arg-none" }, "No properties."));
  }

  chosen(all) {
    const sought = this.filter?.value.trim().toLowerCase();
    if (sought) return all.filter((name) => name.toLowerCase().includes(sought)).slice(0, SHOWN);
    if (all.length <= this.limit) return all;
    const present = new Set((this.node?.members ?? []).map(({ name }) => name));
    const matters = (name) => present.has(name) || this.required.has(name);
    const chosen = new Set([...all.filter(matters).slice(0, this.limit), ...this.asked]);
    for (const name of all) if (chosen.size < this.limit) chosen.add(name);
    return all.filter((name) => chosen.has(name));
  }

  show(limit) {
    const first = this.list.childElementCount;
    this.limit = limit;
    this.render();
    this.list.children[first]?.querySelector("input, select, textarea, button")?.focus();
  }

  filterRow() {
    if (this.names.length <= SHOWN) return undefined;
    const label = `Find one of ${this.names.length} properties`;
    this.filter = make("input", { type: "search", class: "arg-input arg-filter", "aria-label": label, placeholder: label });
    this.filter.addEventListener("input", () => this.render());
    return this.filter;
  }

  rowOf(name) {
    if (!this.rows.has(name)) this.rows.set(name, this.makeRow(name));
    return this.rows.get(name);
  }

  makeRow(name) {
    const named = own(this.schema.properties, name) !== undefined || this.required.has(name);
    return new Field(this.form, {
      schema: this.schemaOf(name),
      name,
      node: this.node && get(this.node, name),
      place: named ? "property" : "extra",
      required: this.required.has(name),
      depth: this.depth + 1,
      held: (field) => this.rows.get(name) === field && this.owner.holds(this),
      report: (node) => this.set(name, node),
      actions: named ? [] : [button("✎", () => this.startRename(name), { class: "arg-button arg-icon", "aria-label": `Rename ${name}`, title: "Rename" }), this.remover(name)],
    });
  }

  remover(name) {
    return button("×", () => this.remove(name), { class: "arg-button arg-icon", "aria-label": `Remove ${name}`, title: "Remove" });
  }

  /** Return the schema of a property: its own, that of its pattern, or that of all others. */
  schemaOf(name) {
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = this.schema;
    const found = Object.keys(patternProperties ?? {}).filter((pattern) => matches(pattern, name));
    const schemas = found.map((pattern) => patternProperties[pattern]);
    if (own(properties, name) !== undefined) schemas.unshift(properties[name]);
    if (schemas.length === 0) return additionalProperties ?? unevaluatedProperties ?? true;
    return schemas.length === 1 ? schemas[0] : { allOf: schemas };
  }

  /** Set a member or take it out, and report the object. */
  set(name, node) {
    const members = this.node?.members ?? [];
    const at = members.findIndex((one) => one.name === name);
    if (node === undefined) this.node = object(members.filter((one) => one.name !== name));
    else if (at >= 0) this.node = object(members.with(at, { ...members[at], value: node }));
    else this.node = object(members.toSpliced(this.placeOf(name, members), 0, member(name, node)));
    this.report(this.node);
  }

  /** Return where a new member goes: in the schema's order among those that are there. */
  placeOf(name, members) {
    this.order ??= new Map(this.names.map((one, at) => [one, at]));
    const place = this.order.get(name) ?? Infinity;
    const at = members.findIndex((one) => (this.order.get(one.name) ?? -1) > place);
    return at < 0 ? members.length : at;
  }

  adder() {
    const { additionalProperties, unevaluatedProperties, patternProperties } = this.schema;
    const closed = (additionalProperties ?? unevaluatedProperties) === false && patternProperties === undefined;
    if (closed) return undefined;
    this.key = make("input", { class: "arg-input arg-key", "aria-label": `Name of the new property`, placeholder: "name", autocomplete: "off" });
    this.key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.add(this.key.value);
    });
    const names = this.schema.propertyNames?.enum;
    this.told = make("span", { class: "arg-problem", role: "status" });
    const add = button("Add", () => this.add(this.key.value), { "aria-label": `Add to ${this.name}` });
    const adding = make("div", { class: "arg-add" }, this.key, this.suggestNames(names), add, this.told);
    return isObject(additionalProperties ?? patternProperties) || this.names.length === 0 ? adding : this.folded(adding);
  }

  /** Hide what is seldom needed behind a button: a member that the schema does not name. */
  folded(adding) {
    adding.hidden = true;
    const opener = button("Other property…", () => {
      opener.hidden = true;
      adding.hidden = false;
      this.key.focus();
    }, { class: "arg-button arg-quiet", "aria-label": `Other property of ${this.name}` });
    return make("div", {}, opener, adding);
  }

  suggestNames(names) {
    if (!Array.isArray(names)) return undefined;
    const id = this.form.newId();
    this.key.setAttribute("list", id);
    const texts = names.filter((name) => typeof name === "string").slice(0, MOST_TYPED);
    return make("datalist", { id }, ...texts.map((value) => make("option", { value })));
  }

  add(name) {
    const there = this.node && get(this.node, name) !== undefined;
    say(this.told, there ? `${JSON.stringify(name)} is there already` : "");
    if (there) return;
    this.key.value = "";
    const value = firstValue(this.form.schemas.options(this.schemaOf(name)));
    this.rows.delete(name);
    this.set(name, value);
    this.child(name).focusable.focus();
  }

  remove(name) {
    this.rows.delete(name);
    this.set(name, undefined);
    this.render();
    this.element.querySelector("input, select, textarea, button")?.focus();
  }

  startRename(name) {
    const field = this.rowOf(name);
    this.renaming = name;
    const input = make("input", { class: "arg-input arg-key", "aria-label": `New name of ${name}`, autocomplete: "off" });
    input.value = name;
    field.heading.replaceChildren(input);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.finishRename(name, input.value);
      if (event.key === "Escape") this.finishRename(name, name);
    });
    input.addEventListener("blur", () => this.finishRename(name, input.value));
    input.focus();
  }

  /** Give a member another name in its place; a name that is taken changes nothing. */
  finishRename(name, other) {
    if (this.renaming !== name) return;
    this.renaming = undefined;
    const field = this.rowOf(name);
    field.label();
    if (other === name) return;
    if (get(this.node, other) !== undefined) return void field.setProblems([`${JSON.stringify(other)} is there already`]);
    const renamed = (one) => (one.name === name ? member(other, one.value) : one);
    this.node = object(this.node.members.map(renamed));
    this.rows.delete(name);
    this.rows.delete(other);
    this.render();
    this.report(this.node);
    this.rowOf(other).focusable.focus();
  }

  /** Return the row of a member, shown; undefined if the object has no such place. */
  child(name) {
    const known = own(this.schema.properties, name) !== undefined || this.required.has(name);
    if (!known && (this.node === undefined || get(this.node, name) === undefined)) return undefined;
    this.asked.add(name);
    const focused = document.activeElement;
    if (this.rowOf(name).element.parentNode !== this.list) this.render();
    if (focused !== document.activeElement && this.list.contains(focused)) focused.focus();
    return this.rowOf(name);
  }

  /** Return the object as its rows show it. */
  read() {
    if (this.node === undefined) return undefined;
    const collected = this.node.members.map((one) => ({ ...one, value: this.rows.get(one.name)?.collect() ?? one.value }));
    return object(collected);
  }
}

function matches(pattern, name) {
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return false;
  }
}
