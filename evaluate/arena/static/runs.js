// Runs: the curves of trainings, read again every few seconds while they are in progress.

import { h, svg } from "./dom.js";
import { request } from "./connection.js";

const WIDTH = 320;
const HEIGHT = 140;
const SECONDS = 4;

export async function showRuns(main) {
  const runs = await request("/api/runs");
  const charts = h("div", { class: "charts" });
  let timer = 0;
  let chosen = 0;
  const load = async () => {
    clearTimeout(timer);
    const run = chosen;
    try {
      const { curves } = await request(`/api/runs/${run}`);
      if (run !== chosen) return;
      charts.replaceChildren(...curves.map(chart));
      if (!curves.length) charts.textContent = "no metrics yet";
    } catch (error) {
      charts.textContent = error.message;
    }
    timer = setTimeout(load, 1000 * SECONDS);
  };
  const select = h("select", { "aria-label": "Run", onchange: (event) => {
    chosen = Number(event.target.value);
    load();
  } }, runs.map((name, index) => h("option", { value: index }, name)));
  const empty = h("p", {}, "No run folder: start the arena with ", h("code", {}, "--runs FOLDER"), ".");
  main.replaceChildren(h("h1", {}, "Training runs"), runs.length ? select : empty, charts);
  if (runs.length) load();
  return () => {
    chosen = -1;
    clearTimeout(timer);
  };
}

function chart({ name, points }) {
  const steps = points.map(([step]) => step);
  const values = points.map(([, value]) => value);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (step) => 6 + ((WIDTH - 12) * (step - first)) / (last - first || 1);
  const y = (value) => HEIGHT - 6 - ((HEIGHT - 12) * (value - low)) / (high - low || 1);
  const label = `${name}: ${short(values.at(-1))} at step ${last}, from ${short(low)} to ${short(high)}`;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", role: "img", "aria-label": label },
    svg("rect", { width: WIDTH, height: HEIGHT, rx: 6, class: "ground" }),
    svg("polyline", { points: points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" "), class: "line" }),
    svg("circle", { cx: x(steps.at(-1)), cy: y(values.at(-1)), r: 3, class: "point" }));
  return h("figure", {}, h("figcaption", {}, h("strong", {}, name.replaceAll("_", " ")), ` ${short(values.at(-1))}`),
    picture, h("small", {}, `step ${first} to ${last}, ${short(low)} to ${short(high)}`));
}

function short(value) {
  return Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
