// Position editor: pieces are put on the board of a game and removed, then a game starts from there.

import { h, icon, notify } from "./dom.js";
import { BoardView } from "./board.js";
import { openDialog } from "./dialogs.js";

const CHECK_MILLISECONDS = 150; // from the last change to the check by the server

export class PositionEditor {
  // `view`: the `GameView`; `setup`: the server's answer to `edit`, see position_setup.py.
  constructor(view, setup) {
    this.view = view;
    this.setup = setup;
    this.cells = [...setup.cells];
    this.player = setup.player;
    this.offered = setup.pieces.filter((piece) => piece.is_offered);
    this.selected = this.offered[0].code;
    this.text = ""; // the position as JSON if it is possible
    this.build();
    this.onKey = (event) => this.key(event);
    window.addEventListener("keydown", this.onKey);
    this.change();
  }

  build() {
    const { board, whole } = this.view;
    const place = h("div", { class: "board-place" });
    this.boardView = new BoardView(place, {
      onCell: (cell) => this.put(cell), onDrag: (from, to) => this.move(from, to),
    });
    this.boardView.setBoard(board);
    this.boardView.setFlipped(this.view.boardView.flipped);
    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.start = h("button", { type: "button", class: "primary", onclick: () => this.send("set_up_cells") }, "Play from this position");
    const button = (label, run) => h("button", { type: "button", onclick: run }, label);
    this.element = h("div", { class: "game editor" }, place, h("aside", { class: "panel" },
      h("h2", {}, "Set up a position"),
      this.choices("Piece", "piece", [...this.offered.map(({ code, name, icon }) => [code, name, icon]), [0, "remove", ""]],
        this.selected, (code) => (this.selected = code)),
      this.setup.players.length > 1
        ? this.choices("Player to move", "player", this.setup.players.map((name, player) => [player, name, board.players[player].icon]),
            this.player, (player) => {
              this.player = player;
              this.change();
            })
        : null,
      this.status,
      h("div", { class: "controls" }, this.start,
        button("Clear the board", () => this.replace(this.setup.fixed)),
        button("Starting position", () => this.replace(this.setup.start)),
        button("As JSON …", () => this.asJson()),
        button("Cancel", () => this.close())),
      h("p", { class: "faint" }, "A click or touch puts the piece on a cell, another one removes it; pieces can be dragged. ",
        "Keys: arrows and Enter on the board, digits for the pieces, Delete, Escape.")));
    whole.hidden = true;
    whole.after(this.element);
  }

  // A group of radio buttons; `options` are a value, a label and the SVG of an icon each.
  choices(legend, name, options, chosen, onChoice) {
    return h("fieldset", { class: "palette" }, h("legend", {}, legend), options.map(([value, label, markup]) =>
      h("label", {},
        h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => onChoice(value) }),
        markup ? icon(markup) : null, h("span", {}, label))));
  }

  // Puts the selected piece on a cell, or removes it from there.
  put(cell) {
    if (this.setup.fixed[cell]) {
      notify(`${this.view.board.cells[cell].name} belongs to the board`);
      return;
    }
    this.cells[cell] = this.cells[cell] === this.selected ? 0 : this.selected;
    this.change();
  }

  // Moves the piece on the cell `from`; without one, a drag is a click on its last cell.
  move(from, to) {
    if (!this.cells[from] || this.setup.fixed[from] || this.setup.fixed[to]) {
      this.put(to);
      return;
    }
    [this.cells[from], this.cells[to]] = [0, this.cells[from]];
    this.change();
  }

  // Replaces the codes of all cells.
  replace(cells) {
    this.cells = [...cells];
    this.change();
  }

  // Draws the board, and asks the server whether the position is possible.
  change() {
    const svg = this.cells.map((code, cell) => {
      const { x, y } = this.view.board.cells[cell];
      return code ? `<g transform="translate(${x} ${y})">${this.setup.pieces[code - 1].svg}</g>` : "";
    });
    this.boardView.setPosition({ svg: svg.join(""), codes: this.cells });
    this.start.disabled = true;
    this.checks = (this.checks ?? 0) + 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send("check_cells", { check: this.checks }), CHECK_MILLISECONDS);
  }

  send(type, fields = {}) {
    this.view.send(type, { cells: this.cells, player: this.player, ply: this.setup.ply, ...fields });
  }

  // Shows the server's answer to a check; answers to earlier checks are ignored.
  checked({ check, problem, text }) {
    if (check !== this.checks) return;
    this.text = text;
    this.start.disabled = Boolean(problem);
    this.status.textContent = problem || "this position is possible";
    this.status.classList.toggle("error", Boolean(problem));
  }

  asJson() {
    if (this.text) openDialog(this.view, "position", this.text);
    else this.view.send("get_position", { ply: this.setup.ply });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const cell = event.target.closest?.("[data-cell]");
    const piece = this.element.querySelector(`input[name="piece"][value="${this.offered[Number(event.key) - 1]?.code ?? 0}"]`);
    if (event.key === "Escape") this.close();
    else if (/^\d$/.test(event.key)) piece.click();
    else if (cell && /^(Delete|Backspace)$/.test(event.key)) {
      const index = Number(cell.dataset.cell);
      this.cells[index] = this.setup.fixed[index];
      this.change();
    } else return;
    event.preventDefault();
  }

  close() {
    clearTimeout(this.timer);
    window.removeEventListener("keydown", this.onKey);
    this.element.remove();
    this.view.whole.hidden = false;
    this.view.editor = null;
  }
}
