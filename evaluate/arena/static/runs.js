// Runs: trainings, tournaments and matches, read again every few seconds while they are in progress.

import { h } from "./dom.js";
import { request } from "./connection.js";
import { chart } from "./chart.js";
import { openBoard } from "./open.js";
import { showTournament } from "./tournament.js";

const SECONDS = 4; // between two readings of a run
const NEXT_PART_SECONDS = 0.1; // until the next part of a long log is read

// Draws the run with this identifier, by default the first, in the element `main`; returns the
// function that stops reading it.
export async function showRuns(main, id) {
  const runs = await request("/api/runs");
  const chosen = runs.find((run) => run.id === id) ?? runs[0];
  const problem = h("p", { class: "error", role: "alert" });
  const sections = new Sections();
  let timer = 0;
  let closed = false;
  const load = async () => {
    clearTimeout(timer);
    let wait = SECONDS;
    try {
      const run = await request(`/api/runs/${chosen.id}`);
      if (closed) return;
      problem.textContent = "";
      sections.show("heading", [run.name, run.kind], () => h("h2", {}, `${run.name}: ${run.kind}`));
      if (run.kind === "training") showTraining(sections, run);
      if (run.kind === "tournament") showTournament(sections, run);
      sections.show("replays", run.replays, () => replayList(chosen.id, run.replays));
      if (run.is_complete === false) wait = NEXT_PART_SECONDS;
    } catch (error) {
      if (closed) return;
      problem.textContent = error.message;
    }
    timer = setTimeout(load, 1000 * wait);
  };
  const select = h("select", { "aria-label": "Run", onchange: (event) => (location.hash = `#/runs/${event.target.value}`) },
    runs.map((run) => h("option", { value: run.id, selected: run === chosen }, `${run.name} (${run.kind})`)));
  const empty = h("p", {}, "No run folder: start the arena with ", h("code", {}, "--runs FOLDER"), ".");
  main.replaceChildren(h("section", { class: "runs" }, h("h1", {}, "Runs"), chosen ? select : empty, problem, sections.element));
  if (chosen) {
    sections.show("heading", "", () => h("p", { class: "faint" }, "loading …"));
    load();
  }
  return () => {
    closed = true;
    clearTimeout(timer);
  };
}

// Parts of a page, each drawn again only if its data has changed; the focus, the scroll positions
// and the details that are open stay.
class Sections {
  constructor() {
    this.element = h("div", { class: "run" });
    this.parts = new Map();
  }

  show(name, data, draw) {
    const text = JSON.stringify(data);
    const part = this.parts.get(name) ?? { element: h("section", { "data-part": name }) };
    if (part.text === text) return;
    const before = states(part.element);
    part.element.replaceChildren(...[draw()].flat().filter(Boolean));
    restore(part.element, before);
    if (!this.parts.has(name)) this.element.append(part.element);
    this.parts.set(name, { ...part, text });
  }
}

const STATEFUL = ".scroll, details, summary, button";

// What the user has changed in a part: scroll positions, open details, the focus.
function states(element) {
  return [...element.querySelectorAll(STATEFUL)].map((part) =>
    ({ left: part.scrollLeft, open: part.open, focused: part === document.activeElement }));
}

function restore(element, before) {
  element.querySelectorAll(STATEFUL).forEach((part, k) => {
    if (!before[k]) return;
    if (before[k].open !== undefined) part.open = before[k].open;
    part.scrollLeft = before[k].left;
    if (before[k].focused) part.focus();
  });
}

function showTraining(sections, run) {
  const settings = new Map(run.settings);
  const facts = [["game", settings.get("game")], ["command", run.command]].filter(([, value]) => value);
  sections.show("facts", facts, () => h("dl", { class: "facts" },
    facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  sections.show("curves", run.curves, () => run.curves.length
    ? h("div", { class: "charts" }, run.curves.map(({ name, points }) =>
        chart(name.replaceAll("__", ", ").replaceAll("_", " "), [{ name: "", points }], "step")))
    : h("p", {}, "no metrics yet"));
  sections.show("settings", run.settings, () => run.settings.length
    ? h("details", {}, h("summary", {}, "Settings"), h("dl", { class: "facts" },
        run.settings.flatMap(([name, value]) => [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, value)])))
    : null);
}

function replayList(id, replays) {
  if (!replays.length) return null;
  const open = async (number) => openBoard(await request(`/api/runs/${id}/replays/${number}`, { method: "POST" }));
  return [h("h3", {}, "Replays"), h("div", { class: "controls" },
    replays.map((name, number) => h("button", { type: "button", onclick: () => open(number) }, name)))];
}
