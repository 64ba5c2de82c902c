/* Controls of values without parts: text, numbers, and any subtree as raw JSON.

A control is {element, input, read()}. `read` returns the node that the control shows: the one it was made with while it
is unchanged, so that its writing survives.  `change(node)` reports a new one (undefined: left out), `fail(problem)` what
is wrong with the text typed, or null. */

import { make, setAttribute } from "./dom.js";
import { isNumber, number, parse, string, write } from "./lossless_json.js";

const MOST_ROWS = 14;
const NEEDS_NUMBER = "A number is needed";
const NO_NUMBER = "Not a JSON number; expected digits as in 12, -0.5 or 1e3";

/** Let a text area be as high as its text, where the browser does not do it (field-sizing). */
function fit(area) {
  area.rows = Math.min(area.value.split("\n").length, MOST_ROWS);
}

/** A text; Enter begins a new line. Passwords are hidden. */
export function textControl({ option, node, placeholder, change }) {
  const secret = option.schema.format === "password";
  const input = secret
    ? make("input", { type: "password", class: "arg-input", autocomplete: "off" })
    : make("textarea", { class: "arg-input", rows: "1", spellcheck: "false" });
  const read = () => (node !== undefined && input.value === node.value ? node : string(input.value));
  const show = () => setAttribute(input, "placeholder", node === undefined ? placeholder : "empty text");
  input.value = node?.value ?? "";
  input.addEventListener("input", () => {
    node = read();
    show();
    if (!secret) fit(input);
    change(node);
  });
  show();
  if (!secret) fit(input);
  return { element: input, input, read: () => (node === undefined && input.value === "" ? undefined : read()) };
}

/** A number as it is written: no digit is lost. */
export function numberControl({ option, node, placeholder, optional, change, fail }) {
  const inputmode = option.type === "integer" ? "numeric" : "decimal";
  const input = make("input", { type: "text", inputmode, class: "arg-input arg-number", autocomplete: "off" });
  setAttribute(input, "placeholder", placeholder);
  input.value = node?.source ?? "";
  input.addEventListener("input", () => {
    const text = input.value.trim();
    const empty = text === "" && optional;
    fail(empty || isNumber(text) ? null : { message: text === "" ? NEEDS_NUMBER : NO_NUMBER });
    if (empty) node = undefined;
    else if (isNumber(text)) node = text === node?.source ? node : number(text);
    else return;
    change(node);
  });
  const read = () => (input.value !== node?.source && isNumber(input.value) ? number(input.value) : node);
  return { element: input, input, read };
}

/** Any JSON as text; `text`: how it is shown first, else `node` is written. */
export function rawControl({ node, text, optional, change, fail }) {
  const shown = text ?? (node === undefined ? "" : write(node));
  const input = make("textarea", { class: "arg-input arg-raw", spellcheck: "false", autocomplete: "off", rows: "1" });
  input.value = shown;
  // The area shows "\r\n" as "\n": what is unchanged is known by the text as the area first gave it.
  const first = { value: input.value, node };
  let last = node;
  const take = () => {
    if (first.node !== undefined && input.value === first.value) last = first.node;
    else if (input.value.trim() === "" && optional) last = undefined;
    else last = parse(input.value);
  };
  const report = () => {
    try {
      take();
    } catch (problem) {
      return problem;
    }
    change(last);
    return null;
  };
  input.addEventListener("input", () => {
    fit(input);
    fail(report());
  });
  fit(input);
  return { element: input, input, read: () => last, unchanged: () => input.value === first.value };
}
