"""Replay as a single HTML file, which plays in any browser without a server or the network."""

import base64
import hashlib
import json
import re
from html import escape
from importlib import resources
from typing import Any

from ludoteca.envs.registry import make_game
from ludoteca.envs.render.replay_scenes import replay_steps, seconds_per_position
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.arena.board_view import action_text, board_view, position_view

MODULES = ("dom.js", "board.js", "stepper.js", "replay.js")  # each after those that it imports
# JavaScript that shows the replay once the modules are loaded.
START = """
const content = JSON.parse(document.getElementById("replay").textContent);
new ReplayView(document.getElementById("main"), content);
"""


def replay_page(replay: Replay, seconds: float | None = None) -> str:
    """Return a replay as an HTML document without references to other files.

    Args:
        replay: the replay.
        seconds: seconds per position; by default see `seconds_per_position`.

    Raises:
        ValueError: if the replay is invalid, or `seconds` is not positive.
    """
    seconds = seconds_per_position(replay) if seconds is None else seconds
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    data = replay_view(replay) | {"seconds": seconds}
    # Without "<", no text of the replay can end the script element.
    content = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    script, style = bundle(MODULES) + START, _static("style.css")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    title = escape(
        f"{data['title']}: {', '.join(replay.players)}" if replay.players else data["title"]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{title}</title>\n'
        f"<style>{style}</style>\n</head>\n"
        '<body>\n<main id="main" class="alone"></main>\n'
        f'<script type="application/json" id="replay">{content}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def replay_view(replay: Replay) -> dict[str, Any]:
    """Return a replay as JSON values: the board, all positions, moves and players."""
    game = make_game(replay.game)
    positions, moves = [], []
    for ply, (s, action, standings) in enumerate(replay_steps(game, replay)):
        view = position_view(game, s, ply, action, standings)
        positions.append({key: view[key] for key in ("svg", "codes", "last", "status", "standing")})
        if action is not None:
            moves.append(action_text(game, action))
    return {
        "title": game.title,
        "seed": replay.seed,
        "board": board_view(game),
        "positions": positions,
        "moves": moves,
        "players": list(replay.players),
    }


def bundle(modules: tuple[str, ...]) -> str:
    """Return the text of JavaScript modules as one, without imports of each other and exports."""
    text = "\n".join(_static(name) for name in modules)
    text = re.sub(r'^import [^;]*? from "\./[\w.]+";\n', "", text, flags=re.MULTILINE)
    return re.sub(r"^export (?=function|class|const|async)", "", text, flags=re.MULTILINE)


def _static(name: str) -> str:
    file = resources.files("ludoteca.evaluate.arena") / "static" / name
    return file.read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Return the hash by which a Content Security Policy allows an inline script or style.

    Content Security Policy Level 3, section 2.3.1 (`hash-source`).
    """
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"
