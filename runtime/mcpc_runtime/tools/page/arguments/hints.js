/* What is said beside a field in few words: its type, its bounds, its default. All of it is text. */

import { cut, isObject, labelOf } from "./schemas.js";
import { fromValue } from "./lossless_json.js";

const SHOWN = 5;
const count = (value) => (value === undefined ? undefined : String(value));

function range(from, to, one = "", several = one) {
  if (from === undefined && to === undefined) return undefined;
  const unit = (to ?? from) === "1" ? one : several;
  if (from === undefined) return `at most ${to}${unit}`;
  if (to === undefined) return `at least ${from}${unit}`;
  return from === to ? `exactly ${from}${unit}` : `${from} to ${to}${unit}`;
}

const BOUNDS = {
  string: (s) => [s.format, range(count(s.minLength), count(s.maxLength), " character", " characters"), s.pattern && `matches ${s.pattern}`],
  number: (s) => [
    range(count(s.minimum), count(s.maximum)),
    s.exclusiveMinimum !== undefined && `above ${s.exclusiveMinimum}`,
    s.exclusiveMaximum !== undefined && `below ${s.exclusiveMaximum}`,
    s.multipleOf !== undefined && `multiple of ${s.multipleOf}`,
  ],
  array: (s) => [range(count(s.minItems), count(s.maxItems), " item", " items"), s.uniqueItems === true && "no two equal"],
  object: (s) => [range(count(s.minProperties), count(s.maxProperties), " property", " properties")],
};
BOUNDS.integer = BOUNDS.number;

/** Return the bounds of a field's option, "1 to 10", after the kinds of value that it takes if none is given yet. */
export function hintOf(option, options, isGiven) {
  if (option?.type === undefined) return "";
  const kinds = options.filter(({ type }) => type !== undefined).map(({ label }) => label);
  const isAny = ["text", "number", "object", "list"].every((label) => kinds.includes(label));
  const kind = isGiven ? "" : isAny ? "anything" : cut(kinds.join(" or "), 80);
  return cut([kind, ...BOUNDS[option.type](option.schema)].filter((part) => typeof part === "string" && part !== "").join(", "), 200);
}

/** Return the values that a schema suggests: [{word: "default" | "example", node, text}]. */
export function suggestionsOf(schema) {
  const found = schema.default === undefined ? [] : [suggestion("default", schema.default)];
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  return [...found, ...examples.slice(0, SHOWN).map((value) => suggestion("example", value))];
}

function suggestion(word, value) {
  const node = fromValue(value);
  return { word, node, text: labelOf(node) };
}

/** Return what a closed object or list holds: "3 properties". */
export function summaryOf(node) {
  if (node === undefined) return "";
  const [many, one, several] =
    node.kind === "array" ? [node.items.length, "item", "items"] : [node.members.length, "property", "properties"];
  return many === 0 ? "empty" : `${many} ${many === 1 ? one : several}`;
}

/** Return a schema's description and title as one text; the title only if it is not the name in other letters. */
export function describe(schema, name) {
  const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const said = isObject(schema) ? schema : {};
  const title = typeof said.title === "string" && letters(said.title) !== letters(name) ? said.title.trim() : "";
  const description = typeof said.description === "string" ? said.description.trim() : "";
  return [title, description].filter((text) => text !== "").join(title !== "" && !/[.!?:]$/.test(title) ? ". " : " ");
}
