// Choice of directions in simultaneous games: keys for up to two people, and buttons for touch.

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

  // The status of a paused game: how people start it.
  invitation() {
    const keys = this.people.slice(0, KEY_SETS.length).map((_, k) => KEY_SETS[k].name).join(" and ");
    return keys ? `paused: ${keys} or the buttons start the game` : "paused";
  }

  // Groups of buttons, one for each person who can choose now.
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
