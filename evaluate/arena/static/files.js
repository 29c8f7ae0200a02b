// Files and links with the replay of a game, in all formats. `view` is the `GameView`.

import { download, h, notify } from "./dom.js";
import { request } from "./connection.js";
import { shareLink } from "./open.js";

export const saveReplay = reporting(async (view) => {
  const replay = await request(`/api/boards/${view.id}/replay.json`);
  download(`${view.board.name}.json`, `${JSON.stringify(replay)}\n`);
});

export const saveRecord = reporting(async (view, suffix) => {
  const text = await request(`/api/boards/${view.id}/replay${suffix}`);
  download(`${view.board.name}${suffix}`, text, "text/plain");
});

export const share = reporting(async (view) => {
  const replay = await request(`/api/boards/${view.id}/replay.json`);
  await navigator.clipboard.writeText(shareLink(JSON.stringify(replay)));
  notify("the link is in the clipboard");
});

export function savePage(view) {
  h("a", { href: `/api/boards/${view.id}/replay.html`, download: `${view.board.name}.html` }).click();
}

// Returns an asynchronous function that shows the errors of `work`.
function reporting(work) {
  return (...values) => work(...values).catch((error) => notify(error.message));
}
