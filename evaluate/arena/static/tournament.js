// Tournament: progress, standings with ratings and their curves, pairs, and the newest games.
// `run` comes from tournament_view.py; games and agents are numbers in its lists.

import { h, percent } from "./dom.js";
import { SERIES, chart, interval, range, short, swatch } from "./chart.js";

export function showTournament(sections, run) {
  const name = (agent) => run.agents[agent].name;
  // The time since the last game is drawn again every 10 seconds.
  const { played, planned, idle } = run;
  sections.show("progress", [played, planned, run.is_complete, Math.floor((idle ?? 0) / 10)], () => progress(run));
  sections.show("standings", run.standings, () => standings(run, name));
  sections.show("curve", run.curve, () => curve(run, name));
  sections.show("newest", run.newest, () => newest(run, name));
  sections.show("pairs", run.pairs, () => pairs(run, name));
  sections.show("plan", [run.plan, run.agents], () => plan(run));
}

function progress({ played, planned, is_complete, idle, plies }) {
  const label = `${played.toLocaleString("en")} of ${planned.toLocaleString("en")} games`;
  let state = idle === null ? "no games yet" : `last game ${ago(idle)}`;
  if (played === planned) state = "finished";
  if (!is_complete) state = "reading the log …";
  return h("p", { class: "progress" },
    h("progress", { max: planned, value: played, "aria-label": "Games played" }),
    h("strong", {}, label), ` (${percent(played / planned)}), `,
    played ? `${(plies / played).toFixed(1)} plies per game, ${state}` : state);
}

function ago(seconds) {
  if (seconds < 20) return "just now";
  if (seconds < 120) return `${Math.round(seconds / 10) * 10} s ago`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

function standings({ standings: rows, needs }, name) {
  const scale = range(rows.flatMap(({ low, high }) => [low, high]));
  const forfeits = rows.some((row) => row.forfeits);
  return [h("h3", {}, "Standings"), table(
    ["agent", "Elo", "95 % interval", "", "score", "games", "wins", "draws", "losses", forfeits ? "forfeits" : null],
    rows.map((row) => [
      h("span", {}, swatch(row.agent), " ", name(row.agent)), signed(row.elo),
      row.elo === null ? "" : `${signed(row.low)} to ${signed(row.high)}`,
      row.elo === null ? "" : interval(row.elo, row.low, row.high, scale),
      percent(row.score), row.games, row.wins, row.draws, row.losses, forfeits ? row.forfeits : null,
    ])),
    h("p", { class: "faint" }, needs || "A draw counts half a win. Elo ratings by the Bradley-Terry model, mean 0, over the games so far.")];
}

function curve(run, name) {
  const best = run.standings.slice(0, SERIES).map((row) => row.agent);
  const series = best.map((agent) => ({
    name: name(agent), color: agent,
    points: run.curve.filter(([, elo]) => elo[agent] !== null).map(([games, elo]) => [games, elo[agent]]),
  })).filter(({ points }) => points.length);
  if (!series.length) return null;
  const legend = h("p", { class: "legend faint" }, series.map(({ name, color }) => h("span", {}, swatch(color), ` ${name}`)));
  return h("div", { class: "wide" }, chart("Elo over the games", series, "game", 540), legend);
}

function newest({ newest: games, games: titles }, name) {
  if (!games.length) return null;
  const result = { W: (a) => `${a} won`, L: (a, b) => `${b} won`, D: () => "draw" };
  return [h("h3", {}, "Newest games"), table(
    ["game", "moves first", "moves second", "result", "repeat.game"],
    games.map(({ game, pair: [a, b], first, outcome, number, repeat, forfeit }) => [
      titles[game], name(first), name(first === a ? b : a),
      `${result[outcome](name(a), name(b))}${forfeit ? ` (${forfeit})` : ""}`, `${repeat + 1}.${number + 1}`,
    ]), 4)];
}

function pairs({ pairs: rows, games }, name) {
  return h("details", { open: rows.length <= 30 }, h("summary", {}, "Pairs"), table(
    ["game", "pair", "played", "", "wins", "draws", "losses", "score"],
    rows.map(({ game, pair: [a, b], played, planned, wins, draws, losses }) => [
      games[game], `${name(a)} – ${name(b)}`,
      h("progress", { max: planned, value: played, "aria-hidden": "true" }), `${short(played)} of ${short(planned)}`,
      wins, draws, losses, played ? percent((wins + draws / 2) / played) : "",
    ]), 2));
}

function plan({ plan: facts, agents }) {
  const all = [...facts, ...agents.map(({ name, spec }) => [name, spec])];
  return h("details", {}, h("summary", {}, "Plan"), h("dl", { class: "facts" },
    all.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

// A table whose first `numTexts` columns are texts, the others numbers; columns whose name is null
// are left out.
function table(columns, rows, numTexts = 1) {
  const shown = columns.map((name) => name !== null);
  const cells = (row) => row.filter((_, k) => shown[k]);
  const kind = (k) => (k < numTexts ? "text" : null);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": columns.filter(Boolean).join(", ") },
    h("table", { class: "numbers" },
      h("thead", {}, h("tr", {}, cells(columns).map((name, k) => h("th", { scope: "col", class: kind(k) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, cells(row).map((value, k) =>
        h(k ? "td" : "th", { scope: k ? null : "row", class: kind(k) }, typeof value === "number" ? value.toLocaleString("en") : value)))))));
}

function signed(value) {
  const rounded = Math.round(value);
  return value === null ? "" : `${rounded > 0 ? "+" : rounded < 0 ? "−" : ""}${Math.abs(rounded)}`;
}
