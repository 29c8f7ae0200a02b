// Evaluation graph: the expected score of the first player over the plies of a game.

import { svg } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 90;

// Pairs of ply and expected score of player 0, for games of two players; `players` is their number.
export function scores(analyses, players) {
  if (players !== 2) return [];
  return Object.entries(analyses)
    .map(([ply, { seat, score, proven }]) => {
      const own = proven ? { win: 1, draw: 0.5, loss: 0 }[proven] : score;
      return own === null || own === undefined ? null : [Number(ply), seat === 0 ? own : 1 - own];
    })
    .filter(Boolean)
    .sort((a, b) => a[0] - b[0]);
}

// `points` from `scores`; `current`: the ply that is shown; `onPly(ply)` is called for a click.
export function evaluationGraph(points, plies, current, name, onPly) {
  const x = (ply) => 4 + ((WIDTH - 8) * ply) / Math.max(1, plies);
  const y = (score) => 4 + (HEIGHT - 8) * (1 - score);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", role: "img" });
  const last = points.at(-1);
  picture.setAttribute("aria-label", last
    ? `expected score of ${name} over the game, at ply ${last[0]}: ${last[1].toFixed(2)}`
    : `expected score of ${name}: no analyses yet`);
  picture.append(svg("rect", { width: WIDTH, height: HEIGHT, rx: 6, class: "ground" }));
  picture.append(svg("line", { x1: 4, x2: WIDTH - 4, y1: y(0.5), y2: y(0.5), class: "middle" }));
  picture.append(svg("line", { x1: x(current), x2: x(current), y1: 4, y2: HEIGHT - 4, class: "now" }));
  if (points.length > 1) {
    const line = points.map(([ply, score]) => `${x(ply).toFixed(1)},${y(score).toFixed(1)}`).join(" ");
    picture.append(svg("polyline", { points: line, class: "line" }));
  }
  for (const [ply, score] of points) {
    picture.append(svg("circle", { cx: x(ply), cy: y(score), r: ply === current ? 4 : 2, class: "point" }));
  }
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const clicked = ((event.clientX - box.left) / box.width) * WIDTH;
    onPly(Math.max(0, Math.min(plies, Math.round(((clicked - 4) / (WIDTH - 8)) * plies))));
  });
  return picture;
}
