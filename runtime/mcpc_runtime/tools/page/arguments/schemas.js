// What a form has to know of the schema of one property: the ways to give its value, its bounds, and what it suggests.
// A form is a hint: the server's validator decides.  Names of a schema are data, so they are read as own properties only.

const MAX_STEPS = 20; // references that are followed one after another
const MAX_BRANCHES = 200; // of anyOf and oneOf, for one property
const MAX_SUGGESTIONS = 5;
const LABELS = { string: "text", number: "number", integer: "integer" };
export const NOT_SET = "not set";
export const JSON_OPTION = Object.freeze({ label: "JSON", kind: "json" });

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value) => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
const textOf = (value) => (typeof value === "string" ? value.trim() : "");
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Return an own property of an object, or undefined. */
export function own(value, name) {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Return a schema with its local reference, or its only part of allOf, in it; an empty one for true, false and others. */
export function resolved(schema, root) {
  let found = isObject(schema) ? schema : {};
  for (let left = MAX_STEPS; left > 0; left -= 1) {
    const { $ref, ...besides } = found;
    const { allOf, ...rest } = besides;
    const target = typeof $ref === "string" ? pointed(root, $ref) : listOf(allOf).length === 1 ? listOf(allOf)[0] : undefined;
    if (!isObject(target)) return found;
    found = { ...target, ...(typeof $ref === "string" ? besides : rest) };
  }
  return found;
}

function pointed(root, reference) {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  try {
    return tokensOf(decodeURIComponent(reference.slice(1))).reduce((found, token) => (Array.isArray(found) ? found[token] : own(found, token)), root);
  } catch {
    return undefined;
  }
}

/** Return the names of a JSON Pointer. */
export function tokensOf(pointer) {
  return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Return the ways to give a value: { label, source } for a whole value, { label, kind, schema } for a text or number, JSON. */
export function optionsOf(schema, root) {
  const known = new Map([...flatOptions(schema, root, { left: MAX_BRANCHES }), JSON_OPTION].map((option) => [option.source ?? option.kind, option]));
  if (known.has("number")) known.delete("integer");
  return [...known.values()];
}

/** Return the options of the flat types; what else a schema allows is given as JSON. */
function flatOptions(schema, root, budget) {
  if (Object.hasOwn(schema, "const")) return literals([schema.const], [schema.title]);
  if (Array.isArray(schema.enum)) return literals(schema.enum, listOf(schema.enumNames ?? schema["x-enumNames"]));
  const types = [...listOf(schema.type), ...(schema.nullable === true ? ["null"] : [])];
  if (types.length > 0) return types.flatMap((type) => typeOptions(schema, type));
  return listOf(schema.anyOf ?? schema.oneOf).flatMap((branch) => (budget.left-- > 0 ? flatOptions(resolved(branch, root), root, budget) : []));
}

function typeOptions(schema, type) {
  if (type === "boolean") return literals([true, false]);
  if (type === "null") return literals([null]);
  return Object.hasOwn(LABELS, type) ? [{ label: LABELS[type], kind: type, schema }] : [];
}

function literals(values, titles = []) {
  const option = (value, title) => {
    const text = labelOf(value);
    return { source: JSON.stringify(value), label: title === "" || title === text ? text : `${cut(title, 60)} (${text})` };
  };
  return values.flatMap((value, at) => (isExact(value) ? [option(value, textOf(titles[at]))] : []));
}

/** Whether a value of a schema is still what the server wrote: larger whole numbers may have lost digits when they were parsed. */
function isExact(value) {
  if (typeof value === "number") return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return typeof value !== "object" || value === null || Object.values(value).every(isExact);
}

/** Return what stands for a value in a list: a text without quotes unless it could be taken for something else. */
function labelOf(value) {
  const isPlain = typeof value === "string" && /^[^\s"[\]{}](?:.*\S)?$/u.test(value) && !/^(?:null|true|false|JSON|not set|-?\d[\d.eE+-]*)$/.test(value);
  return cut(isPlain ? value : JSON.stringify(value), 80);
}

const isText = (source) => source.startsWith('"');
const isNumber = (source) => /^[-\d]/.test(source);
const FITS = { string: isText, number: isNumber, integer: (source) => isNumber(source) && !/[.eE]/.test(source), json: () => true };

/** Return the option that shows the JSON text of a value; for undefined the first with a control, if there is one. */
export function optionFor(options, source) {
  if (source === undefined) return options.find(({ kind }) => kind !== undefined && kind !== "json") ?? (options.length === 1 ? JSON_OPTION : undefined);
  const written = isText(source) ? JSON.stringify(JSON.parse(source)) : source;
  return options.find((option) => (option.kind === undefined ? option.source === written : FITS[option.kind](source)));
}

/** Return the JSON text of the only value that a schema allows, or undefined. */
export function constantOf(schema) {
  const values = Object.hasOwn(schema, "const") ? [schema.const] : listOf(schema.enum);
  return values.length === 1 && isExact(values[0]) ? JSON.stringify(values[0]) : undefined;
}

/** Return the values that a schema suggests: [{ word: "default" | "example", source, label }]. */
export function suggestionsOf(schema) {
  const examples = listOf(schema.examples).slice(0, MAX_SUGGESTIONS).map((value) => ["example", value]);
  const values = schema.default === undefined ? examples : [["default", schema.default], ...examples];
  return values.filter(([, value]) => isExact(value)).map(([word, value]) => ({ word, source: JSON.stringify(value), label: labelOf(value) }));
}

/** Return what stands in an empty control: what the server takes then, or what a value looks like. */
export function placeholderOf(schema, isRequired) {
  const [first] = suggestionsOf(schema);
  if (first === undefined) return isRequired ? "" : NOT_SET;
  return first.word === "default" ? `${first.label} by default` : `such as ${first.label}`;
}

function range(from, to, unit = "") {
  if (from === undefined && to === undefined) return "";
  if (from === undefined) return `at most ${to}${unit}`;
  if (to === undefined) return `at least ${from}${unit}`;
  return from === to ? `exactly ${from}${unit}` : `${from} to ${to}${unit}`;
}

const size = (least, most, one) => range(least, most, ` ${one}${(most ?? least) === 1 ? "" : "s"}`);

/** Return the type and the bounds of a property in a few words. */
export function hintOf(schema, option) {
  const about = option?.schema ?? schema;
  const kind = option?.kind === "json" ? listOf(about.type).join(" or ") : option?.label;
  const facts = [
    option?.source === undefined ? kind : "",
    textOf(about.format),
    size(about.minLength, about.maxLength, "character"),
    about.pattern === undefined ? "" : `matches ${about.pattern}`,
    range(about.minimum, about.maximum),
    about.exclusiveMinimum === undefined ? "" : `above ${about.exclusiveMinimum}`,
    about.exclusiveMaximum === undefined ? "" : `below ${about.exclusiveMaximum}`,
    about.multipleOf === undefined ? "" : `multiple of ${about.multipleOf}`,
    size(about.minItems, about.maxItems, "item"),
    about.uniqueItems === true ? "no two equal" : "",
  ];
  return cut(facts.filter((text) => typeof text === "string" && text !== "").join(", "), 200);
}

/** Return a schema's title and description as one text; the title only if it is not the name in other letters. */
export function descriptionOf(schema, name) {
  const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const title = letters(textOf(schema.title)) === letters(name) ? "" : textOf(schema.title);
  return [title, textOf(schema.description)].filter((text) => text !== "").join(/[.!?:]$/.test(title) ? " " : ". ");
}
