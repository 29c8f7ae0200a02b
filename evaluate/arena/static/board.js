// Board: the SVG of a position, with cells that can be clicked, dragged and reached by keyboard.

import { svg } from "./dom.js";

// Rows and columns by which a key moves the focus.
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class BoardView {
  // The board is drawn in the element `host`; `onCell(cell)` is called for a click, Enter or Space,
  // `onDrag(from, to)` for a drag. Cells are numbered row by row.
  constructor(host, { onCell = null, onDrag = null } = {}) {
    this.host = host;
    this.onCell = onCell;
    this.onDrag = onDrag;
    this.flipped = false;
    this.board = null;
    this.focused = 0; // cell with the keyboard focus
    this.pressed = null; // cell of the last `pointerdown`
  }

  // `board`: the description from `board_view` of board_view.py.
  setBoard(board) {
    this.board = board;
    const size = `0 0 ${board.width} ${board.height}`;
    this.picture = svg("svg", { viewBox: size, class: "board", "font-family": "Helvetica, Arial, sans-serif" });
    this.whole = svg("g");
    this.base = svg("g", { "aria-hidden": "true" });
    this.base.innerHTML = board.base;
    this.shapes = svg("g", { "aria-hidden": "true" });
    this.marks = svg("g", { "aria-hidden": "true", class: "marks" });
    this.grid = svg("g", { role: "grid", "aria-label": `${board.title} board`, class: "cells" });
    this.cells = [];
    for (let row = 0; row < board.rows; row++) {
      const line = svg("g", { role: "row" });
      for (let column = 0; column < board.columns; column++) {
        const index = row * board.columns + column;
        const cell = svg("polygon", {
          points: board.cells[index].outline, role: "gridcell", tabindex: index ? -1 : 0,
          "data-cell": index,
        });
        this.cells.push(cell);
        line.append(cell);
      }
      this.grid.append(line);
    }
    this.whole.append(this.base, this.shapes, this.marks, this.grid);
    this.picture.append(this.whole);
    this.host.replaceChildren(this.picture);
    this.listen();
    this.setFlipped(this.flipped);
  }

  // `position`: its `svg` and the `codes` of its cells (0 if empty, else 1 + the index of the piece
  // in `board.pieces`). Marks: the cells `choices` and `advised`, the cell `selected`, and by cell
  // `labels` (texts) and `heat` (numbers up to 1; those below 0 look like 0).
  setPosition(position, marks = {}) {
    if (!this.board) return;
    this.position = position;
    this.shapes.innerHTML = position.svg;
    this.drawMarks(marks);
    const choices = new Set(marks.choices ?? []);
    this.cells.forEach((cell, index) => {
      const code = position.codes[index];
      const content = code ? this.board.pieces[code - 1] : "empty";
      const parts = [this.board.cells[index].name, content];
      if (choices.has(index)) parts.push("possible");
      if (index === marks.selected) parts.push("selected");
      if (marks.labels?.has(index)) parts.push(marks.labels.get(index));
      const label = parts.join(", ");
      if (cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label);
      cell.classList.toggle("choice", choices.has(index));
    });
  }

  // Draws the marks: `heat` fills a cell, a dot or a ring marks a choice, a frame the cells
  // `advised` and `selected`.
  drawMarks({ choices = [], selected = null, advised = [], labels = new Map(), heat = new Map() }) {
    const { cells, columns } = this.board;
    const size = columns > 1 ? Math.abs(cells[1].x - cells[0].x) : 40; // of a cell, in pixels
    const shapes = [];
    for (const [cell, share] of heat) {
      shapes.push(svg("polygon", { points: cells[cell].outline, class: "heat", opacity: 0.15 + 0.6 * Math.max(0, share) }));
    }
    for (const cell of choices) {
      const { x, y } = cells[cell];
      if (heat.has(cell)) continue;
      if (this.position.codes[cell]) {
        shapes.push(svg("circle", { cx: x, cy: y, r: 0.44 * size, class: "ring", "stroke-width": Math.max(2, 0.05 * size) }));
      } else {
        shapes.push(svg("circle", { cx: x, cy: y, r: Math.max(2, 0.11 * size), class: "dot" }));
      }
    }
    for (const cell of advised) shapes.push(this.frame(cell, "advised", size));
    if (selected !== null) shapes.push(this.frame(selected, "selected", size));
    for (const [cell, text] of labels) {
      const { x, y } = cells[cell];
      const font = Math.max(7, Math.min(17, 0.26 * size));
      const label = svg("text", { x, y: y + 0.35 * font, "font-size": font, "text-anchor": "middle", class: "label" });
      label.textContent = text;
      shapes.push(label);
    }
    this.marks.replaceChildren(...shapes);
  }

  // The outline of a cell, with a class of style.css.
  frame(cell, name, size) {
    return svg("polygon", {
      points: this.board.cells[cell].outline, class: name, "stroke-width": Math.max(2.5, 0.07 * size),
    });
  }

  setFlipped(flipped) {
    this.flipped = flipped;
    if (!this.board) return;
    const { width, height } = this.board;
    this.whole.classList.toggle("flipped", flipped);
    if (flipped) this.whole.setAttribute("transform", `rotate(180 ${width / 2} ${height / 2})`);
    else this.whole.removeAttribute("transform");
  }

  focus(cell) {
    this.cells[this.focused]?.setAttribute("tabindex", -1);
    this.focused = cell;
    this.cells[cell].setAttribute("tabindex", 0);
    this.cells[cell].focus();
  }

  // Listens to the pointer and to keys.
  listen() {
    const cellAt = (x, y) => {
      const target = document.elementFromPoint(x, y)?.closest?.("[data-cell]");
      return target && this.grid.contains(target) ? Number(target.dataset.cell) : null;
    };
    this.grid.addEventListener("pointerdown", (event) => {
      this.pressed = cellAt(event.clientX, event.clientY);
      // A touch captures the pointer; released, its later events reach the element below it.
      if (event.target.hasPointerCapture?.(event.pointerId)) {
        event.target.releasePointerCapture(event.pointerId);
      }
    });
    this.grid.addEventListener("pointerup", (event) => {
      const cell = cellAt(event.clientX, event.clientY);
      const from = this.pressed;
      this.pressed = null;
      if (cell === null) return;
      if (from !== null && from !== cell && this.onDrag) this.onDrag(from, cell);
      else {
        this.cells[this.focused]?.setAttribute("tabindex", -1);
        this.focused = cell;
        this.cells[cell].setAttribute("tabindex", 0);
        this.onCell?.(cell);
      }
    });
    this.grid.addEventListener("pointercancel", () => (this.pressed = null));
    this.grid.addEventListener("keydown", (event) => this.key(event));
  }

  // Handles a key: Enter or Space click the focused cell, arrows move the focus.
  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      this.onCell?.(this.focused);
      return;
    }
    const step = STEPS[event.key];
    if (!step || !this.onCell) return;
    event.preventDefault();
    event.stopPropagation();
    const sign = this.flipped ? -1 : 1;
    const { rows, columns } = this.board;
    const row = Math.floor(this.focused / columns) + sign * step[0];
    const column = (this.focused % columns) + sign * step[1];
    if (row >= 0 && row < rows && column >= 0 && column < columns) this.focus(row * columns + column);
  }
}
