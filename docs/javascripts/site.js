// Tables and code that scroll can be scrolled by keyboard, too; the theme makes the regions after it has loaded.
function makeRegionsReachable() {
  for (const region of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    region.tabIndex = 0;
  }
}

makeRegionsReachable();
new MutationObserver(makeRegionsReachable).observe(document.body, { childList: true, subtree: true });
