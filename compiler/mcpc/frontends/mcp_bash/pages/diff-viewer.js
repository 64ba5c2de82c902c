const LARGEST = 4_000_000;

// The longest common run of lines decides what was added and what removed; what is too large is shown as it is.
function compared(left, right) {
  if (left.length * right.length > LARGEST) {
    return [...left.map((line) => ["removed", line]), ...right.map((line) => ["added", line])];
  }
  const width = right.length + 1;
  const common = new Uint32Array((left.length + 1) * width);
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      const here = row * width + column;
      common[here] =
        left[row] === right[column] ? common[here + width + 1] + 1 : Math.max(common[here + width], common[here + 1]);
    }
  }
  const found = [];
  let row = 0;
  let column = 0;
  while (row < left.length || column < right.length) {
    const here = row * width + column;
    if (row < left.length && column < right.length && left[row] === right[column]) {
      found.push(["same", left[row++]]);
      column++;
    } else if (column === right.length || (row < left.length && common[here + width] >= common[here + 1])) {
      found.push(["removed", left[row++]]);
    } else {
      found.push(["added", right[column++]]);
    }
  }
  return found;
}

const SIGNS = { same: " ", removed: "-", added: "+" };

function side(title, lines) {
  const section = made("section");
  const box = made("pre", undefined, { class: "lines", tabindex: 0, "aria-label": title });
  let number = 0;
  for (const [kind, line] of lines) {
    number++;
    const counted = config.showLineNumbers === false ? "" : `${String(number).padStart(4)} `;
    box.append(made("div", `${counted}${SIGNS[kind]} ${line}`, { class: kind }));
  }
  section.append(made("h2", title), box);
  return section;
}

status("Waiting for data …");
begin((data) => {
  const said = data !== null && typeof data === "object" ? data : {};
  const left = String(said.left ?? said.original ?? "").split("\n");
  const right = String(said.right ?? said.modified ?? "").split("\n");
  const lines = compared(left, right);
  const titles = [config.leftTitle || "Original", config.rightTitle || "Modified"];
  if (config.viewMode === "unified") {
    view.replaceChildren(side(titles.join(" / "), lines));
  } else {
    const sides = made("div", undefined, { class: "sides" });
    const of = (unwanted) => lines.filter(([kind]) => kind !== unwanted);
    sides.append(side(titles[0], of("added")), side(titles[1], of("removed")));
    view.replaceChildren(sides);
  }
  status(`${lines.filter(([kind]) => kind !== "same").length} lines differ`);
});
