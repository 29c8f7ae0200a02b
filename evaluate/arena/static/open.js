// Replays from files and links: they become games that can be stepped through and analyzed.

import { h, notify } from "./dom.js";
import { request } from "./connection.js";

// Draws the form for files and texts in the element `main`.
export function showOpen(main) {
  const area = h("textarea", { rows: 8, "aria-label": "Text of a replay", placeholder: '{"format": "ludoteca-replay", ...} or SGF, GGF, f5d6c3…' });
  const number = h("input", { id: "game-number", type: "number", min: 1, step: 1, value: 1 });
  const problem = h("p", { class: "error", role: "alert" });
  const open = async (text) => {
    try {
      await openReplay(text, Number(number.value));
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  const file = h("input", {
    type: "file", accept: ".json,.sgf,.ggf,.txt,application/json", "aria-label": "Replay file",
    onchange: async (event) => event.target.files[0] && open(await event.target.files[0].text()),
  });
  main.replaceChildren(
    h("section", { class: "narrow" },
      h("h1", {}, "Open a replay"),
      h("p", {}, "A file that a game, ", h("code", {}, "ludoteca match --replays"), " or ", h("code", {}, "ludoteca play"), " has written, SGF of Hex or Othello, GGF or a transcript of Othello:"),
      h("div", { class: "field" }, h("label", { for: "game-number" }, "Number of the game in a file with several"), number),
      file,
      h("p", {}, "or its text:"),
      area,
      h("button", { type: "button", class: "primary", onclick: () => open(area.value) }, "Open"),
      problem),
  );
}

// Opens the game with this number, from 1, in a text.
export async function openReplay(text, number = 1) {
  openBoard(await request(`/api/replays?game=${number}`, { method: "POST", text }));
}

// Shows a game that the server has opened, and its notes about the file.
export function openBoard({ id, notes }) {
  if (notes.length) notify(notes.join("; "));
  location.hash = `#/game/${id}`;
}

// A link with the whole replay in its fragment, which never reaches a server by itself.
export function shareLink(text) {
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `${location.origin}/#replay=${base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// Opens the replay in the fragment of the present URL.
export async function openShared() {
  const base64 = location.hash.slice("#replay=".length).replaceAll("-", "+").replaceAll("_", "/");
  let text = "";
  try {
    text = new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
  } catch {
    notify("this link holds no replay");
    location.hash = "#/open";
    return;
  }
  await openReplay(text);
}
