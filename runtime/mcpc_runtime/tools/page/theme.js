// The colours: as the system, light, or dark.

const NAMES = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "○", dark: "●" };
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Make a button switch the colours. */
export function themeSwitch(button) {
  let current = localStorage.getItem("mcpc-theme") ?? "system";
  function apply() {
    if (!NAMES.includes(current)) current = "system";
    if (current === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = current;
    button.textContent = SIGNS[current];
    button.setAttribute("aria-label", `Colours: ${current === "system" ? "as the system" : current}`);
    button.title = button.getAttribute("aria-label");
  }
  button.addEventListener("click", () => {
    current = NAMES[(NAMES.indexOf(current) + 1) % NAMES.length];
    localStorage.setItem("mcpc-theme", current);
    apply();
  });
  apply();
}

/** Tell whether the page is dark. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}
