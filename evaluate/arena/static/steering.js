// Choice of actions in simultaneous games: buttons, and keys for up to two people who steer.

import { h } from "./dom.js";

const HUMAN = "human";
const KEY_SETS = [ // one for each person
  { name: "arrow keys", keys: { ArrowUp: "north", ArrowRight: "east", ArrowDown: "south", ArrowLeft: "west" } },
  { name: "W A S D", keys: { w: "north", d: "east", s: "south", a: "west" } },
];
const ARROWS = { north: "↑", east: "→", south: "↓", west: "←" };

export class KeyboardPlayers {
  // `view`: the `GameView`.
  constructor(view) {
    this.view = view;
  }

  // Seats of people, in the order of their key sets.
  get people() {
    const { state, board } = this.view;
    if (!state || !board?.simultaneous) return [];
    return state.seats.flatMap((seat, index) => (seat === HUMAN ? [index] : []));
  }

  key(event) {
    const { state, board } = this.view;
    for (const [k, player] of this.people.entries()) {
      const name = KEY_SETS[k]?.keys[event.key] ?? KEY_SETS[k]?.keys[event.key.toLowerCase()];
      const action = name === undefined ? -1 : board.actions.indexOf(name);
      if (action < 0 || !state.to_act.includes(player)) continue;
      event.preventDefault();
      this.choose(player, action);
      return true;
    }
    return false;
  }

  choose(player, action) {
    this.view.send("choose", { player, action });
  }

  // Whether all actions are directions.
  get steers() {
    return this.view.board.actions.every((name) => name in ARROWS);
  }

  // How people choose, such as "arrow keys or the buttons".
  controls() {
    const sets = this.steers ? this.people.slice(0, KEY_SETS.length) : [];
    const keys = sets.map((_, k) => KEY_SETS[k].name).join(" and ");
    return keys ? `${keys} or the buttons` : "the buttons";
  }

  // The status of a paused game: how people start it.
  invitation() {
    return this.people.length ? `paused: ${this.controls()} start the game` : "paused";
  }

  // Groups of buttons, one for each person who can choose now.
  pads() {
    const { state, board, isPresent } = this.view;
    if (!isPresent || state.over) return [];
    return this.people.filter((player) => state.to_act.includes(player)).map((player) => {
      const { name } = board.players[player];
      const button = (action) => {
        const text = board.actions[action];
        return h("button", {
          type: "button", class: this.steers ? `pad-${text}` : "", "aria-label": `${name}: ${text}`,
          onclick: () => this.choose(player, action),
        }, ARROWS[text] ?? text);
      };
      return h("div", { class: this.steers ? "pad" : "options", role: "group", "aria-label": `Actions of ${name}` },
        this.steers ? null : h("strong", {}, name), state.legal_by_player[player].map(button));
    });
  }
}
