let rows = [];
const order = { key: "", down: false };
const table = made("table");
view.append(table);

function columns() {
  if (config.columns && config.columns.length) return config.columns;
  return Object.keys(rows[0] || {}).map((key) => ({ key }));
}

function head(column) {
  const cell = made("th", column.sortable ? undefined : column.label || column.key, { scope: "col" });
  if (!column.sortable) return cell;
  const press = made("button", column.label || column.key, { type: "button" });
  if (order.key === column.key) cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
  press.addEventListener("click", () => {
    order.down = order.key === column.key && !order.down;
    order.key = column.key;
    const turn = order.down ? -1 : 1;
    const compared = new Intl.Collator(undefined, { numeric: true });
    rows.sort((one, other) => turn * compared.compare(String(one[order.key] ?? ""), String(other[order.key] ?? "")));
    draw();
  });
  cell.append(press);
  return cell;
}

function draw() {
  const first = made("tr");
  first.append(...columns().map(head));
  const top = made("thead");
  top.append(first);
  const body = made("tbody");
  for (const row of rows) {
    const line = made("tr");
    for (const column of columns()) {
      const value = row[column.key];
      line.append(made("td", value !== null && typeof value === "object" ? JSON.stringify(value) : value));
    }
    body.append(line);
  }
  table.replaceChildren(top, body);
  status(rows.length ? `${rows.length} rows` : "No data");
}

draw();
status("Waiting for data …");
begin((data) => {
  const found = Array.isArray(data) ? data : (data && data.items) || [data];
  rows = found.filter((row) => row !== null && typeof row === "object");
  draw();
});
