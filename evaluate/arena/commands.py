"""Commands that a page in the browser sends about a game.

A command is a JSON object with a `type` and these fields (optional ones in brackets). Players and
actions are numbers. `ply` is the number of plies before a position; if it is omitted, the position
is the current one, except in `undo`.

| type | fields | effect |
|:--|:--|:--|
| `play` | `action`, `ply` | plays a move in the current position, which must have this `ply` |
| `choose` | `player`, `action` | chooses an action in a simultaneous game |
| `view` | `ply` | reply `position`: the view of a position |
| `undo` | [`ply`] | goes back to `ply`, by default to the last decision of a person |
| `redo` | | plays undone actions again |
| `restart` | [`seed`] | begins another game, by default with the next seed |
| `pause` | `on` | pauses the agents (true) or lets them continue (false) |
| `options` | [`move_delay`, `clock`, `ponder`] | sets these attributes of `ArenaGame` |
| `seats` | `seats` | replaces the players, see `Lobby.open` |
| `analyze` | [`ply`] | lets the adviser analyze a position next |
| `analyze_all` | | lets the adviser analyze all positions |
| `stop_analysis` | | stops the adviser |
| `stop` | | stops all searches of the game |
| `get_position` | [`ply`] | reply `position_json`: a position as JSON text |
| `set_up` | `position` | begins a game from a position as JSON text |
| `edit` | [`ply`] | reply `editor`: the contents of the position editor, see `editor_view` |
| `check_cells` | `cells`, `player`, `ply`, [`check`] | reply `cells`: the position or a problem |
| `set_up_cells` | `cells`, `player`, `ply` | begins a game from an edited position |

`cells` are codes of cells (see `position_setup`), `player` is the player to move, and `ply` that of
the position that was edited. `check` is the number of the check, which the reply repeats.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.serialization import state_from_json, state_to_json
from ludoteca.envs.validation import MAX_SEED
from ludoteca.evaluate.arena.arena_game import ArenaGame
from ludoteca.evaluate.arena.lobby import MAX_SECONDS, Lobby
from ludoteca.evaluate.arena.position_setup import editor_view, position_from_cells
from ludoteca.evaluate.play.session import HUMAN

Reply = Callable[[dict[str, Any]], None]
MAX_PROBLEM_LENGTH = 400  # characters of a reason that the position editor shows


async def run_command(lobby: Lobby, game: ArenaGame, message: Any, reply: Reply) -> None:
    """Run one command; `reply` sends an answer only to the client that sent the command.

    Raises:
        ValueError: if the command is unknown, or not possible now.
    """
    if not isinstance(message, dict):
        raise ValueError(f"expected a JSON object, got {message!r:.80}")
    kind = message.get("type")
    plies = len(game.history.actions)
    match kind:
        case "play":
            _play(game, message)
        case "choose":
            player = check_integer("player", message.get("player"), 0, game.game.num_players - 1)
            action = _action(game, message)
            game.turns.check_choice(player, action)
            if game.paused:  # a simultaneous game with people begins at the first choice
                game.set_paused(False)
            game.turns.choose(player, action)
        case "view":
            ply = check_integer("ply", message.get("ply"), 0, plies)
            reply({"type": "position", "position": game.position(ply)})
        case "undo":
            target = message.get("ply")
            game.undo(None if target is None else check_integer("ply", target, 0, plies))
        case "redo":
            game.redo()
        case "restart":
            seed = message.get("seed")
            game.restart(None if seed is None else check_integer("seed", seed, 0, MAX_SEED))
        case "pause":
            game.set_paused(message.get("on") is True)
        case "options":
            game.move_delay = check_real(
                "move_delay", message.get("move_delay", game.move_delay), 0, MAX_SECONDS
            )
            game.clock = check_real("clock", message.get("clock", game.clock), 0, MAX_SECONDS)
            game.ponder = message.get("ponder", game.ponder) is True
            game.changed()
        case "seats":
            game.set_seats(await lobby.seats(game.game, message.get("seats")))
        case "analyze":
            ply = check_integer("ply", message.get("ply", plies), 0, plies)
            # The adviser analyzes one position at a time: otherwise this one would have to wait.
            await _stop_adviser(game)
            game.advice.request([ply])
        case "analyze_all":
            game.advice.request(list(range(plies + 1)))
        case "stop_analysis":
            game.advice.queue.clear()
            await _stop_adviser(game)
        case "stop":
            await game.stop()
        case "get_position":
            ply = check_integer("ply", message.get("ply", plies), 0, plies)
            reply({"type": "position_json", "text": game.position_json(ply)})
        case "set_up":
            text = message.get("position")
            if not isinstance(text, str):
                raise ValueError("expected a position as JSON text")
            game.set_up(state_from_json(game.game, text))
        case "edit":
            ply = check_integer("ply", message.get("ply", plies), 0, plies)
            view = await asyncio.to_thread(editor_view, game.game, game.position_at(ply))
            reply({"type": "editor", "ply": ply, **view})
        case "check_cells":
            # The page counts its checks, and ignores the reply to any but the latest.
            check = check_integer("check", message.get("check", 0), 0, 2**31)
            reply({"type": "cells", "check": check, **await _check_cells(game, message)})
        case "set_up_cells":
            game.set_up(await _position_of(game, message))
            reply({"type": "cells_set_up"})
        case _:
            raise ValueError(f"unknown command {kind!r:.80}")


async def _stop_adviser(game: ArenaGame) -> None:
    """Stop the running analysis of the adviser; queued positions stay in the queue."""
    await game.workers.stop(f"{game.name}/advice")


async def _check_cells(game: ArenaGame, message: dict[str, Any]) -> dict[str, str]:
    """Return the position of edited cells as JSON text, or the reason why there is none."""
    try:
        s = await _position_of(game, message)
    except ValueError as error:
        return {"problem": str(error)[:MAX_PROBLEM_LENGTH], "text": ""}
    return {"problem": "", "text": state_to_json(game.game, s)}


async def _position_of(game: ArenaGame, message: dict[str, Any]) -> Any:
    """Return the position of edited cells, a NumPy record.

    Raises:
        ValueError: with the reason, if there is none.
    """
    cells = message.get("cells")
    player = check_integer("player", message.get("player"), 0, game.game.num_players - 1)
    ply = check_integer("ply", message.get("ply"), 0, len(game.history.actions))
    edited = game.position_at(ply)
    return await asyncio.to_thread(position_from_cells, game.game, edited, cells, player)


def _play(game: ArenaGame, message: dict[str, Any]) -> None:
    """Play the action of the person to move.

    Raises:
        ValueError: if no person is to move, the action is illegal, or the message is about another
            position than the current one.
    """
    history = game.history
    if history.is_over:
        raise ValueError("the game is over")
    if game.game.simultaneous:
        raise ValueError(
            f'all players of {game.game.name} move at once: send "choose" instead of "play"'
        )
    mover = history.mover
    assert mover is not None
    if game.seats[mover] != HUMAN:
        raise ValueError(f"it is the turn of {game.seats[mover]}")
    if message.get("ply") != len(history.actions):
        raise ValueError("the position has changed meanwhile")
    action = _action(game, message)
    if action not in history.legal():
        raise ValueError(f"{game.game.action_names[action]} is not a legal move here")
    game.play(action)


def _action(game: ArenaGame, message: dict[str, Any]) -> int:
    """Return the action of a message; it may be illegal in the current position."""
    return check_integer("action", message.get("action"), 0, game.game.num_actions - 1)
