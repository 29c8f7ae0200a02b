// Form of a new game: its parameters, and a player for each seat.

import { h } from "./dom.js";
import { request } from "./connection.js";

const HUMAN = "human";

export class GameForm {
  // The form is drawn in the element `host`; `game` is an entry of the list of games;
  // `onStart(summary)` is called when the server has opened the game.
  constructor(host, game, onStart) {
    this.host = host;
    this.game = game;
    this.onStart = onStart;
    this.params = {};
    this.seats = []; // `{agent, simulations}` by seat
    host.replaceChildren(h("p", { class: "faint" }, "loading …"));
    host.dataset.game = game.name;
    this.load();
  }

  // Loads the form for the present parameters; answers to earlier requests are ignored. Until then
  // the host is busy (`aria-busy`).
  async load() {
    this.host.setAttribute("aria-busy", "true");
    this.loads = (this.loads ?? 0) + 1;
    const load = this.loads;
    const isOld = () => load !== this.loads || this.host.dataset.game !== this.game.name;
    try {
      const form = await request(`/api/games/${this.game.name}`, { method: "POST", body: this.params });
      if (isOld()) return;
      this.form = form;
      this.problem = "";
    } catch (error) {
      if (isOld()) return;
      this.host.removeAttribute("aria-busy");
      if (!this.form) {
        this.host.replaceChildren(h("p", { class: "error", role: "alert" }, error.message));
        return;
      }
      this.problem = error.message;
      this.showProblem();
      return;
    }
    this.draw();
    this.host.removeAttribute("aria-busy");
  }

  draw() {
    const fields = this.form.fields.map((field) => this.field(field));
    this.seatBox = h("fieldset", { class: "seats" }, h("legend", {}, "Players"), this.seatFields());
    this.problemBox = h("p", { class: "error", role: "alert" });
    const timing = this.form.simultaneous
      ? this.number("clock", "Clock: seconds per step (0: wait for all people)", 0.5, 0.1)
      : null;
    const form = h(
      "form",
      { class: "new-game", "data-form": this.game.name, onsubmit: (event) => this.submit(event) },
      h("h2", {}, this.game.title),
      fields.length ? h("fieldset", {}, h("legend", {}, "Rules"), fields) : null,
      this.seatBox,
      h(
        "fieldset",
        {},
        h("legend", {}, "Pace"),
        timing,
        this.number("move_delay", "Seconds between moves of agents", 0.5, 0.1),
        this.number("seed", "Seed", 0, 1),
      ),
      this.problemBox,
      h("button", { class: "primary", type: "submit" }, "Start the game"),
    );
    this.host.replaceChildren(form);
  }

  // The input of a parameter; a change loads the form for the new parameters.
  field(field) {
    const value = this.params[field.name] ?? (field.default === null ? "" : String(field.default));
    const change = (event) => {
      const input = event.target;
      this.params[field.name] = input.type === "checkbox" ? String(input.checked) : input.value;
      this.load();
    };
    const id = `param-${field.name}`;
    const common = { id, name: field.name, onchange: change };
    let input;
    if (field.kind === "boolean") {
      input = h("input", { ...common, type: "checkbox", checked: value.toLowerCase() === "true" });
    } else if (field.kind === "choice") {
      input = h("select", common, field.options.map((option) =>
        h("option", { value: option, selected: option === value }, option)));
    } else {
      input = h("input", {
        ...common, type: field.kind === "text" ? "text" : "number", value, min: field.low,
        max: field.high, step: field.kind === "integer" ? 1 : "any",
        placeholder: field.optional ? "default" : null,
      });
    }
    return h(
      "div",
      { class: "field" },
      h("label", { for: id }, field.name.replaceAll("_", " ")),
      input,
      h("small", {}, field.description),
    );
  }

  // A choice of a person or an agent for each seat, with the number of simulations if it has one.
  seatFields() {
    const agents = this.form.agents;
    const preferred = agents.find(({ spec }) => spec.startsWith("mcts")) ?? agents.at(-1);
    return Array.from({ length: this.form.players }, (_, seat) => {
      this.seats[seat] ??= { agent: seat === 0 ? HUMAN : preferred?.spec ?? HUMAN };
      const chosen = this.seats[seat];
      if (chosen.agent !== HUMAN && !agents.some(({ spec }) => spec === chosen.agent)) {
        chosen.agent = preferred?.spec ?? HUMAN;
      }
      const entry = agents.find(({ spec }) => spec === chosen.agent);
      const id = `seat-${seat}`;
      const select = h(
        "select",
        { id, onchange: (event) => this.setSeat(seat, event.target.value) },
        h("option", { value: HUMAN, selected: chosen.agent === HUMAN }, "a person"),
        agents.map(({ spec }) => h("option", { value: spec, selected: spec === chosen.agent }, spec)),
      );
      const budget = entry?.simulations
        ? h("input", {
            type: "number", min: 1, max: 1000000, step: 1, value: chosen.simulations ?? entry.simulations,
            "aria-label": `Simulations per move of seat ${seat + 1}`, title: "simulations per move",
            onchange: (event) => (chosen.simulations = Number(event.target.value)),
          })
        : null;
      return h("div", { class: "field" }, h("label", { for: id }, `seat ${seat + 1}`), select, budget);
    });
  }

  setSeat(seat, agent) {
    this.seats[seat] = { agent };
    this.seatBox.replaceChildren(h("legend", {}, "Players"), ...this.seatFields());
  }

  // An input for a number; `value` is its initial value.
  number(name, label, value, step) {
    const id = `option-${name}`;
    const input = h("input", { id, name, type: "number", min: 0, step, value });
    return h("div", { class: "field" }, h("label", { for: id }, label), input);
  }

  showProblem() {
    if (this.problemBox) this.problemBox.textContent = this.problem;
  }

  async submit(event) {
    event.preventDefault();
    const value = (name) => Number(this.host.querySelector(`#option-${name}`)?.value ?? 0);
    const seats = this.seats
      .slice(0, this.form.players)
      .map(({ agent, simulations }) =>
        agent === HUMAN ? HUMAN : simulations ? { agent, simulations } : agent);
    try {
      const body = {
        game: this.game.name, params: this.params, seats, seed: value("seed"), clock: value("clock"),
        move_delay: value("move_delay"),
      };
      this.onStart(await request("/api/boards", { method: "POST", body }));
    } catch (error) {
      this.problem = error.message;
      this.showProblem();
    }
  }
}
