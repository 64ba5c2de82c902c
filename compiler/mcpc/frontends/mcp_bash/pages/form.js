const form = made("form");
if (config.description) view.append(made("p", config.description));
for (const field of config.fields || []) {
  const id = `field-${field.name}`;
  const shared = { id, name: field.name, required: field.required === true };
  const value = field.default === undefined ? "" : field.default;
  let input;
  if (field.type === "select") {
    input = made("select", undefined, shared);
    for (const option of field.options || []) {
      input.append(made("option", option, { value: option, selected: String(option) === String(value) }));
    }
  } else if (field.type === "textarea") {
    input = made("textarea", value, { ...shared, placeholder: field.placeholder });
  } else if (field.type === "checkbox") {
    input = made("input", undefined, { ...shared, type: "checkbox", checked: value === true });
  } else {
    input = made("input", undefined, { ...shared, type: field.type || "text", placeholder: field.placeholder, value });
  }
  form.append(made("label", (field.label || field.name) + (field.required ? " *" : ""), { for: id }), input);
}
const actions = made("div", undefined, { class: "actions" });
const send = made("button", "Submit", { type: "submit" });
if (config.cancelable) {
  const cancel = made("button", "Cancel", { type: "button" });
  cancel.addEventListener("click", () => say("Form cancelled"));
  actions.append(cancel);
}
actions.append(send);
form.append(actions);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  send.disabled = true;
  status("Sending …");
  const data = Object.fromEntries(new FormData(form));
  for (const box of form.querySelectorAll("input[type=checkbox]")) data[box.name] = box.checked;
  for (const box of form.querySelectorAll("input[type=number]")) {
    if (box.value === "") delete data[box.name];
    else data[box.name] = box.valueAsNumber;
  }
  try {
    if (config.submitTool) await call(config.submitTool, { ...(config.submitArgs || {}), ...data });
    status("Sent.");
    say(`Form submitted: ${JSON.stringify(data)}`);
  } catch (problem) {
    status(`It failed: ${problem.message}`);
  } finally {
    send.disabled = false;
  }
});
view.append(form);
begin(() => {});
