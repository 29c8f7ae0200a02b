// Overview of all open games, kept up to date by the server.

import { h } from "./dom.js";
import { request, Connection } from "./connection.js";
import { BoardView } from "./board.js";

// Draws the games in the element `main`; returns the function that closes their connections.
export async function showWatch(main) {
  const boards = await request("/api/boards");
  const connections = [];
  const grid = h("div", { class: "watch" });
  for (const board of boards) {
    const place = h("div", { class: "board-place" });
    const status = h("p", { class: "faint" });
    const view = new BoardView(place);
    grid.append(h("article", {}, h("h2", {}, h("a", { href: `#/game/${board.id}` }, board.title)), place, status));
    connections.push(new Connection(board.id, (message) => {
      if (message.type === "board") view.setBoard(message);
      if (message.type !== "state") return;
      view.setPosition(message.position);
      status.textContent = `${message.seats.join(" – ")}: ply ${message.ply}, ${message.position.status}`;
    }));
  }
  const empty = h("p", {}, "No game is open. ", h("a", { href: "#/" }, "Start one"), " with agents in all seats.");
  main.replaceChildren(h("h1", {}, "Open games"), boards.length ? grid : empty);
  return () => connections.forEach((connection) => connection.close());
}
