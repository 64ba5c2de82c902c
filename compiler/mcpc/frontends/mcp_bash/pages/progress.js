const bar = made("progress", undefined, { max: 100, "aria-label": config.title });
const steps = made("ol");
view.append(bar, steps);
if (config.cancelTool) {
  const actions = made("div", undefined, { class: "actions" });
  const cancel = made("button", "Cancel", { type: "button" });
  // A host may not let a page ask in a window of its own, so the same button asks: press it twice.
  cancel.addEventListener("click", async () => {
    if (!cancel.dataset.asked) {
      cancel.dataset.asked = "yes";
      cancel.textContent = config.cancelConfirm || "Press again to cancel";
      return;
    }
    cancel.disabled = true;
    try {
      await call(config.cancelTool, {});
      status("Cancelled.");
      say("Operation cancelled");
    } catch (problem) {
      status(`It failed: ${problem.message}`);
    }
  });
  actions.append(cancel);
  view.append(actions);
}
begin((data) => {
  const said = data !== null && typeof data === "object" ? data : { message: data };
  const percent = Number(said.percent ?? said.progress);
  if (Number.isFinite(percent)) {
    bar.value = Math.min(Math.max(percent, 0), 100);
    if (config.showPercentage !== false) status(`${Math.round(bar.value)} %`);
  }
  const step = said.message ?? said.step ?? JSON.stringify(said);
  if (config.showCurrentStep !== false) steps.append(made("li", step));
});
