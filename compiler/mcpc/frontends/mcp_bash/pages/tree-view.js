const open = Number.isInteger(config.expandLevel) ? config.expandLevel : 1;

function label(node) {
  const text = made("span", node.label ?? node.name ?? "");
  if (!config.selectable) return text;
  const press = made("button", node.label ?? node.name ?? "", { type: "button" });
  press.addEventListener("click", async () => {
    const nodeId = node.id ?? node.label ?? node.name;
    status(`Selected: ${nodeId}`);
    try {
      if (config.onSelectTool) await call(config.onSelectTool, { nodeId });
      say(`Selected: ${nodeId}`);
    } catch (problem) {
      status(`It failed: ${problem.message}`);
    }
  });
  return press;
}

function branch(node, depth) {
  const item = made("li");
  const children = Array.isArray(node.children) ? node.children : [];
  const note = node.meta ? [" ", made("span", node.meta, { class: "note" })] : [];
  if (!children.length) {
    item.append(label(node), ...note);
    return item;
  }
  const details = made("details", undefined, { open: depth < open });
  const summary = made("summary");
  summary.append(label(node), ...note);
  const list = made("ul");
  list.append(...children.map((child) => branch(child, depth + 1)));
  details.append(summary, list);
  item.append(details);
  return item;
}

status("Waiting for data …");
begin((data) => {
  const found = (Array.isArray(data) ? data : [data]).filter((node) => node !== null && typeof node === "object");
  const tree = made("ul", undefined, { class: "tree" });
  tree.append(...found.map((node) => branch(node, 0)));
  view.replaceChildren(tree);
  status(found.length ? "" : "No data");
});
