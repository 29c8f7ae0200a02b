// Replay of a game, finished or not, that plays automatically and needs no server.

import { h, icon } from "./dom.js";
import { BoardView } from "./board.js";
import { Stepper } from "./stepper.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

export class ReplayView {
  // `data`: board, positions, moves, players, title and seconds per position; see replay_page.py.
  constructor(main, data) {
    this.data = data;
    this.speed = 1;
    this.timer = 0;
    const place = h("div", { class: "board-place" });
    this.view = new BoardView(place);
    this.stepper = new Stepper((ply) => this.show(ply));
    this.status = h("p", { class: "status", role: "status", "aria-live": "off" });
    this.players = h("ul", { class: "players", "aria-label": "Players" });
    this.play = h("button", { type: "button", class: "primary", onclick: () => this.toggle() }, "Play");
    const speeds = h("select", { "aria-label": "Speed", onchange: (event) => (this.speed = Number(event.target.value)) },
      SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed} ×`)));
    const flip = h("button", { type: "button", onclick: () => this.view.setFlipped(!this.view.flipped) }, "Flip");
    flip.disabled = data.board.input === "column";
    main.replaceChildren(h("div", { class: "game" }, place, h("aside", { class: "panel" },
      h("h1", {}, data.title), h("p", { class: "faint" }, `${data.board.spec}, seed ${data.seed}`),
      this.players, this.status, h("div", { class: "controls" }, this.play, speeds, flip), this.stepper.element,
      h("details", { open: true }, h("summary", {}, "Moves"), this.stepper.list))));
    this.view.setBoard(data.board);
    window.addEventListener("keydown", (event) => this.key(event));
    this.show(0);
  }

  show(ply) {
    const position = this.data.positions[ply];
    this.ply = ply;
    this.view.setPosition(position);
    this.status.textContent = position.last ? `${position.last}: ${position.status}` : position.status;
    this.players.replaceChildren(...this.data.board.players.map((player, seat) =>
      h("li", { class: position.standing[seat].out ? "out" : "" }, icon(player.icon),
        h("span", {}, h("strong", {}, player.name), ` ${this.data.players[seat] ?? ""}`),
        h("span", { class: "standing" }, position.standing[seat].text))));
    this.stepper.show(ply, this.data.moves);
  }

  // Starts or stops playing; at the end, it starts again from the first position.
  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    if (this.ply === this.data.moves.length) this.show(0);
    this.play.textContent = "Pause";
    this.next();
  }

  // Shows the next position after a pause, and so on until the end.
  next() {
    this.timer = setTimeout(() => {
      if (this.ply >= this.data.moves.length) {
        this.stop();
        return;
      }
      this.show(this.ply + 1);
      this.next();
    }, (1000 * this.data.seconds) / this.speed);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }

  key(event) {
    if (/^(SELECT|INPUT|BUTTON)$/.test(event.target.tagName) && event.key === " ") return;
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") {
      event.preventDefault();
      this.toggle();
    } else if (event.key === "f" && this.data.board.input !== "column") {
      this.view.setFlipped(!this.view.flipped);
    } else if (!this.stepper.key(event) && event.target.type !== "range") {
      if (event.key === "ArrowLeft") this.stepper.go(this.ply - 1);
      if (event.key === "ArrowRight") this.stepper.go(this.ply + 1);
    }
  }
}
