/* JSON without loss: a document as nodes that keep how each string and number was written.

A node is frozen and one of
  {kind: "object", members: [{name, source, value}]}   source: the name as written, with its quotes
  {kind: "array", items: [node]}
  {kind: "string", value, source}
  {kind: "number", source}                             20 digits, 1.0 and -0 stay what they are
  {kind: "literal", source}                            null, true, false
Names are never properties of JavaScript objects: `__proto__` and `constructor` are names as any other. */

const DEEPEST = 500;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"/y;
const WORDS = ["null", "true", "false"];

/** What is wrong with a text, and where: `line` and `column` count from 1. */
export class JsonError extends Error {
  constructor(message, text, at) {
    super(message);
    const before = text.slice(0, at).split("\n");
    this.line = before.length;
    this.column = before.at(-1).length + 1;
  }
}

/** A number of a schema or value that a JavaScript number would change. */
export class ExactNumber {
  constructor(source) {
    this.source = source;
  }
  toString() {
    return this.source;
  }
}

/** Return the node of a text; throw JsonError. */
export function parse(text) {
  return new Reader(text).document();
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
  }

  document() {
    const node = this.value();
    this.space();
    if (this.at < this.text.length) this.fail("The JSON value has ended, but text follows");
    return node;
  }

  fail(message, at = this.at) {
    throw new JsonError(message, this.text, at);
  }

  space() {
    while (" \n\r\t".includes(this.text[this.at] ?? "?")) this.at += 1;
  }

  next() {
    this.space();
    return this.text[this.at];
  }

  value() {
    const first = this.next();
    if (first === "{") return this.nested(() => this.object());
    if (first === "[") return this.nested(() => this.array());
    if (first === '"') return this.string();
    return this.word() ?? this.number();
  }

  nested(read) {
    this.depth += 1;
    if (this.depth > DEEPEST) this.fail(`Nested deeper than ${DEEPEST} levels`);
    this.at += 1;
    const node = read();
    this.at += 1;
    this.depth -= 1;
    return node;
  }

  object() {
    const members = new Map();
    if (this.next() === "}") return object([]);
    for (;;) {
      const member = this.member();
      if (members.has(member.name)) this.fail(`The name ${quoted(member.name)} stands twice in one object`, member.at);
      members.set(member.name, { name: member.name, source: member.source, value: member.value });
      if (this.more("}")) return object([...members.values()]);
    }
  }

  member() {
    if (this.next() !== '"') this.fail(this.expected('a name in double quotes'));
    const at = this.at;
    const { value: name, source } = this.string();
    if (this.next() !== ":") this.fail(this.expected('":" after the name'));
    this.at += 1;
    return { name, source, at, value: this.value() };
  }

  array() {
    const items = [];
    if (this.next() === "]") return array([]);
    for (;;) {
      items.push(this.value());
      if (this.more("]")) return array(items);
    }
  }

  more(end) {
    const found = this.next();
    if (found === end) return true;
    if (found !== ",") this.fail(this.expected(`"," or "${end}"`));
    this.at += 1;
    return false;
  }

  string() {
    STRING.lastIndex = this.at;
    const source = STRING.exec(this.text)?.[0];
    if (source === undefined) this.fail("This string has no end, or a line break that is not written as \\n");
    this.at += source.length;
    return Object.freeze({ kind: "string", value: this.unescaped(source), source });
  }

  unescaped(source) {
    try {
      return JSON.parse(source);
    } catch {
      return this.fail("Unknown escape in a string", this.at - source.length);
    }
  }

  word() {
    const found = WORDS.find((word) => this.text.startsWith(word, this.at));
    if (found === undefined) return undefined;
    this.at += found.length;
    return literal(found);
  }

  number() {
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (found === null) this.fail(this.expected("a JSON value"));
    this.at += found[0].length;
    return number(found[0]);
  }

  expected(what) {
    const found = this.text.slice(this.at, this.at + 12).split("\n")[0];
    return found === "" ? `Expected ${what}, found the end` : `Expected ${what}, found ${quoted(found)}`;
  }
}

const quoted = (text) => JSON.stringify(text);
export const object = (members) => Object.freeze({ kind: "object", members });
export const array = (items) => Object.freeze({ kind: "array", items });
export const number = (source) => Object.freeze({ kind: "number", source });
export const literal = (source) => Object.freeze({ kind: "literal", source });
export const string = (value) => Object.freeze({ kind: "string", value, source: quoted(value) });
export const member = (name, value) => ({ name, source: quoted(name), value });

/** Whether a text is one JSON number. */
export function isNumber(text) {
  NUMBER.lastIndex = 0;
  return NUMBER.exec(text)?.[0].length === text.length && text !== "";
}

/** Return the text of a node, two spaces a level, or on one line with `indent` 0. */
export function write(node, indent = 2, level = 1) {
  if (node.kind !== "object" && node.kind !== "array") return node.source;
  const parts =
    node.kind === "array"
      ? node.items.map((item) => write(item, indent, level + 1))
      : node.members.map((one) => `${one.source}: ${write(one.value, indent, level + 1)}`);
  const [open, close] = node.kind === "array" ? "[]" : "{}";
  if (parts.length === 0 || indent === 0) return open + parts.join(", ") + close;
  const line = `\n${" ".repeat(indent * level)}`;
  return open + line + parts.join(`,${line}`) + line.slice(0, -indent) + close;
}

/** Return the JavaScript value of a node; `exact`: with ExactNumber where a number would be changed. */
export function toValue(node, exact = false) {
  if (node.kind === "array") return node.items.map((item) => toValue(item, exact));
  if (node.kind === "object") return toObject(node.members, exact);
  if (exact && node.kind === "number" && fromValue(Number(node.source)).source !== node.source) {
    return new ExactNumber(node.source);
  }
  return JSON.parse(node.source);
}

function toObject(members, exact) {
  const made = {};
  for (const { name, value } of members) {
    const property = { value: toValue(value, exact), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(made, name, property);
  }
  return made;
}

/** Return the node of a JavaScript value (bigint and ExactNumber too). */
export function fromValue(value) {
  if (typeof value === "string") return string(value);
  if (typeof value === "bigint" || value instanceof ExactNumber) return number(String(value));
  if (typeof value === "number" && Number.isFinite(value)) return number(Object.is(value, -0) ? "-0" : String(value));
  if (typeof value === "boolean") return literal(String(value));
  if (Array.isArray(value)) return array(value.map(fromValue));
  if (value === null || typeof value !== "object") return literal("null");
  const kept = Object.entries(value).filter(([, one]) => one !== undefined);
  return object(kept.map(([name, one]) => member(name, fromValue(one))));
}

/** Return a text that two nodes share if JSON Schema holds them for equal: numbers by value, members in any order. */
export function keyOf(node) {
  if (node.kind === "string") return quoted(node.value);
  if (node.kind === "number") return decimal(node.source);
  if (node.kind === "literal") return node.source;
  if (node.kind === "array") return `[${node.items.map(keyOf)}]`;
  return `{${node.members.map(({ name, value }) => `${quoted(name)}:${keyOf(value)}`).sort()}}`;
}

/** Whether two nodes, or undefined, are equal. */
export function same(one, other) {
  return one === other || (one !== undefined && other !== undefined && one.kind === other.kind && keyOf(one) === keyOf(other));
}

/** Return digits and exponent of a number in one form: "1.0", "1" and "10e-1" give the same. */
function decimal(source) {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(source);
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length)}`;
}

/** Return the value of a member of an object node, or undefined. */
export function get(node, name) {
  return node.members.find((one) => one.name === name)?.value;
}
