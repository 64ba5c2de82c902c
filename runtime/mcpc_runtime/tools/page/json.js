// JSON as text, without loss: numbers keep their digits, members their order.  Values are parsed for decisions only.

/** A piece of JSON that is already text. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
}

/** Return the JSON text of a value, in which `Raw` pieces stay as they are. */
export function encode(value) {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => encode(item ?? null)).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${encode(item)}`).join(",")}}`;
}

const TOKEN = /-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/gy;

/** Return the place after a string that begins at a place; a regular expression would fail at very long ones. */
function endOfString(text, from) {
  let at = from + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let before = end;
    while (text[before - 1] === "\\") before -= 1;
    if ((end - before) % 2 === 0) return end + 1;
    at = end + 1;
  }
}

/** Yield the tokens of a JSON text, each with its place; the text was parsed before. */
function* tokens(text, from = 0) {
  let at = from;
  while (at < text.length) {
    const space = text.charCodeAt(at);
    if (space === 32 || (space >= 9 && space <= 13)) {
      at += 1;
      continue;
    }
    if (text[at] === '"') {
      const end = endOfString(text, at);
      yield [text.slice(at, end), at];
      at = end;
      continue;
    }
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return;
    yield [match[0], at];
    at = TOKEN.lastIndex;
  }
}

/** Return the text of the value at a path of members in a JSON text; null if there is none. */
export function member(text, path) {
  let depth = 0;
  let found = 0;
  let start = -1;
  let isName = false;
  let name = null;
  const stack = [];
  for (const [token, at] of tokens(text)) {
    if (start >= 0 && depth === found && (token === "," || token === "}" || token === "]")) return text.slice(start, at).trimEnd();
    if (token === "{" || token === "[") {
      depth += 1;
      stack.push(token);
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      depth -= 1;
      stack.pop();
      isName = false;
      if (start < 0 && depth < found) return null;
    } else if (token === ",") isName = stack.at(-1) === "{";
    else if (token === ":") {
      isName = false;
      if (start < 0 && depth === found + 1 && name === path[found]) {
        found += 1;
        if (found === path.length) start = at + 1;
      }
    } else if (isName && start < 0 && depth === found + 1) name = JSON.parse(token);
  }
  return start >= 0 ? text.slice(start).trim() : null;
}

/** Return what is wrong with a JSON text, null for nothing. */
export function syntaxError(text) {
  try {
    JSON.parse(text);
    return null;
  } catch (problem) {
    return problem.message;
  }
}

/** Return the members of an object's JSON text: the text of each value by name.  Throw SyntaxError for any other text. */
export function members(text) {
  const value = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("Expected a JSON object");
  const found = new Map();
  let depth = 0;
  let name = null;
  let start = -1;
  for (const [token, at] of tokens(text)) {
    if (depth === 1 && start >= 0 && (token === "," || token === "}")) {
      found.set(name, text.slice(start, at).trim());
      start = -1;
    }
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth === 1 && token === ":") start = at + 1;
    else if (depth === 1 && start < 0 && token !== ",") {
      name = JSON.parse(token);
      if (found.has(name)) throw new SyntaxError(`The name ${token} stands twice`);
    }
  }
  return found;
}

const KINDS = { '"': "string", t: "literal", f: "literal", n: "literal" };

/** Return pieces [kind, text] of an indented JSON text, at most `limit` characters of it, and whether that is all. */
export function indented(text, limit) {
  const pieces = [];
  let length = 0;
  let indent = 0;
  let before = "";
  const put = (kind, piece) => {
    pieces.push([kind, piece]);
    length += piece.length;
  };
  const line = () => put("", `\n${"  ".repeat(indent)}`);
  for (const [token] of tokens(text)) {
    if (length > limit) return { pieces, isAll: false };
    const closes = token === "}" || token === "]";
    if (closes) indent -= 1;
    const isEmpty = closes && (before === "{" || before === "[");
    if (!isEmpty && (closes || before === "{" || before === "[" || before === ",")) line();
    if (token === ":") {
      const last = pieces.at(-1);
      if (last) last[0] = "name";
      put("", ": ");
    } else put(KINDS[token[0]] ?? (/[-\d]/.test(token[0]) ? "number" : ""), token.length > limit ? `${token.slice(0, limit)}…` : token);
    if (token === "{" || token === "[") indent += 1;
    before = token;
  }
  return { pieces, isAll: true };
}
