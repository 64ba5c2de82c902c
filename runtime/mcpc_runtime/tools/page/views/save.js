// Save a request and its result as a case of `mcpc test`; only `mcpc dev` has a project to save it in.

import { button, h } from "../dom.js";
import { Raw } from "../json.js";
import { visible } from "../text.js";

/** Return the button that saves a case; null where there is no project. */
export function saveMenu(what, page) {
  if (!page.dev) return null;
  return button("Save as a test", (event) => openForm(event.currentTarget, what(), page), { class: "small quiet" });
}

function openForm(asked, what, page) {
  const dialog = h("dialog", { "aria-labelledby": "save-title", onclose: () => { dialog.remove(); asked.focus(); } });
  const subject = what.name ?? what.uri;
  const name = h("input", { id: "save-name", value: `${subject}`.slice(0, 80), maxlength: 200, required: true });
  const era = h("select", { id: "save-era" }, [["", "both eras"], ["stateless", "stateless"], ["handshake", "handshake"]].map(([value, label]) => h("option", { value }, label)));
  const kinds = expectations(what);
  const expect = h("select", { id: "save-expect" }, kinds.map(([label], at) => h("option", { value: at }, label)));
  const problem = h("p", { class: "problem", role: "alert" });
  const done = h("p", { class: "note", role: "status" });
  async function save(event) {
    event.preventDefault();
    problem.textContent = "";
    const chosen = kinds[Number(expect.value)][1];
    const called = { [what.kind]: subject, ...(what.kind === "resource" ? {} : { arguments: new Raw(what.text || "{}") }), expect: chosen };
    const body = { name: name.value.trim(), ...(era.value ? { era: era.value } : {}), ...(chosen === what.suggested?.expect ? what.suggested : called) };
    try {
      const saved = await page.dev.saveTest(body);
      done.textContent = `saved in ${visible(saved.path, 300)}`;
      setTimeout(() => dialog.close(), 900);
    } catch (failure) {
      problem.textContent = visible(failure.message, 1000);
    }
  }
  dialog.append(h("form", { onsubmit: save }, h("h2", { id: "save-title" }, "Save as a test"), h("label", { for: "save-name" }, "Name"), name, h("label", { for: "save-era" }, "Era"), era, h("label", { for: "save-expect" }, "Expect"), expect, problem, done, h("div", { class: "bar" }, h("button", { type: "submit", class: "primary" }, "Save"), button("Close", () => dialog.close()))));
  document.body.append(dialog);
  dialog.showModal();
  name.select();
}

/** Return what a case may expect, by what came back: [label, expectation]. */
function expectations(what) {
  const result = what.answer?.result;
  const rows = [];
  if (result?.isError === true) rows.push(["a tool error", { error: true }]);
  const texts = (Array.isArray(result?.content) ? result.content : []).filter((block) => block?.type === "text").map((block) => block.text);
  if (texts.length === 1 && !result.isError) rows.push(["this text", { text: texts[0] }]);
  if (what.entry?.outputSchema && !result?.isError) rows.push(["a result that fits the output schema", { schema: true }]);
  rows.push(["no error", {}]);
  if (what.suggested) rows.push([`these suggestions for ${visible(what.suggested.complete.argument, 80)}`, what.suggested.expect]);
  return rows;
}
