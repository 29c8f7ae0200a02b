// Start of the page: shows the view that the fragment of the URL names.

import { h, notify } from "./dom.js";
import { showLobby } from "./lobby.js";
import { GameView } from "./game.js";
import { showWatch } from "./watch.js";
import { showRuns } from "./runs.js";
import { showOpen, openShared } from "./open.js";

const main = document.getElementById("main");
let leave = () => {}; // closes the present view

async function route() {
  leave();
  leave = () => {};
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  main.replaceChildren();
  const [, page, id] = location.hash.split("/");
  try {
    if (location.hash.startsWith("#replay=")) await openShared();
    else if (page === "game" && id) {
      const view = new GameView(main, id);
      leave = () => view.close();
    } else if (page === "watch") leave = await showWatch(main);
    else if (page === "runs") leave = await showRuns(main, id);
    else if (page === "open") showOpen(main);
    else await showLobby(main);
  } catch (error) {
    main.replaceChildren(h("p", { class: "error", role: "alert" }, String(error.message ?? error)));
    notify("something went wrong");
  }
}

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

document.getElementById("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  applyTheme(next);
  localStorage.setItem("theme", next);
});

applyTheme(localStorage.getItem("theme"));
window.addEventListener("hashchange", route);
route();
