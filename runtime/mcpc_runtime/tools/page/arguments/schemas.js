/* What a form has to know of a JSON Schema: references followed, allOf merged, and the ways to fill a place.

A form is a hint: the server's validator decides. So keywords that no control shows (not, if, contains) are passed
over, drafts are not told apart, and what cannot be merged is left to the raw JSON field.  Names of a schema are data:
they are read with `own`, and kept in objects without prototype. */

import { fromValue, get, keyOf, number, object, member, same, string, literal, write } from "./lossless_json.js";

const MOST_STEPS = 5000;
const INDEXED = 20000;
const SEEN = Symbol("references followed");
const NEVER = Object.freeze({ enum: [] });
const TYPES = ["string", "number", "boolean", "object", "array", "null"];
const SUGGESTS = {
  object: ["properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"],
  array: ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "additionalItems"],
  string: ["minLength", "maxLength", "pattern", "format", "contentMediaType"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
};
export const TYPE_LABELS = { string: "text", number: "number", integer: "integer", object: "object", array: "list" };

/** Return the own property of an object, or undefined. */
export function own(value, name) {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const listOf = (value) => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
const textOf = (value) => (typeof value === "string" && value.trim() !== "" ? value : undefined);

/** The schemas of one document. */
export class Schemas {
  constructor(root) {
    this.root = root;
    this.known = new WeakMap();
  }

  /** Return a schema as one object without $ref and allOf. */
  expand(schema, seen = []) {
    if (schema === false) return NEVER;
    if (!isObject(schema)) return Object.create(null);
    if (seen.length > 0) return this.expandObject(schema, seen);
    if (!this.known.has(schema)) this.known.set(schema, this.begin().expandObject(schema, seen));
    return this.known.get(schema);
  }

  begin() {
    this.steps = MOST_STEPS;
    return this;
  }

  expandObject(schema, seen) {
    const result = Object.assign(Object.create(null), schema, { [SEEN]: [...seen, schema] });
    for (const part of this.partsOf(schema)) {
      if (seen.includes(part) || this.steps-- <= 0) continue;
      const other = this.expand(part, [...result[SEEN], part]);
      merge(result, other);
      result[SEEN] = [...new Set([...result[SEEN], part, ...(other[SEEN] ?? [])])];
    }
    for (const name of ["$ref", "$dynamicRef", "$recursiveRef", "allOf"]) delete result[name];
    if (result.nullable === true && typeof result.type === "string") result.type = [result.type, "null"];
    return result;
  }

  partsOf(schema) {
    const references = ["$ref", "$dynamicRef", "$recursiveRef"].map((name) => own(schema, name));
    const targets = references.filter((one) => typeof one === "string").map((one) => this.target(one, schema));
    return [...targets, ...listOf(own(schema, "allOf"))].filter((part) => part !== undefined && part !== true);
  }

  /** Return the schema that a reference names, or undefined. */
  target(reference, from) {
    if (reference === "#") return this.root;
    const local = reference.startsWith("#/") ? this.pointed(this.root, reference.slice(1)) : undefined;
    return local ?? this.named(reference, from);
  }

  pointed(start, pointer) {
    let found = start;
    for (const token of tokensOf(decoded(pointer))) {
      found = Array.isArray(found) ? found[Number(token)] : own(found, token);
    }
    return found;
  }

  named(reference, from) {
    this.index ??= new Index(this.root);
    const [base, fragment = ""] = absolute(reference, this.index.bases.get(from) ?? "").split("#");
    const exact = this.index.places.get(`${base}#${fragment}`);
    if (exact !== undefined || !fragment.startsWith("/")) return exact;
    return this.pointed(this.index.places.get(`${base}#`), fragment);
  }

  /** Return the ways to fill a place: [{label, literal}] for a whole value, [{label, type, schema}] for a control. */
  options(schema) {
    const branches = this.begin().branches(this.expand(schema));
    const found = branches.flatMap((branch) => optionsOf(branch, branches.length > 1));
    const keys = new Set();
    return withDistinctLabels(found.filter(({ key }) => key === undefined || keys.size < keys.add(key).size));
  }

  branches(schema) {
    const keyword = ["oneOf", "anyOf"].find((name) => Array.isArray(schema[name]) && schema[name].some(saysMore));
    if (keyword === undefined) return [schema];
    const { title, description, default: _, examples, ...base } = schema;
    delete base[keyword];
    return schema[keyword].flatMap((branch) => this.branch(branch, base, schema[SEEN] ?? []));
  }

  branch(branch, base, seen) {
    if (this.partsOf(isObject(branch) ? branch : {}).some((part) => seen.includes(part))) return [];
    if (this.steps-- <= 0) return [];
    const named = isObject(branch) && typeof branch.$ref === "string" ? decoded(branch.$ref.split("/").at(-1)) : undefined;
    const expanded = this.expandObject(isObject(branch) ? branch : branch === false ? NEVER : {}, seen);
    merge(expanded, base);
    return this.branches(Object.assign(expanded, { [SEEN]: expanded[SEEN] ?? seen, referred: named }));
  }
}

/** Where a document's $id and anchors are: schemas by absolute name, and the base of each schema. */
class Index {
  constructor(root) {
    this.places = new Map([["#", root]]);
    this.bases = new WeakMap();
    this.left = INDEXED;
    this.walk(root, "");
  }

  walk(value, base) {
    if (typeof value !== "object" || value === null || this.left-- <= 0) return;
    const id = textOf(own(value, "$id"));
    const here = id === undefined ? base : this.name(value, absolute(id, base));
    this.bases.set(value, here);
    for (const anchor of ["$anchor", "$dynamicAnchor"]) {
      if (textOf(own(value, anchor))) this.add(`${here}#${value[anchor]}`, value);
    }
    for (const inner of Object.values(value)) this.walk(inner, here);
  }

  name(value, id) {
    const [base, fragment = ""] = id.split("#");
    this.add(`${base}#${fragment}`, value);
    return base;
  }

  add(name, value) {
    if (!this.places.has(name)) this.places.set(name, value);
  }
}

function absolute(reference, base) {
  try {
    return new URL(reference, base || "schema:/").href.replace(/^schema:\/(?=#|$)/, "");
  } catch {
    return reference;
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Return the names of a JSON Pointer. */
export function tokensOf(pointer) {
  return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const MERGED = {
  required: (one, other) => [...new Set([...listOf(one), ...listOf(other)])],
  type: (one, other) => common(listOf(one), listOf(other)),
  enum: (one, other) => listOf(one).filter((value) => listOf(other).some((it) => same(fromValue(value), fromValue(it)))),
  properties: byName,
  patternProperties: byName,
  items: both,
  additionalProperties: both,
};

/** Add to `target` what `other` says besides. */
function merge(target, other) {
  for (const name of Object.keys(other)) {
    const here = own(target, name);
    if (here === undefined) target[name] = other[name];
    else if (Object.hasOwn(MERGED, name)) target[name] = MERGED[name](here, other[name]);
  }
}

function common(one, other) {
  const has = (types, type) => types.includes(type) || (type === "integer" && types.includes("number"));
  return [...new Set([...one.filter((type) => has(other, type)), ...other.filter((type) => has(one, type))])];
}

function byName(one, other) {
  const merged = Object.assign(Object.create(null), one);
  for (const name of Object.keys(isObject(other) ? other : {})) {
    const here = own(merged, name);
    merged[name] = here === undefined ? other[name] : both(here, other[name]);
  }
  return merged;
}

function both(one, other) {
  return one === other ? one : { allOf: [one, other] };
}

/** Whether a branch of oneOf or anyOf differs in more than what is required. */
function saysMore(branch) {
  const silent = ["required", "not", "description", "title", "if", "dependentRequired"];
  return !isObject(branch) || Object.keys(branch).length === 0 || Object.keys(branch).some((name) => !silent.includes(name));
}

function optionsOf(branch, chosen) {
  if (Object.hasOwn(branch, "const")) return [literalOption(branch.const, chosen ? textOf(branch.title) : undefined)];
  if (Array.isArray(branch.enum)) return branch.enum.map((value, at) => literalOption(value, nameOf(branch, at)));
  return typesOf(branch, chosen).flatMap((type) => optionsOfType(branch, type, chosen));
}

function nameOf(branch, at) {
  return textOf(listOf(branch.enumNames)[at] ?? listOf(branch["x-enumNames"])[at]);
}

function literalOption(value, title) {
  const node = fromValue(value);
  const text = labelOf(node);
  return { literal: node, key: keyOf(node), label: title === undefined || title === text ? text : `${title} (${text})` };
}

/** Return what stands for a value in a list: a text without quotes unless it could be taken for something else. */
export function labelOf(node) {
  if (node.kind !== "string") return cut(write(node, 0), 60);
  const plain = /^[^\s"[\]{}](?:.*\S)?$/u.test(node.value) && !/^(?:null|true|false|JSON|left out|-?\d[\d.eE+-]*)$/.test(node.value);
  return cut(plain ? node.value : node.source, 80);
}

export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Return the types of a place; without `type` those that its keywords are about come first. */
function typesOf(branch, chosen) {
  const declared = listOf(branch.type).filter((type) => type === "integer" || TYPES.includes(type));
  if (branch.type !== undefined) return declared.filter((type) => type !== "integer" || !declared.includes("number"));
  const suggested = Object.keys(SUGGESTS).filter((type) => SUGGESTS[type].some((name) => Object.hasOwn(branch, name)));
  return suggested.length > 0 && chosen ? suggested : [...new Set([...suggested, ...TYPES])];
}

function optionsOfType(branch, type, chosen) {
  if (type === "null") return [literalOption(null)];
  if (type === "boolean") return [literalOption(true), literalOption(false)];
  const tag = type === "object" ? tagOf(branch) : undefined;
  const title = chosen ? textOf(branch.title) ?? tag ?? (type === "object" ? branch.referred : undefined) : undefined;
  return [{ type, schema: branch, label: title === undefined ? TYPE_LABELS[type] : cut(title, 60) }];
}

function tagOf(branch) {
  const tags = Object.values(branch.properties ?? {}).map(constantOf).filter((value) => typeof value === "string");
  return tags[0];
}

/** Return the only value that a schema allows, or undefined. */
export function constantOf(schema) {
  const values = isObject(schema) && Object.hasOwn(schema, "const") ? [schema.const] : listOf(own(schema, "enum"));
  return values.length === 1 ? values[0] : undefined;
}

function withDistinctLabels(options) {
  const counts = new Map();
  for (const { label } of options) counts.set(label, (counts.get(label) ?? 0) + 1);
  const seen = new Map();
  return options.map((option) => {
    if (counts.get(option.label) === 1) return option;
    seen.set(option.label, (seen.get(option.label) ?? 0) + 1);
    return { ...option, label: `${option.label} ${seen.get(option.label)}` };
  });
}

const KIND_TYPES = { string: ["string"], number: ["number", "integer"], object: ["object"], array: ["array"], literal: [] };

/** Return the option that shows a node, or undefined: equal literals first, then the form that fits best. */
export function optionFor(options, node) {
  const key = options.some((option) => option.literal) ? keyOf(node) : "";
  const equal = options.find((option) => option.key === key);
  if (equal !== undefined) return equal;
  const fitting = options.filter((option) => KIND_TYPES[node.kind].includes(option.type));
  const scores = fitting.map((option) => score(option, node));
  return fitting[scores.indexOf(Math.max(...scores))];
}

function score(option, node) {
  if (option.type === "integer") return node.source.includes(".") ? 0 : 2;
  if (option.type !== "object") return 1;
  const { properties = {}, additionalProperties } = option.schema;
  const missing = listOf(option.schema.required).filter((name) => get(node, name) === undefined).length;
  let points = -missing;
  for (const { name, value } of node.members) {
    const schema = own(properties, name);
    if (schema === undefined) points -= additionalProperties === false ? 2 : 0.5;
    else points += agreement(schema, value);
  }
  return points;
}

function agreement(schema, value) {
  const constants = isObject(schema) && Object.hasOwn(schema, "const") ? [schema.const] : own(schema, "enum");
  if (!Array.isArray(constants)) return 0.5;
  return constants.some((one) => same(fromValue(one), value)) ? 10 / constants.length : -100;
}

/** Return the value that an option begins with when the user chooses it. */
export function blank(option) {
  if (option.literal !== undefined) return option.literal;
  const { schema, type } = option;
  if (schema.default !== undefined) {
    const node = fromValue(schema.default);
    if (KIND_TYPES[node.kind].includes(type)) return node;
  }
  if (type === "string") return string("");
  if (type === "array") return fromValue([]);
  return type === "object" ? object(constants(schema)) : number(String(least(schema)));
}

function constants(schema) {
  const tags = Object.keys(schema.properties ?? {}).filter((name) => listOf(schema.required).includes(name));
  const known = tags.map((name) => [name, constantOf(schema.properties[name])]);
  return known.filter(([, value]) => value !== undefined).map(([name, value]) => member(name, fromValue(value)));
}

function least(schema) {
  return Number(schema.minimum) > 0 || Number(schema.maximum) < 0 ? schema.minimum ?? schema.maximum : 0;
}

/** Return what a new item or property begins with. */
export function firstValue(options) {
  return options.length === 0 ? literal("null") : blank(options[0]);
}
