// Board of a notebook: draws `board` and `position`, and sends clicks as messages.

const NAMESPACE = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function button(text, isEnabled, act) {
  const made = document.createElement("button");
  made.textContent = text;
  made.disabled = !isEnabled;
  made.addEventListener("click", act);
  return made;
}

// Marks of cells to click: a ring around a piece, a dot in an empty cell, a frame if selected.
function mark(board, position, cell) {
  const { x, y } = board.cells[cell];
  const size = board.width / (board.columns + 1);
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
  const base = shape("g", {});
  base.innerHTML = board.base;
  const pieces = shape("g", {});
  const marks = shape("g", { "pointer-events": "none" });
  const cells = board.cells.map((cell, number) => {
    const send = () => model.send({ type: "click", cell: number });
    const made = shape("polygon", { points: cell.outline, fill: "transparent", role: "button" });
    made.addEventListener("click", send);
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      send();
    });
    return made;
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
    marks.replaceChildren(...position.targets.map((cell) => mark(board, position, cell)));
    if (position.selected !== null) {
      marks.append(shape("polygon", {
        points: board.cells[position.selected].outline,
        fill: "none", stroke: "#2563eb", "stroke-width": 3, class: "ludoteca-selected",
      }));
    }
    cells.forEach((cell, number) => {
      const isTarget = targets.has(number);
      const piece = position.codes[number] ? board.pieces[position.codes[number] - 1] : "empty";
      cell.setAttribute("aria-label", `${board.cells[number].name}, ${piece}`);
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
