const USUAL = [
  { id: "todo", title: "To do" },
  { id: "in-progress", title: "In progress" },
  { id: "done", title: "Done" },
];
const columns = config.columns && config.columns.length ? config.columns : USUAL;
let cards = [];

const columnOf = (card) => card.column ?? card.status;

async function tell(tool, args, text) {
  status(text);
  try {
    if (tool) await call(tool, args);
    say(text);
  } catch (problem) {
    status(`It failed: ${problem.message}`);
  }
}

function move(cardId, toColumn) {
  const card = cards.find((one) => String(one.id) === String(cardId));
  const fromColumn = card && columnOf(card);
  if (!card || fromColumn === toColumn) return;
  card.column = card.status = toColumn;
  draw();
  tell(config.onMoveTool, { cardId, fromColumn, toColumn }, `Moved card ${cardId} to ${toColumn}`);
}

function drawn(card) {
  const box = made("article", undefined, { class: "card", draggable: config.draggable !== false });
  const title = made("button", card.title ?? card.id, { type: "button" });
  title.addEventListener("click", () => tell(config.onCardClickTool, { cardId: card.id }, `Card clicked: ${card.id}`));
  box.append(title);
  if (card.description) box.append(made("p", card.description));
  const notes = [card.priority, card.assignee, ...(card.tags || [])].filter(Boolean).join(" · ");
  if (notes) box.append(made("p", notes, { class: "note" }));
  if (config.draggable !== false) {
    box.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", String(card.id)));
    const choice = made("select", undefined, { "aria-label": `Column of ${card.title ?? card.id}` });
    for (const column of columns) {
      choice.append(made("option", column.title, { value: column.id, selected: column.id === columnOf(card) }));
    }
    choice.addEventListener("change", () => move(card.id, choice.value));
    box.append(choice);
  }
  return box;
}

function draw() {
  const board = made("div", undefined, { class: "board" });
  for (const column of columns) {
    const box = made("section", undefined, { class: "column", "aria-label": column.title });
    box.append(made("h2", column.title), ...cards.filter((card) => columnOf(card) === column.id).map(drawn));
    box.addEventListener("dragover", (event) => event.preventDefault());
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      move(event.dataTransfer.getData("text/plain"), column.id);
    });
    board.append(box);
  }
  view.replaceChildren(board);
}

draw();
begin((data) => {
  const found = Array.isArray(data) ? data : (data && data.cards) || [];
  cards = found.filter((card) => card !== null && typeof card === "object");
  draw();
});
