// URI templates (RFC 6570): their variables, and their expansion with texts; lists are texts with commas.

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;
const OPERATORS = {
  "": ["", ",", false, ""], "+": ["", ",", false, "", true], "#": ["#", ",", false, "", true], ".": [".", ".", false, ""],
  "/": ["/", "/", false, ""], ";": [";", ";", true, ""], "?": ["?", "&", true, "="], "&": ["&", "&", true, "="],
};
const MODIFIED = /^(.*?)(\*|:\d{1,4})?$/;

/** Return the names of the variables of a template, each once. */
export function variables(template) {
  const found = [...template.matchAll(EXPRESSION)].flatMap(([, , list]) => list.split(",").map((each) => MODIFIED.exec(each.trim())[1]));
  return [...new Set(found.filter(Boolean))];
}

const encoded = (text, keepsReserved) => (keepsReserved ? encodeURI(text).replace(/%25([0-9a-f]{2})/gi, "%$1").replace(/%5B/g, "[").replace(/%5D/g, "]") : encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`));

/** Return the URI of a template with these values; variables without a value are left out. */
export function expand(template, values) {
  return template.replace(EXPRESSION, (_, operator, list) => {
    const [first, separator, isNamed, empty, keepsReserved] = OPERATORS[operator];
    const parts = [];
    for (const each of list.split(",")) {
      const [, name, modifier] = MODIFIED.exec(each.trim());
      const value = values[name];
      if (value === undefined || value === "") continue;
      const items = modifier === "*" ? value.split(",") : [modifier ? [...value].slice(0, Number(modifier.slice(1))).join("") : value];
      const texts = items.map((item) => encoded(item, keepsReserved));
      if (modifier === "*") parts.push(...texts.map((text) => (isNamed ? `${name}=${text}` : text)));
      else parts.push(isNamed ? `${name}${texts[0] === "" ? empty : `=${texts[0]}`}` : texts[0]);
    }
    return parts.length ? first + parts.join(separator) : "";
  });
}
