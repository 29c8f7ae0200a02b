// Dialogs of a game: further commands and the pace of play, and a position as JSON.

import { h, notify } from "./dom.js";
import { request } from "./connection.js";
import { savePage, saveRecord, saveReplay, share } from "./files.js";

const HUMAN = "human";

// `view`: the `GameView`; `kind`: "position", with `text` as JSON, or "more".
export function openDialog(view, kind, text = "") {
  const content = kind === "position" ? positionForm(view, text) : moreForm(view);
  const dialog = h("dialog", { "aria-label": kind === "position" ? "Set up a position" : "More" });
  const close = () => dialog.close();
  dialog.append(content(close), h("button", { type: "button", onclick: close }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// Returns a function that makes the content of the dialog, given the function that closes it.
function moreForm(view) {
  return (close) => {
    const run = (action) => () => {
      close();
      action();
    };
    const button = (label, action) => h("button", { type: "button", onclick: run(action) }, label);
    return h("div", {},
      h("h2", {}, view.board.title),
      h("p", { class: "faint" }, view.board.spec),
      h("div", { class: "controls" },
        button("Analyze the whole game", () => view.analyzeAll()),
        button("Save the replay", () => saveReplay(view)),
        ...view.board.formats.map((suffix) => button(`Save as ${suffix}`, () => saveRecord(view, suffix))),
        button("Save as a page", () => savePage(view)),
        button("Copy a link to the replay", () => share(view)),
        button("Set up a position …", () => view.send(view.board.can_be_edited ? "edit" : "get_position", { ply: view.ply })),
        button("People in all seats", () => view.send("seats", { seats: view.state.seats.map(() => HUMAN) })),
        button("Close the game", () => request(`/api/boards/${view.id}`, { method: "DELETE" }))),
      paceForm(view, close));
  };
}

// The form for the seconds between moves, the clock and pondering.
function paceForm(view, close) {
  const field = (name, label) => {
    const input = h("input", { id: `pace-${name}`, type: "number", min: 0, max: 60, step: 0.1, value: view.state[name] });
    return [input, h("div", { class: "field" }, h("label", { for: `pace-${name}` }, label), input)];
  };
  const [moveDelay, moveDelayField] = field("move_delay", "Seconds between moves of agents");
  const [clock, clockField] = field("clock", "Clock: seconds per step");
  const ponder = h("input", { id: "pace-ponder", type: "checkbox", checked: view.state.ponder });
  const ponderField = h("div", { class: "field" },
    h("label", { for: "pace-ponder" }, "Agents with reuse=True think on your time"), ponder);
  return h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      view.send("options", {
        move_delay: Number(moveDelay.value), clock: Number(clock.value), ponder: ponder.checked,
      });
      close();
    },
  }, moveDelayField, view.board.simultaneous ? clockField : ponderField, h("button", { type: "submit" }, "Set the pace"));
}

// Returns a function as `moreForm` does.
function positionForm(view, text) {
  return (close) => {
    const area = h("textarea", { rows: 12, "aria-label": "Position as JSON" });
    area.value = text;
    const start = () => {
      view.send("set_up", { position: area.value });
      view.editor?.close();
      close();
    };
    const copy = () => navigator.clipboard.writeText(area.value).then(() => notify("copied"));
    return h("div", {},
      h("h2", {}, "Set up a position"),
      h("p", { class: "faint" }, "The position as JSON, checked against the rules."),
      area,
      h("div", { class: "controls" },
        h("button", { type: "button", class: "primary", onclick: start }, "Play from this position"),
        h("button", { type: "button", onclick: copy }, "Copy")));
  };
}
