const index = document.getElementById("index");
if (index) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  const count = document.createElement("span");
  label.className = "filter";
  count.setAttribute("role", "status");
  count.className = "soft";
  box.type = "search";
  label.append("Filter tools ", box);
  index.before(label, count);
  const rows = [...index.children].map((item) => {
    const article = document.getElementById(item.firstElementChild.hash.slice(1));
    return { item, article, text: item.textContent.toLowerCase() };
  });
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { item, article, text } of rows) {
      const isHidden = !words.every((word) => text.includes(word));
      item.hidden = article.hidden = isHidden;
      if (!isHidden) shown += 1;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} tools` : "";
  });
}
