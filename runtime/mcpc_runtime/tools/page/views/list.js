// The list of all definitions: a filter, kinds, and only the rows that can be seen, however many items there are.

import { filtered, KINDS } from "../catalogue.js";
import { button, fill, h } from "../dom.js";
import { visible } from "../text.js";

const ROW = 44;
const BESIDE = 6;

/** Make the list in an element; `open(item)` is called when a person chooses one. */
export class ItemList {
  #items = [];
  #shown = [];
  #kind = "";
  #active = -1;
  #rows = new Map();

  constructor(place, open) {
    this.open = open;
    this.filter = h("input", { type: "search", id: "filter", placeholder: "Filter   /", "aria-label": "Filter everything by name and description", autocomplete: "off", spellcheck: "false", maxlength: 200, oninput: () => this.#apply(""), onkeydown: (event) => this.#key(event) });
    this.kinds = h("div", { class: "kinds", role: "group", "aria-label": "Kinds" });
    this.count = h("p", { class: "count", role: "status" });
    this.space = h("div", { class: "rows", role: "presentation" });
    this.box = h("div", { class: "list", id: "list", role: "listbox", "aria-label": "Definitions", tabindex: 0, onscroll: () => this.#render(), onkeydown: (event) => this.#key(event) }, this.space);
    fill(place, this.filter, this.kinds, this.box, this.count);
    new ResizeObserver(() => this.#render()).observe(this.box);
  }

  /** Show these items; what is chosen stays chosen. */
  show(items) {
    const chosen = this.#shown[this.#active]?.id;
    this.#items = items;
    const present = Object.keys(KINDS).filter((kind) => items.some((item) => item.kind === kind));
    if (this.#kind && !present.includes(this.#kind)) this.#kind = "";
    const choice = (kind, label, number) => button([label, h("span", { class: "number" }, String(number))], () => this.#choose(kind), { class: "kind", "aria-pressed": String(this.#kind === kind), "data-kind": kind });
    fill(this.kinds, choice("", "All", items.length), present.map((kind) => choice(kind, KINDS[kind].word, items.filter((item) => item.kind === kind).length)));
    this.#apply(chosen);
  }

  /** Mark an item as the open one. */
  mark(id) {
    this.marked = id;
    this.#rows.clear();
    this.space.replaceChildren();
    this.#render();
  }

  #choose(kind) {
    this.#kind = kind;
    for (const each of this.kinds.children) each.setAttribute("aria-pressed", String(each.dataset.kind === kind));
    this.#apply();
  }

  #apply(chosen = this.marked) {
    this.#shown = filtered(this.#items, this.filter.value, this.#kind);
    this.#active = this.#shown.findIndex((item) => item.id === chosen);
    const all = this.#items.length;
    this.count.textContent = this.#shown.length === all ? "" : `${this.#shown.length} of ${all}`;
    this.space.style.height = `${this.#shown.length * ROW}px`;
    this.box.scrollTop = 0;
    this.#rows.clear();
    this.space.replaceChildren();
    this.#render();
  }

  #render() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - BESIDE);
    const last = Math.min(this.#shown.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + BESIDE);
    for (const [at, row] of this.#rows) {
      if (at >= first && at < last) continue;
      row.remove();
      this.#rows.delete(at);
    }
    for (let at = first; at < last; at += 1) {
      if (!this.#rows.has(at)) {
        const row = this.#row(at);
        this.#rows.set(at, row);
        this.space.append(row);
      }
    }
    for (const [at, row] of this.#rows) row.classList.toggle("active", at === this.#active);
    const active = this.#rows.get(this.#active);
    if (active) this.box.setAttribute("aria-activedescendant", active.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  #row(at) {
    const item = this.#shown[at];
    const row = h("div", { class: "row", id: `item-${at}`, role: "option", "aria-selected": String(item.id === this.marked), "aria-setsize": this.#shown.length, "aria-posinset": at + 1, "data-kind": item.kind, onclick: () => this.#pick(at) },
      h("span", { class: "sign", "aria-hidden": "true" }, KINDS[item.kind].sign),
      h("span", { class: "offscreen" }, `${item.kind} `),
      h("bdi", { class: "name" }, visible(item.key, 200)),
      h("bdi", { class: "about" }, item.about || visible(item.title, 200)));
    row.style.top = `${at * ROW}px`;
    return row;
  }

  #pick(at) {
    this.#active = at;
    this.open(this.#shown[at]);
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const isText = event.target === this.filter;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, ...(isText ? {} : { Home: -Infinity, End: Infinity }) }[event.key];
    if (step !== undefined && this.#shown.length) {
      event.preventDefault();
      this.#active = Math.max(0, Math.min(this.#shown.length - 1, this.#active + step));
      this.#reveal();
    } else if (event.key === "Enter" && this.#shown.length) {
      event.preventDefault();
      this.#pick(Math.max(0, this.#active));
    } else if (event.key === "Escape" && this.filter.value) {
      event.stopPropagation();
      this.filter.value = "";
      this.#apply();
    }
  }

  #reveal() {
    const top = this.#active * ROW;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + ROW > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + ROW - this.box.clientHeight;
    this.#render();
  }
}
