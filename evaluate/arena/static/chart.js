// Charts: lines of values over steps, and values with their intervals.

import { h, svg } from "./dom.js";

const HEIGHT = 140;
const EDGE = 6;
export const SERIES = 8; // number of line colors in style.css

// A chart with a line for each of `series`, `{name, points, color}`: `points` are pairs of step and
// value, `color` is a number, by default 0. `unit` names the steps.
export function chart(title, series, unit, width = 320) {
  const points = series.flatMap((line) => line.points);
  const [first, last] = range(points.map(([step]) => step));
  const [low, high] = range(points.map(([, value]) => value));
  const x = (step) => EDGE + (width - 2 * EDGE) * share(step, first, last);
  const y = (value) => HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share(value, low, high);
  const ends = series.map(({ name, points }) => `${name} ${short(points.at(-1)[1])}`).join(", ");
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`, class: "graph", role: "img",
    "aria-label": `${title}: ${ends} at ${unit} ${short(last)}, from ${short(low)} to ${short(high)}`,
  }, svg("rect", { width, height: HEIGHT, rx: 6, class: "ground" }));
  if (low < 0 && high > 0) picture.append(svg("line", { x1: EDGE, x2: width - EDGE, y1: y(0), y2: y(0), class: "middle" }));
  for (const { points: line, color = 0 } of series) {
    const end = line.at(-1);
    const path = line.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    picture.append(
      svg("polyline", { points: path, class: `line series-${color % SERIES}` }),
      svg("circle", { cx: x(end[0]), cy: y(end[1]), r: 3, class: `point series-${color % SERIES}` }));
  }
  const heading = series.length === 1 ? ` ${short(series[0].points.at(-1)[1])}` : "";
  return h("figure", {}, h("figcaption", {}, h("strong", {}, title), heading), picture,
    h("small", {}, `${unit} ${short(first)} to ${short(last)}, ${short(low)} to ${short(high)}`));
}

// The color of a line, for tables and legends.
export function swatch(color) {
  return svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, class: "swatch", "aria-hidden": "true" },
    svg("circle", { cx: 6, cy: 6, r: 5, class: `point series-${color % SERIES}` }));
}

// A value with its interval (`from`, `to`), on a scale from `low` to `high`.
export function interval(value, from, to, [low, high]) {
  const x = (number) => 4 + (92 * (number - low)) / (high - low || 1);
  return svg("svg", { viewBox: "0 0 100 12", class: "interval", "aria-hidden": "true" },
    low < 0 && high > 0 ? svg("line", { x1: x(0), x2: x(0), y1: 0, y2: 12, class: "middle" }) : "",
    svg("line", { x1: x(from), x2: x(to), y1: 6, y2: 6, class: "reach" }),
    svg("circle", { cx: x(value), cy: 6, r: 3.5, class: "point" }));
}

// The smallest and the largest number that is not null.
export function range(numbers) {
  const known = numbers.filter((number) => number !== null);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
}

// A number as text with four significant digits, integers in full.
export function short(value) {
  const isLong = Math.abs(value) >= 1e9 || (value && Math.abs(value) < 1e-3);
  const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(4));
  return (isLong ? value.toExponential(2) : rounded.toLocaleString("en")).replace("-", "−");
}

// Where a value lies between `low` and `high`, from 0 to 1.
function share(value, low, high) {
  return low === high ? 0.5 : (value - low) / (high - low);
}
