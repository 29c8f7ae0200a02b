// Steering of simultaneous games: keys for up to two people, and buttons for touch.

import { h } from "./dom.js";

const HUMAN = "human";
const SETS = [
  { name: "arrow keys", keys: { ArrowUp: "north", ArrowRight: "east", ArrowDown: "south", ArrowLeft: "west" } },
  { name: "W A S D", keys: { w: "north", d: "east", s: "south", a: "west" } },
];
const ARROWS = { north: "↑", east: "→", south: "↓", west: "←" };

export class KeyboardPlayers {
  constructor(view) {
    this.view = view;
  }

  // Seats of people, in the order of their sets of keys.
  get people() {
    const { state, board } = this.view;
    if (!state || !board?.simultaneous) return [];
    return state.seats.flatMap((seat, index) => (seat === HUMAN ? [index] : []));
  }

  key(event) {
    const { state, board } = this.view;
    for (const [k, player] of this.people.entries()) {
      const name = SETS[k]?.keys[event.key] ?? SETS[k]?.keys[event.key.toLowerCase()];
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

  invitation() {
    const keys = this.people.slice(0, SETS.length).map((_, k) => SETS[k].name).join(" and ");
    return keys ? `paused: ${keys} or the buttons start the game` : "paused";
  }

  pads() {
    const { state, board, isPresent } = this.view;
    if (!isPresent || state.over) return [];
    return this.people.filter((player) => state.to_act.includes(player)).map((player) =>
      h("div", { class: "pad", role: "group", "aria-label": `Direction of ${board.players[player].name}` },
        state.legal_by_player[player].map((action) =>
          h("button", { type: "button", class: `pad-${board.actions[action]}`, "aria-label": `${board.players[player].name}: ${board.actions[action]}`,
            onclick: () => this.choose(player, action) }, ARROWS[board.actions[action]] ?? board.actions[action]))));
  }
}
