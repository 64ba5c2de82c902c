// The builds of `mcpc dev`: what failed and where, warnings, and what each build changed for clients.

import { fill, h } from "../dom.js";
import { plural, visible } from "../text.js";

/** Return { element, refresh } for the builds of a Dev. */
export function buildsView(dev) {
  const element = h("div", { class: "builds" });
  function refresh() {
    fill(element, dev.builds.length ? [...dev.builds].reverse().map((build, at) => buildRow(build, at === 0)) : h("p", { class: "note" }, "There was no build yet."));
  }
  return { element, refresh };
}

/** Return the view of one build. */
export function buildRow(build, isOpen) {
  const errors = build.problems.filter(({ severity }) => severity === "error").length;
  const warnings = build.problems.length - errors;
  const counts = [errors ? plural(errors, "error") : "", warnings ? plural(warnings, "warning") : ""].filter(Boolean).join(", ");
  return h("details", { class: `build ${build.ok ? "good" : "bad"}`, open: isOpen },
    h("summary", {}, h("strong", { class: "verdict" }, build.ok ? "Built" : "Failed"), ` build ${build.number}, ${build.seconds.toFixed(1)} s`, counts ? `; ${counts}` : "", build.summary ? h("bdi", {}, ` · ${visible(build.summary, 500)}`) : null),
    build.problems.map(problem), build.more ? h("pre", { class: "code", tabindex: 0 }, visible(build.more, 20_000)) : null,
    build.changes.length ? changes(build.changes) : null);
}

function problem({ severity, plain }) {
  return h("pre", { class: `code problem-block ${severity === "error" ? "bad" : "warn"}`, tabindex: 0, "aria-label": severity }, visible(plain, 20_000));
}

function changes(rows) {
  return h("table", { class: "changes" }, h("caption", {}, "What it changes for clients"), h("tbody", {}, rows.map(({ verdict, location, message, old, now }) => h("tr", {}, h("td", { class: `tag ${verdict}` }, visible(verdict, 40)), h("td", {}, h("code", {}, visible(location, 300)), " ", visible(message, 1000), old !== undefined && now !== undefined ? h("span", { class: "note" }, " ", visible(JSON.stringify(old), 200), " → ", visible(JSON.stringify(now), 200)) : null)))));
}
