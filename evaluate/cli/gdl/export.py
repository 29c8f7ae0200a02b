"""The command `ludoteca gdl export`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import OptionalFile, OptionalInt

if TYPE_CHECKING:
    from ludoteca.envs.game import Game


def export(
    game: Annotated[Positional[str | None], arg(metavar="[GAME]", help_behavior_hint="")] = None,
    moves: Annotated[tuple[str, ...], arg(metavar="[MOVE ...]", help_behavior_hint="")] = (),
    replay: OptionalFile = None,
    ply: OptionalInt = None,
    sheet: bool = False,
    out: OptionalFile = None,
) -> None:
    """Write a position of a game as terms of its rule sheet, one fluent per line.

    Other programs that play from rule sheets can start from the position.

    Args:
        game: the game, such as breakthrough; only games of the default size have a rule sheet.
        moves: moves from the initial position, by name, such as a2-a3; in simultaneous games the
            moves of all players in each ply, such as north south.
        replay: file of a replay, instead of GAME and --moves.
        ply: position after this number of plies of the replay; by default the last one.
        sheet: write the rule sheet with this position as its initial one.
        out: file to write; by default, standard output.
    """
    from ludoteca.envs.gdl.own_sheets import GAME_SHEETS, game_sheet, sheet_names
    from ludoteca.envs.registry import make_game
    from ludoteca.files import write_atomically

    if (game is None) == (replay is None):
        raise ValueError(
            "expected either a game or --replay, such as: ludoteca gdl export breakthrough"
        )
    if replay is not None:
        if moves:
            raise ValueError("--moves needs a game, not --replay")
        rules, s = _replay_position(replay, ply)
    elif ply is not None:
        raise ValueError("--ply needs --replay")
    elif game in sheet_names() and game not in GAME_SHEETS:
        raise ValueError(
            f"{game} is a rule sheet, but not one of our games, whose positions can be exported: "
            f"{', '.join(GAME_SHEETS)}"
        )
    else:
        rules = make_game(str(game))
        s = _position_after(rules, moves)
    rule_sheet = game_sheet(rules)
    lines = (
        _sheet_statements(rule_sheet.path, rule_sheet.state(s)) if sheet else rule_sheet.state(s)
    )
    text = "\n".join(lines) + "\n"
    if out is None:
        print(text, end="")
    else:
        write_atomically(out, text)
        print(f"{len(rule_sheet.state(s))} fluents: {out}")


def _replay_position(file: Path, ply: int | None) -> "tuple[Game, Any]":
    """Return the game of a replay and the position after a number of plies."""
    from itertools import islice

    from ludoteca.envs.registry import make_game
    from ludoteca.envs.replay import Replay
    from ludoteca.envs.targets import untrusted_names

    replay = Replay.load(file)
    plies = len(replay.actions)
    if ply is not None and not 0 <= ply <= plies:
        raise ValueError(f"--ply must be from 0 to {plies}, got {ply}")
    with untrusted_names("the replay"):
        game = make_game(replay.game)
    return game, next(islice(replay.positions(), plies if ply is None else ply, None))


def _position_after(game: "Game", moves: Sequence[str]) -> Any:
    """Return the position after moves from the initial position."""
    import numpy as np

    s = game.new()
    movers = range(game.num_players) if game.simultaneous else (None,)
    if len(moves) % len(movers):
        raise ValueError(
            f"{game.name} needs a move of each player in each ply: expected a multiple of "
            f"{len(movers)} moves, got {len(moves)}"
        )
    for first in range(0, len(moves), len(movers)):
        actions: list[int] = []
        for player, name in zip(movers, moves[first:], strict=False):
            legal = {} if game.is_terminal(s) else _legal_names(game, s, player)
            if name not in legal:
                expected = f"legal: {' '.join(legal)}" if legal else "the game is over"
                raise ValueError(
                    f"move {first + len(actions) + 1}, {name}, is not legal; {expected:.300}"
                )
            actions.append(legal[name])
        with np.errstate(over="ignore"):  # game kernels may rely on integer overflow
            game.step(s, np.array(actions) if game.simultaneous else actions[0])
    return s


def _legal_names(game: "Game", s: Any, player: int | None) -> dict[str, int]:
    """Return the legal actions by name."""
    return {game.action_names[action]: action for action in game.legal(s, player)}


def _sheet_statements(path: Path, state: Sequence[str]) -> Iterator[str]:
    """Yield the statements of a sheet with another initial position."""
    from ludoteca.envs.gdl.parse import parse, read_sheet, show

    for statement in parse(read_sheet(path), path.name):
        term = statement.term
        head = term[1] if isinstance(term, tuple) and term[0] == "<=" else term
        if not (isinstance(head, tuple) and head[0] == "init"):
            yield show(term)
    yield from (f"(init {fluent})" for fluent in state)
