// Texts of servers made visible: control characters and characters that change the reading order are spelled out.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

const code = (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** Return a text for display, of at most `limit` characters; line ends and tabs stay. */
export function visible(value, limit = 100_000) {
  const text = typeof value === "string" ? value : String(value ?? "");
  const shown = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return shown.replace(/\r\n/g, "\n").replace(HIDDEN, code);
}

/** Return the first line of a text. */
export function firstLine(value, limit = 200) {
  const text = typeof value === "string" ? value.trimStart() : "";
  return visible(text.slice(0, limit + 1).split("\n", 1)[0], limit);
}

/** Return a number of bytes for display. */
export function sizeText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Return milliseconds for display. */
export function timeText(milliseconds) {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 10_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Return the time of a day, in 24 hours. */
export const clock = (date) => date.toLocaleTimeString("en-GB");

/** Return a noun with its number. */
export const plural = (number, word) => (number === 1 ? `1 ${word}` : `${number} ${word}s`);
