// Analysis of a position: expected score, moves with visits, value and policy, principal variation.

import { h, number, percent } from "./dom.js";

const SHOWN_MOVES = 10;
const SHOWN_VARIATION = 14; // moves

// `analysis` and `board` come from the server (payloads.py, board_view.py); `onMove(action)` is
// called for a click on a move; `thinking`: a search has begun that has no result yet.
export function analysisTable(analysis, board, { onMove = null, thinking = false } = {}) {
  if (!analysis) return h("p", { class: "faint" }, thinking ? "searching …" : "no analysis of this position yet");
  const player = board.players[analysis.seat].name;
  const searched = analysis.value_kind === "mean score";
  const has = (name) => analysis.moves.some((move) => move[name] !== null);
  const columns = [
    ["visits", "visits", (move) => move.visits?.toLocaleString("en") ?? ""],
    ["share", "visit share", (move) => percent(move.share)],
    ["value", searched ? "value (mean score)" : "value (Q)", (move) => number(move.value)],
    ["policy", "policy (prior)", (move) => percent(move.policy)],
  ].filter(([name]) => has(name));
  const rows = analysis.moves.slice(0, SHOWN_MOVES).map((move) =>
    h(
      "tr",
      { class: move.action === analysis.action ? "best" : "", "data-action": move.action },
      h("th", { scope: "row" }, onMove
        ? h("button", { type: "button", class: "link", onclick: () => onMove(move.action) }, move.name)
        : move.name),
      columns.map(([, , text]) => h("td", {}, text(move))),
    ));
  return h(
    "div",
    { class: "analysis" },
    h("p", {}, summary(analysis, player)),
    analysis.variation.length
      ? h("p", { class: "variation" }, h("span", { class: "faint" }, "principal variation "), analysis.variation.slice(0, SHOWN_VARIATION).join(" "))
      : null,
    rows.length
      ? h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "move"), columns.map(([, title]) => h("th", { scope: "col" }, title)))), h("tbody", {}, rows))
      : null,
    h("p", { class: "faint" }, effort(analysis)),
  );
}

// The chosen move and the score; `player` is the name of the player to move.
function summary(analysis, player) {
  const parts = [h("strong", {}, `${player}: ${analysis.name}`)];
  if (analysis.exact !== null) parts.push(`, exact score ${analysis.exact > 0 ? "+" : ""}${analysis.exact}`);
  else if (analysis.proven) parts.push(`, proven ${analysis.proven}`);
  else if (analysis.score !== null) parts.push(`, expected score ${number(analysis.score)}`);
  return h("span", { title: "expected score: win 1, draw 0.5, loss 0" }, parts);
}

// The agent and, if it has simulated games, the number of simulations and the time.
function effort(analysis) {
  const work = analysis.simulations
    ? `, ${analysis.simulations.toLocaleString("en")} simulations in ${analysis.seconds.toFixed(2)} s`
    : "";
  return `${analysis.agent}${work}`;
}

// Visit shares from 0.5 %, or Q values in [-1, 1] of agents without search, by action.
export function weights(analysis) {
  const byAction = new Map();
  for (const move of analysis?.moves ?? []) {
    if (move.share !== null && move.share >= 0.005) byAction.set(move.action, move.share);
    else if (move.share === null && move.value !== null && analysis.value_kind === "Q") {
      byAction.set(move.action, move.value);
    }
  }
  return byAction;
}
