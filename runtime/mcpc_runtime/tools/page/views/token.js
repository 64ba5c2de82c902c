// The question for a token, when the server wants one.

import { button, h } from "../dom.js";
import { visible } from "../text.js";

/** Ask for a token; `use(token)` is called with it. */
export function askToken(use, reason = "") {
  if (document.getElementById("token-dialog")) return;
  const input = h("input", { id: "token-value", type: "password", autocomplete: "off", spellcheck: "false" });
  const dialog = h("dialog", { id: "token-dialog", "aria-labelledby": "token-title", onclose: () => dialog.remove() });
  const send = (event) => {
    event.preventDefault();
    dialog.close();
    use(input.value.trim());
  };
  dialog.append(h("form", { onsubmit: send }, h("h2", { id: "token-title" }, "Token"), reason ? h("p", { class: "problem" }, visible(reason, 500)) : null, h("label", { for: "token-value" }, "Bearer token, kept in this tab only"), input, h("div", { class: "bar" }, h("button", { type: "submit", class: "primary" }, "Use"), button("Close", () => dialog.close()))));
  document.body.append(dialog);
  dialog.showModal();
}
