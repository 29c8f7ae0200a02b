// Stepper: buttons, a slider and keys that step through a game, and the list of its moves.

import { h } from "./dom.js";

const LONG_NAME = 8; // characters; a list with longer names of moves has one column

export class Stepper {
  // `onPly(ply)` is called to show the position after `ply` plies; it calls `show`.
  constructor(onPly) {
    this.onPly = onPly;
    this.ply = 0;
    this.plies = 0;
    const button = (text, label, target) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.go(target()) }, text);
    this.slider = h("input", {
      type: "range", min: 0, max: 0, value: 0, "aria-label": "ply",
      oninput: (event) => this.go(Number(event.target.value)),
    });
    this.text = h("output", {}, "");
    this.element = h(
      "div",
      { class: "stepper", role: "group", "aria-label": "Step through the game" },
      button("«", "First position", () => 0),
      button("‹", "Back (,)", () => this.ply - 1),
      this.slider,
      button("›", "Forward (.)", () => this.ply + 1),
      button("»", "Last position", () => this.plies),
      this.text,
    );
    this.list = h("ol", { class: "moves", "aria-label": "Moves", start: 1 });
  }

  go(ply) {
    this.onPly(Math.max(0, Math.min(this.plies, ply)));
  }

  // Returns whether the key was one of the stepper's.
  key(event) {
    const steps = { ",": -1, ".": 1, PageUp: -1, PageDown: 1 };
    if (event.key in steps) this.go(this.ply + steps[event.key]);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.plies);
    else return false;
    event.preventDefault();
    return true;
  }

  show(ply, moves) {
    this.ply = ply;
    this.plies = moves.length;
    this.slider.max = moves.length;
    this.slider.value = ply;
    this.text.textContent = `${ply} / ${moves.length}`;
    if (this.shown !== moves) {
      this.shown = moves;
      this.list.classList.toggle("long", moves.some((name) => name.length > LONG_NAME));
      this.list.replaceChildren(...moves.map((name, k) =>
        h("li", {}, h("button", { type: "button", class: "link", onclick: () => this.go(k + 1) }, name))));
    }
    [...this.list.children].forEach((item, k) => {
      const isCurrent = k + 1 === ply;
      if (isCurrent) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
      if (isCurrent) {
        this.list.scrollTop = item.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
      }
    });
  }
}
