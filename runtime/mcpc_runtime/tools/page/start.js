// What the address of the page says: tokens in its fragment, which are taken out at once, and the definition that is open.

const KEPT = { token: "mcpc-token", dev: "mcpc-dev" };

/** Return { token, dev, open } of the address; tokens are kept for this tab only. */
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const [name, key] of Object.entries(KEPT)) {
    if (given.has(name)) sessionStorage.setItem(key, given.get(name));
    found[name] = sessionStorage.getItem(key) ?? "";
    given.delete(name);
  }
  found.open = given.get("open") ?? "";
  history.replaceState(null, "", found.open ? `#${new URLSearchParams({ open: found.open })}` : location.pathname);
  return found;
}

/** Keep a token for this tab. */
export function keepToken(token) {
  sessionStorage.setItem(KEPT.token, token);
}

/** Note the definition that is open, so that a reload opens it again. */
export function noteOpen(id) {
  const next = id ? `#${new URLSearchParams({ open: id })}` : location.pathname;
  if (id && location.hash !== next) history.pushState(null, "", next);
  else if (!id) history.replaceState(null, "", next);
}

/** Return the definition that the address names now. */
export const openNow = () => new URLSearchParams(location.hash.slice(1)).get("open") ?? "";
