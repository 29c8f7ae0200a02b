// Lobby: all games, the form of a new game, and the open games.

import { h } from "./dom.js";
import { request } from "./connection.js";
import { GameForm } from "./form.js";

// Draws the lobby in the element `main`. On the server, an open game is a "board".
export async function showLobby(main) {
  const [games, boards] = await Promise.all([request("/api/games"), request("/api/boards")]);
  const place = h("section", { class: "form-place" });
  const list = h("div", { class: "games", role: "group", "aria-label": "Games" });
  for (const game of games) {
    const players = game.players === null
      ? "any number of players" : `${game.players} players${game.simultaneous ? ", simultaneous" : ""}`;
    const choose = () => {
      for (const other of list.children) other.setAttribute("aria-pressed", other === button);
      new GameForm(place, game, ({ id }) => (location.hash = `#/game/${id}`));
      localStorage.setItem("game", game.name);
    };
    const button = h(
      "button",
      { type: "button", "aria-pressed": "false", onclick: choose, "data-game": game.name },
      h("strong", {}, game.title),
      h("small", {}, players),
    );
    list.append(button);
  }
  main.replaceChildren(
    h("div", { class: "lobby" }, h("section", {}, h("h1", {}, "Choose a game"), list, openGames(boards)), place),
  );
  const last = localStorage.getItem("game") ?? "othello";
  (list.querySelector(`[data-game="${last}"]`) ?? list.firstElementChild)?.click();
}

function openGames(boards) {
  if (!boards.length) return null;
  const rows = boards.map((board) =>
    h("li", {}, h("a", { href: `#/game/${board.id}` }, board.title), ` ${board.seats.join(" – ")}, ply ${board.ply}`));
  return h("section", { class: "open-games" }, h("h2", {}, "Open games"), h("ul", {}, rows));
}
