/* A list: a row for each item, which can be moved and removed; the first items of a tuple have their own schemas. */

import { button, make, setAttribute } from "./dom.js";
import { Field } from "./field.js";
import { array, keyOf } from "./lossless_json.js";
import { firstValue } from "./schemas.js";

const SHOWN = 100;

export class ListControl {
  constructor(form, { schema, node, name, depth, owner, report }) {
    Object.assign(this, { form, schema, node, name, depth, owner, report });
    this.limit = SHOWN;
    this.fields = [];
    this.list = make("div", { class: "arg-rows arg-items" });
    this.rest = make("div", { class: "arg-more" });
    this.adder = button("Add item", () => this.add(), { "aria-label": `Add an item to ${name}` });
    this.element = make("div", { class: "arg-list" }, this.list, this.rest, make("div", { class: "arg-add" }, this.adder));
    this.render();
  }

  get items() {
    return this.node?.items ?? [];
  }

  schemaAt(at) {
    const { prefixItems, items, additionalItems, unevaluatedItems } = this.schema;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    if (at < first.length) return first[at];
    return (Array.isArray(items) ? additionalItems : items) ?? unevaluatedItems ?? true;
  }

  /** Show the rows; fields that exist are kept. */
  render() {
    const count = Math.min(this.items.length, this.limit);
    this.fields.length = Math.min(this.fields.length, count);
    while (this.fields.length < count) this.fields.push(this.fieldAt(this.fields.length));
    this.fields.forEach((field, at) => this.number(field, at));
    this.list.replaceChildren(...this.fields.map((field) => field.element));
    const hidden = this.items.length - count;
    const more = () => this.show(this.limit + SHOWN);
    this.rest.replaceChildren(...(hidden > 0 ? [button(`Show more (${hidden} hidden)`, more)] : []));
    this.adder.hidden = this.schemaAt(this.items.length) === false;
  }

  number(field, at) {
    field.rename(`[${at}]`);
    for (const one of field.actions) setAttribute(one, "aria-label", `${one.title} ${at} of ${this.name}`);
  }

  show(limit) {
    const first = this.fields.length;
    this.limit = limit;
    this.render();
    this.fields[first]?.focusable.focus();
  }

  fieldAt(at) {
    const here = () => this.fields.indexOf(field);
    const act = (title, icon, action) => button(icon, () => action(here()), { class: "arg-button arg-icon", title });
    const actions = [
      act("Move item up", "↑", (from) => this.move(from, from - 1, 0)),
      act("Move item down", "↓", (from) => this.move(from, from + 1, 1)),
      act("Remove item", "×", (from) => this.remove(from)),
    ];
    const settings = { schema: this.schemaAt(at), name: `[${at}]`, node: this.items[at], place: "item", depth: this.depth + 1, actions };
    const held = (one) => this.fields.includes(one) && this.owner.holds(this);
    const field = new Field(this.form, { ...settings, held, report: (node) => this.set(here(), node) });
    return field;
  }

  set(at, node) {
    this.node = array(this.items.with(at, node));
    this.report(this.node);
  }

  add() {
    const options = this.form.schemas.options(this.schemaAt(this.items.length));
    const used = new Set(this.schema.uniqueItems === true ? this.items.map(keyOf) : []);
    const free = options.filter(({ key }) => !used.has(key));
    const value = firstValue(free.length > 0 ? free : options);
    this.node = array([...this.items, value]);
    this.limit = Math.max(this.limit, this.items.length);
    this.render();
    this.report(this.node);
    this.fields.at(-1).focusable.focus();
  }

  remove(at) {
    this.rearrange(this.items.toSpliced(at, 1), this.fields.toSpliced(at, 1), at);
    (this.fields[Math.min(at, this.fields.length - 1)]?.focusable ?? this.adder).focus();
    this.form.announce(`Item ${at} removed`);
  }

  /** Exchange two neighbours; the focus stays on the button with which it was done. */
  move(from, to, action) {
    if (to < 0 || to >= this.items.length) return;
    const swapped = (list) => list.with(from, list[to]).with(to, list[from]);
    if (to >= this.fields.length) this.limit = to + 1;
    this.render();
    this.rearrange(swapped(this.items), swapped(this.fields), Math.min(from, to));
    this.fields[to].row.querySelectorAll(":scope > .arg-icon")[action].focus();
    this.form.announce(`Item ${from} is now item ${to}`);
  }

  /** Show other items; a field whose place has another schema is made anew. */
  rearrange(items, fields, from) {
    const tuple = this.schemaAt(from) !== this.schemaAt(Infinity);
    this.node = array(items);
    this.fields = tuple ? fields.slice(0, from) : fields;
    this.render();
    this.report(this.node);
  }

  child(name) {
    const at = /^\d+$/.test(name) ? Number(name) : -1;
    if (at < 0 || at >= this.items.length) return undefined;
    if (at >= this.fields.length) this.show(at + 1);
    return this.fields[at];
  }

  /** Return the list as its rows show it. */
  read() {
    if (this.node === undefined) return undefined;
    return array(this.items.map((item, at) => this.fields[at]?.collect() ?? item));
  }
}
