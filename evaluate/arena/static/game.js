// Game: the board, its players, controls and analysis, kept up to date by the server.

import { h, icon, isTyping, notify, number } from "./dom.js";
import { BoardView } from "./board.js";
import { ActionPicker } from "./picker.js";
import { Connection } from "./connection.js";
import { Stepper } from "./stepper.js";
import { analysisTable, weights } from "./analysis.js";
import { evaluationGraph, scores } from "./graph.js";
import { KeyboardPlayers } from "./steering.js";
import { openDialog } from "./dialogs.js";
import { PositionEditor } from "./editor.js";

const HUMAN = "human";

export class GameView {
  // The game is drawn in the element `main`; `id` names the open game on the server.
  constructor(main, id) {
    this.id = id;
    this.state = null; // the last message of the type `state`
    this.ply = 0; // ply of the position that is shown
    this.positions = new Map(); // by ply
    this.analyzing = false; // whether every position that is shown is analyzed
    this.showValues = false;
    this.hint = false; // whether the adviser's move is shown
    this.progress = null; // intermediate analysis of the agent that is thinking
    this.editor = null;
    this.build(main);
    this.steering = new KeyboardPlayers(this);
    this.onKey = (event) => this.key(event);
    window.addEventListener("keydown", this.onKey);
    this.connection = new Connection(id, (message) => this.receive(message), (open) =>
      open || notify("connection lost; trying again"));
  }

  build(main) {
    this.boardPlace = h("div", { class: "board-place" });
    this.boardView = new BoardView(this.boardPlace, {
      onCell: (cell) => this.click(cell),
      onDrag: (from, to) => this.drag(from, to),
    });
    this.stepper = new Stepper((ply) => this.go(ply));
    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.choices = h("div", { class: "choices" });
    this.players = h("ul", { class: "players", "aria-label": "Players" });
    this.controls = h("div", { class: "controls" });
    this.analysis = h("section", { class: "analysis-place", "aria-label": "Analysis" });
    this.graph = h("div");
    const panel = h("aside", { class: "panel" }, this.players, this.status, this.choices, this.controls,
      this.stepper.element, this.analysis, this.graph,
      h("details", { open: true }, h("summary", {}, "Moves"), this.stepper.list));
    this.whole = h("div", { class: "game" }, this.boardPlace, panel);
    main.replaceChildren(this.whole);
  }

  send(type, fields = {}) {
    this.connection.send({ type, ...fields });
  }

  receive(message) {
    const handlers = {
      board: () => {
        this.board = message;
        document.title = `${message.title} – Ludoteca arena`;
        this.boardView.setBoard(message);
      },
      state: () => this.update(message),
      position: () => {
        this.positions.set(message.position.ply, message.position);
        if (message.position.ply === this.ply) this.draw();
      },
      analysis: () => {
        this.state.analyses[message.ply] = message.analysis;
        this.drawAnalysis();
      },
      thinking: () => {
        this.progress = message.analysis;
        this.drawAnalysis();
      },
      compiling: () => {
        this.state.compiling = message.text;
        this.drawStatus();
      },
      position_json: () => openDialog(this, "position", message.text),
      editor: () => {
        this.editor?.close();
        this.editor = new PositionEditor(this, message);
      },
      cells: () => this.editor?.checked(message),
      cells_set_up: () => this.editor?.close(),
      note: () => notify(message.text),
      error: () => notify(message.text),
      closed: () => {
        notify("this game is closed");
        location.hash = "#/";
      },
    };
    handlers[message.type]?.();
  }

  // Takes a new state; an earlier position that the user looks at stays shown.
  update(state) {
    const before = this.state;
    const showedLast = !before || this.ply === before.ply;
    // Whether the moves of one state are the first moves of the other.
    const isSameGame = before && before.seed === state.seed && before.moves.every((name, k) => k >= state.ply || name === state.moves[k]);
    if (!isSameGame) this.positions.clear();
    for (const ply of this.positions.keys()) if (ply > state.ply) this.positions.delete(ply);
    this.state = state;
    this.positions.set(state.ply, state.position);
    if (!before || before.ply !== state.ply || !isSameGame) this.hint = false;
    if (state.thinking === null) this.progress = null;
    if (showedLast || this.ply > state.ply) this.ply = state.ply;
    this.resetPicker();
    this.draw();
    this.requestAnalysis();
  }

  // Shows the position after `ply` plies.
  go(ply) {
    if (!this.state || ply < 0 || ply > this.state.ply) return;
    this.ply = ply;
    this.hint = false;
    this.resetPicker();
    if (!this.positions.has(ply)) this.send("view", { ply });
    this.draw();
    this.requestAnalysis();
  }

  get position() {
    return this.positions.get(this.ply);
  }

  // Whether the last position of the game is shown.
  get isPresent() {
    return this.state && this.ply === this.state.ply;
  }

  get personToMove() {
    const { state, board } = this;
    return this.isPresent && !state.over && !board.simultaneous && state.seats[state.to_act[0]] === HUMAN;
  }

  resetPicker() {
    const legal = this.personToMove ? this.position.legal : [];
    this.picker = this.position ? new ActionPicker(this.board, this.position.codes, legal) : null;
  }

  // Input.

  click(cell) {
    if (!this.personToMove) {
      notify(this.whyNot());
      return;
    }
    const { action, message } = this.picker.click(cell);
    if (action !== undefined) this.play(action);
    else if (message) notify(message);
    this.draw();
  }

  drag(from, to) {
    if (this.board.input !== "moves" || !this.personToMove) {
      this.click(to);
      return;
    }
    this.picker.selected = null;
    this.picker.click(from);
    if (this.picker.selected === from) this.click(to);
    else notify(this.picker.explain(from));
  }

  // The reason why a click on the board is not a move.
  whyNot() {
    const { state, board } = this;
    if (!this.isPresent) return "this is an earlier position: step to the last one to move";
    if (state.over) return "the game is over";
    if (state.failure) return state.failure;
    if (board.simultaneous) return `choose by ${this.steering.controls()}`;
    return `it is the turn of ${state.seats[state.to_act[0]]}${state.paused ? ", which is paused" : ""}`;
  }

  play(action) {
    this.send("play", { action, ply: this.state.ply });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") || !this.state || this.editor) return;
    if (this.steering.key(event) || this.stepper.key(event)) return;
    const command = this.commands().find(({ key }) => key === event.key.toLowerCase());
    if (command && !command.disabled) {
      event.preventDefault();
      command.run();
    } else if (!this.board.simultaneous && !event.target.closest?.("[data-cell]")) {
      if (event.key === "ArrowLeft") this.stepper.go(this.ply - 1);
      if (event.key === "ArrowRight") this.stepper.go(this.ply + 1);
    }
  }

  // Commands: buttons with keys; `down`: whether a button that stays down is down.

  commands() {
    const { state } = this;
    const watching = this.board.simultaneous || !state.seats.includes(HUMAN) || state.paused;
    return [
      { key: "u", label: this.isPresent ? "Undo" : "Play from here", disabled: !state.can_undo, run: () => this.undo() },
      { key: "r", label: "Redo", disabled: !state.can_redo, run: () => this.send("redo") },
      watching && !state.over
        ? { key: "p", label: state.paused ? "Go" : "Pause", run: () => this.send("pause", { on: !state.paused }) }
        : null,
      { key: "h", label: "Hint", disabled: !state.adviser || !this.personToMove, run: () => this.toggleHint(), down: this.hint },
      { key: "a", label: "Analyze", disabled: !state.adviser, run: () => this.toggleAnalysis(), down: this.analyzing },
      { key: "v", label: "Values", run: () => this.toggleValues(), down: this.showValues },
      { key: "x", label: "Stop search", disabled: !this.isSearching(), run: () => this.send("stop") },
      { key: "f", label: "Flip", disabled: this.board.input === "column", run: () => this.flip(), down: this.boardView.flipped },
      { key: "n", label: "New game", run: () => this.send("restart") },
      { key: "m", label: "More …", run: () => openDialog(this, "more") },
    ].filter(Boolean);
  }

  undo() {
    if (this.isPresent) this.send("undo");
    else this.send("undo", { ply: this.ply });
  }

  flip() {
    this.boardView.setFlipped(!this.boardView.flipped);
    this.drawControls();
  }

  toggleHint() {
    this.hint = !this.hint;
    if (this.hint) this.requestAnalysis(true);
    this.draw();
  }

  toggleAnalysis() {
    this.analyzing = !this.analyzing;
    if (this.analyzing) this.requestAnalysis();
    else this.send("stop_analysis");
    this.draw();
  }

  toggleValues() {
    this.showValues = !this.showValues;
    this.draw();
  }

  analyzeAll() {
    this.send("analyze_all");
  }

  requestAnalysis(now = false) {
    if (!(this.analyzing || now) || !this.state?.adviser) return;
    if (this.isPresent && (this.state.over || this.state.thinking !== null)) return;
    const analysis = this.state.analyses[this.ply];
    if (!analysis?.finished) this.send("analyze", { ply: this.ply });
  }

  isSearching() {
    const { state, board } = this;
    if (state.thinking !== null) return true;
    // In simultaneous games the server does not announce at every step which agent is thinking.
    if (board.simultaneous && !state.paused && !state.over) return true;
    const analysis = this.state.analyses[this.ply];
    return Boolean((this.analyzing || this.hint) && analysis && !analysis.finished);
  }

  get currentAnalysis() {
    if (this.isPresent && this.progress) return this.progress;
    return this.state.analyses[this.ply] ?? null;
  }

  // Drawing.

  draw() {
    if (!this.state || !this.board || !this.position) return;
    this.whole.dataset.ply = this.ply;
    this.whole.dataset.plies = this.state.ply;
    this.whole.dataset.turn = this.state.over ? "over" : this.personToMove ? "person" : "other";
    this.drawBoard();
    this.drawStatus();
    this.drawPlayers();
    this.drawChoices();
    this.drawAnalysis(false);
    this.stepper.show(this.ply, this.state.moves);
  }

  drawBoard() {
    const marks = { choices: this.picker?.targets() ?? [], selected: this.picker?.selected ?? null };
    const analysis = this.currentAnalysis;
    if (this.hint && analysis) marks.advised = this.picker.cellsOf(analysis.action);
    if (this.showValues && analysis) {
      marks.heat = new Map();
      marks.labels = new Map();
      for (const [action, weight] of weights(analysis)) {
        const cells = this.picker.cellsOf(action);
        const selected = this.picker.selected;
        if (!cells.length || (selected !== null && cells[0] !== selected)) continue;
        const cell = cells[selected === null ? 0 : cells.length - 1];
        // Moves that share a start: the sum of their visit shares, or their highest Q value.
        const total = analysis.moves.some((move) => move.share !== null)
          ? (marks.heat.get(cell) ?? 0) + weight
          : Math.max(marks.heat.get(cell) ?? -1, weight);
        marks.heat.set(cell, total);
        marks.labels.set(cell, number(total, 2));
      }
    }
    this.boardView.setPosition(this.position, marks);
  }

  drawStatus() {
    const { state, board } = this;
    let text = this.position?.status ?? "";
    if (state.failure) text = state.failure;
    else if (!this.isPresent) text = `${text} (ply ${this.ply} of ${state.ply})`;
    else if (state.compiling) text = state.compiling;
    else if (state.thinking !== null) text = `${board.players[state.thinking].name} is thinking …`;
    else if (this.hint && this.currentAnalysis) text = `hint: ${this.currentAnalysis.name}`;
    else if (board.simultaneous && state.paused && !state.over) text = this.steering.invitation();
    else if (this.personToMove && this.picker.buttons().length === state.position.legal.length) {
      text = `only ${this.picker.buttons().map((a) => board.actions[a]).join(" or ")} is possible`;
    }
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.classList.toggle("error", Boolean(state.failure));
    this.drawControls();
  }

  drawPlayers() {
    const { state, board, position } = this;
    this.players.replaceChildren(...board.players.map((player, seat) =>
      h("li", { class: `${state.to_act.includes(seat) && this.isPresent ? "acting" : ""} ${position.standing[seat].out ? "out" : ""}` },
        icon(player.icon),
        h("span", {}, h("strong", {}, player.name), ` ${state.seats[seat] === HUMAN ? "person" : state.seats[seat]}`),
        h("span", { class: "standing" }, position.standing[seat].text))));
  }

  drawChoices() {
    const buttons = this.personToMove ? this.picker.buttons() : [];
    this.choices.replaceChildren(
      ...buttons.map((action) => h("button", { type: "button", class: "primary", onclick: () => this.play(action) }, this.board.actions[action])),
      ...this.steering.pads());
  }

  drawControls() {
    const commands = this.commands();
    const signature = JSON.stringify(commands.map(({ label, disabled, down }) => [label, disabled, down]));
    if (signature === this.shownControls) return;
    this.shownControls = signature;
    this.controls.replaceChildren(...commands.map(({ key, label, disabled, run, down }) =>
      h("button", {
        type: "button", disabled: Boolean(disabled), onclick: () => run(), title: `${label} (${key})`,
        "aria-keyshortcuts": key, "aria-pressed": down === undefined ? null : String(Boolean(down)),
      }, label)));
  }

  // Draws the analysis of the position, else that before the last move; and by default the board.
  drawAnalysis(withBoard = true) {
    const { state } = this;
    const analysis = this.currentAnalysis;
    const before = state.analyses[this.ply - 1];
    const present = analysis?.moves.length ? analysis : null;
    const known = present ?? (before?.moves.length && !this.analyzing ? before : null);
    if (known || this.analyzing) {
      const onMove = this.personToMove && known?.ply === this.ply ? (action) => this.play(action) : null;
      const table = analysisTable(known, this.board, { onMove, thinking: this.analyzing });
      const heading = known && known !== present ? h("p", { class: "faint" }, "before the last move") : null;
      this.analysis.replaceChildren(...[heading, table].filter(Boolean));
    } else this.analysis.replaceChildren();
    const points = scores(state.analyses, this.board.players.length);
    if (points.length) {
      this.graph.replaceChildren(
        h("p", { class: "faint" }, `expected score of ${this.board.players[0].name}`),
        evaluationGraph(points, state.ply, this.ply, this.board.players[0].name, (ply) => this.go(ply)));
    } else this.graph.replaceChildren();
    if (withBoard) {
      this.drawBoard();
      this.drawStatus();
    }
  }

  close() {
    this.editor?.close();
    window.removeEventListener("keydown", this.onKey);
    this.connection.close();
  }
}
