// Board of a notebook: draws `board` and `position`, and sends clicks as messages. Their contents
// are those of `NotebookGame.board`, `position` and `receive`. Lengths are in pixels of the SVG.

const NAMESPACE = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function button(text, isEnabled, onClick) {
  const element = document.createElement("button");
  element.textContent = text;
  element.disabled = !isEnabled;
  element.addEventListener("click", onClick);
  return element;
}

// Mark of a cell to click: a ring around a piece, or a dot in an empty cell.
function targetMark(board, position, cell) {
  const { x, y } = board.cells[cell];
  const size = board.width / (board.columns + 1);  // about the width of a cell
  const style = { cx: x, cy: y, fill: "#2563eb", "fill-opacity": 0.7, class: "ludoteca-target" };
  if (!position.codes[cell]) return shape("circle", { ...style, r: 0.1 * size });
  return shape("circle", {
    ...style, r: 0.42 * size, fill: "none", stroke: "#2563eb", "stroke-width": 0.06 * size,
  });
}

function render({ model, el }) {
  const board = model.get("board");
  const picture = shape("svg", {
    viewBox: `0 0 ${board.width} ${board.height}`,
    style: "width: 420px; max-width: 100%; height: auto; display: block",
    role: "group",
    "aria-label": board.title,
  });
  const base = shape("g", {});  // the empty board
  base.innerHTML = board.base;
  const pieces = shape("g", {});
  const marks = shape("g", { "pointer-events": "none" });
  const cells = board.cells.map((cell, index) => {
    const send = () => model.send({ type: "click", cell: index });
    const area = shape("polygon", { points: cell.outline, fill: "transparent", role: "button" });
    area.addEventListener("click", send);
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      send();
    });
    return area;
  });
  picture.append(base, pieces, marks, ...cells);
  const status = document.createElement("div");
  status.setAttribute("role", "status");
  const buttons = document.createElement("div");
  el.classList.add("ludoteca-board");
  el.replaceChildren(picture, status, buttons);

  function draw() {
    const position = model.get("position");
    pieces.innerHTML = position.svg;
    const targets = new Set(position.targets);
    marks.replaceChildren(...position.targets.map((cell) => targetMark(board, position, cell)));
    if (position.selected !== null) {
      marks.append(shape("polygon", {
        points: board.cells[position.selected].outline,
        fill: "none", stroke: "#2563eb", "stroke-width": 3, class: "ludoteca-selected",
      }));
    }
    cells.forEach((cell, index) => {
      const isTarget = targets.has(index);
      const code = position.codes[index];  // 0 if empty, else 1 + the index of the piece
      const piece = code ? board.pieces[code - 1] : "empty";
      cell.setAttribute("aria-label", `${board.cells[index].name}, ${piece}`);
      cell.setAttribute("aria-disabled", String(!isTarget));
      cell.setAttribute("tabindex", isTarget ? "0" : "-1");
      cell.style.cursor = isTarget ? "pointer" : "default";
    });
    status.textContent = [position.status, position.note].filter(Boolean).join(" — ");
    buttons.replaceChildren(
      ...position.buttons.map(([action, name]) =>
        button(name, true, () => model.send({ type: "play", action }))),
      button("undo", position.can_undo, () => model.send({ type: "undo" })),
      button("new game", true, () => model.send({ type: "restart" })),
    );
  }

  model.on("change:position", draw);
  draw();
  return () => model.off("change:position", draw);
}

export default { render };
