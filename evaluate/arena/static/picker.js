// Selection of an action by clicks on cells: one click, or a piece and its target.

export class ActionPicker {
  // `board`: the description from board_view.py; `codes` of the cells; `legal` actions.
  constructor(board, codes, legal) {
    this.board = board;
    this.codes = codes;
    this.legal = legal;
    this.selected = null; // cell of the piece to move
    this.options = []; // actions between the same two cells
  }

  // Returns `{action}`, `{}` after a selection, or `{message}` that explains an illegal click.
  click(cell) {
    const actions = this.legal.filter((action) => this.chooses(action, cell));
    this.options = [];
    if (actions.length === 1) return { action: actions[0] };
    if (actions.length > 1) {
      this.options = actions;
      return { message: "several moves lead there: choose one of the buttons" };
    }
    if (this.board.input !== "moves") return { message: this.explain(cell) };
    const before = this.selected;
    const starts = this.pairs().some(([start]) => start === cell);
    this.selected = starts && cell !== before ? cell : null;
    return starts ? {} : { message: this.explain(cell, before) };
  }

  // The reason why a click on a cell is not a legal move, `from` the piece selected before.
  explain(cell, from = null) {
    const name = this.board.cells[cell].name;
    const code = this.codes[cell];
    const piece = code ? this.board.pieces[code - 1] : "";
    if (!this.legal.some((action) => this.isOnBoard(action))) {
      const names = this.legal.map((action) => this.board.actions[action]).join(" or ");
      return `only ${names} is possible`;
    }
    if (this.board.input === "column") return `column ${(cell % this.board.columns) + 1} is full`;
    if (this.board.input === "cell") {
      return piece ? `${name} is occupied: ${piece}` : `a move at ${name} is against the rules here`;
    }
    if (from !== null) return `no legal move leads from ${this.board.cells[from].name} to ${name}`;
    return piece ? `${piece} at ${name} cannot move now` : `${name} is empty: choose a piece first`;
  }

  // Cells to click: possible moves, pieces that can move, or targets of the selected piece.
  targets() {
    if (this.board.input === "cell") return this.legal.filter((action) => this.isOnBoard(action));
    if (this.board.input === "column") {
      return this.legal.flatMap((action) => this.cellsOf(action));
    }
    const cells = this.pairs()
      .filter(([start]) => this.selected === null || start === this.selected)
      .map(([start, end]) => (this.selected === null ? start : end));
    return [...new Set(cells)];
  }

  // Actions that no cell stands for, such as a pass; or those between the selected cells.
  buttons() {
    return this.options.length ? this.options : this.legal.filter((action) => !this.isOnBoard(action));
  }

  cellsOf(action) {
    return cellsOf(this.board, this.codes, action);
  }

  isOnBoard(action) {
    return isOnBoard(this.board, action);
  }

  // Whether a click on the cell, after the selected one, chooses the action.
  chooses(action, cell) {
    if (!this.isOnBoard(action)) return false;
    if (this.board.input === "column") return action === cell % this.board.columns;
    if (this.board.input === "cell") return action === cell;
    const [start, end] = this.board.moves[action];
    if (end !== cell) return false;
    return start === this.selected || (start === cell && !this.isPiece(cell));
  }

  // Whether a legal move leads from the cell to another one.
  isPiece(cell) {
    return this.pairs().some(([start, end]) => start === cell && end !== cell);
  }

  // Start and target cells of the legal moves.
  pairs() {
    if (this.board.input !== "moves") return [];
    return this.legal.filter((a) => this.isOnBoard(a)).map((a) => this.board.moves[a]);
  }
}

// Whether a cell or a pair of cells stands for the action.
export function isOnBoard(board, action) {
  if (board.input === "column") return action < board.columns;
  if (board.input === "cell") return action < board.rows * board.columns;
  if (board.input === "moves") return action < board.moves.length;
  return false;
}

// Cells of an action: its cell, that of the dropped disc, or start and target.
export function cellsOf(board, codes, action) {
  if (!isOnBoard(board, action)) return [];
  if (board.input === "cell") return [action];
  if (board.input === "moves") return board.moves[action];
  for (let row = board.rows - 1; row >= 0; row--) {
    const cell = row * board.columns + action;
    if (!codes[cell]) return [cell];
  }
  return [];
}
