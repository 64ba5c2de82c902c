/* Dates and times: the text is the value, and a native picker beside it writes into the text.

The text may be anything: a picker that does not understand it is empty, and changes nothing. A new choice keeps the
time zone of the text. */

import { make, setAttribute } from "./dom.js";
import { textControl } from "./leaves.js";

const ZONE = "(?:\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)?";
const KINDS = {
  date: { type: "date", reads: /^(\d{4}-\d\d-\d\d)()$/, zone: "" },
  time: { type: "time", reads: new RegExp(`^(\\d\\d:\\d\\d(?::\\d\\d)?)${ZONE}$`), zone: "Z" },
  "date-time": { type: "datetime-local", reads: new RegExp(`^(\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d(?::\\d\\d)?)${ZONE}$`), zone: "Z" },
};
const WORDS = { date: "2026-01-31", time: "13:45:00Z", "date-time": "2026-01-31T13:45:00Z" };

export const isDated = (format) => typeof format === "string" && Object.hasOwn(KINDS, format);

/** A text with a picker beside it. */
export function dateControl(settings) {
  const { format } = settings.option.schema;
  const kind = KINDS[format];
  const text = textControl({ ...settings, placeholder: settings.placeholder || WORDS[format] });
  const picker = make("input", { type: kind.type, class: "arg-input arg-picker", step: kind.type === "date" ? false : "1" });
  setAttribute(picker, "aria-label", `Choose ${settings.name}`);
  const show = () => {
    picker.value = (kind.reads.exec(text.input.value)?.[1] ?? "").replace(/[t ]/, "T");
  };
  picker.addEventListener("change", () => {
    if (picker.value === "") return;
    text.input.value = withZone(picker.value, kind, text.input.value);
    text.input.dispatchEvent(new Event("input"));
  });
  text.input.addEventListener("input", show);
  show();
  return { ...text, element: make("div", { class: "arg-dated" }, text.element, picker) };
}

function withZone(chosen, kind, before) {
  if (kind.type === "date") return chosen;
  const full = /:\d\d:\d\d/.test(chosen) ? chosen : `${chosen}:00`;
  const known = kind.reads.exec(before);
  return full.replace(/\.\d+$/, "") + (known === null ? kind.zone : known[2] ?? "");
}
