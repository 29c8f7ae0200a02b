"""Rule sheets of this package, most of them with the rules of one of its games.

`GAME_SHEETS` is the only place that relates names of actions and states of a game to terms of its
sheet. The cell `c4` of a game is `c 4` in its sheet, except in Connect Four and Tron, whose cells
have no names: their columns and rows are numbered from 1. Six further sheets correspond to no
game of this package: a game for one player, a game for three, one with goals that are not zero-sum,
one with chance, one with hidden information, and one with both.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.layout import cell_names
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.registry import make_game

FOLDER = Path(__file__).parent / "sheets"
TO_MOVE = "(control {})"  # fluent that names the role to move


@dataclass(frozen=True)
class GameSheet:
    """Rule sheet of one of the games of this package.

    Attributes:
        name: name of the game and of the file, without its suffix.
        roles: names of the roles, in the order of the players.
        moves: pairs of a regular expression and a template. The template of the first expression
            that matches an entire action name gives the term of the action (`re.Match.expand`).
        fluents: `fluents(game, s, roles)` yields the true fluents of the position `s`.
    """

    name: str
    roles: tuple[str, str]
    moves: tuple[tuple[str, str], ...]
    fluents: Callable[[Game, Any, tuple[str, str]], Iterator[str]]

    @property
    def path(self) -> Path:
        """File of the sheet."""
        return FOLDER / f"{self.name}.kif"

    @cached_property
    def game(self) -> Game:
        """The game with the rules of the sheet: all its parameters have their defaults."""
        return make_game(self.name)

    def term(self, action_name: str) -> str:
        """Return the term of an action, such as `(move b 2 c 3)` for `b2-c3`.

        Raises:
            ValueError: if the game has no action of this name.
        """
        if action_name in self.game.action_names:
            for pattern, template in self.moves:
                if match := re.fullmatch(pattern, action_name):
                    return match.expand(template)
        raise ValueError(f"{self.name} has no action {action_name!r}")

    def state(self, s: Any) -> tuple[str, ...]:
        """Return the true fluents of a position of the game, sorted."""
        return tuple(sorted(self.fluents(self.game, s, self.roles)))


def piece_fluents(game: Game, s: Any, roles: tuple[str, str]) -> Iterator[str]:
    """Yield the fluents of the pieces of both players.

    In `layout.cells`, codes 1 and 2 are the pieces of players 0 and 1. Other codes, such as those
    of empty cells and holes, have no fluents.
    """
    layout = game.layout
    names = cell_names(layout.rows, layout.columns, layout.coordinates)
    for name, piece in zip(names, layout.cells(s).ravel().tolist(), strict=True):
        if piece in (1, 2):
            yield f"(cell {name[0]} {name[1:]} {roles[piece - 1]})"


def board(game: Game, s: Any, roles: tuple[str, str]) -> Iterator[str]:
    """Yield the fluents of the pieces on the board and of the player to move."""
    yield TO_MOVE.format(roles[s.to_move])
    yield from piece_fluents(game, s, roles)


def discs(game: Game, s: Any, roles: tuple[str, str]) -> Iterator[str]:
    """Yield the fluents of Connect Four: discs by column and height, and the player to move."""
    yield TO_MOVE.format(roles[s.to_move])
    rows, columns = s.board.shape
    for row in range(rows):
        for column in range(columns):
            if s.board[row, column] >= 0:
                yield f"(cell {column + 1} {rows - row} {roles[s.board[row, column]]})"


def riders(game: Game, s: Any, roles: tuple[str, str]) -> Iterator[str]:
    """Yield the fluents of Tron: heads, walls and crashed riders.

    A cell is its column and its row, both from 1; row 1 is at the top.
    """
    for p, role in enumerate(roles):
        yield f"(head {role} {s.head[p, 1] + 1} {s.head[p, 0] + 1})"
        if s.crashed[p]:
            yield f"(crashed {role})"
    rows, columns = s.walls.shape
    for row in range(rows):
        for column in range(columns):
            if s.walls[row, column]:
                yield f"(wall {column + 1} {row + 1})"


def captures(game: Game, s: Any, roles: tuple[str, str]) -> Iterator[str]:
    """Yield the fluents of Free-For-All: pieces, captures, plies played, and the player to move.

    `(captures ROLE N)`: the role has captured N pieces of its opponent. `(ply N)`: the number of
    plies played.
    A spawn cell always holds a piece of its player: Red on a3, Blue on g3. The sheet derives these
    two pieces by a rule, so they are no fluents.
    """
    spawned = {f"(cell a 3 {roles[0]})", f"(cell g 3 {roles[1]})"}
    yield from (fluent for fluent in board(game, s, roles) if fluent not in spawned)
    for p, role in enumerate(roles):
        yield f"(captures {role} {s.captures[p]})"
    plies_played = s.plies - s.plies_left  # `s.plies` is the length of a game
    yield f"(ply {plies_played})"


# Regular expressions of action names, with templates of their terms.
STEP = (r"(.)(\d+)-(.)(\d+)", r"(move \1 \2 \3 \4)")
CAPTURE = (r"(.)(\d+)x(.)(\d+)", r"(capture \1 \2 \3 \4)")
PLACE = (r"(.)(\d+)", r"(place \1 \2)")
MARK = (r"(.)(\d+)", r"(mark \1 \2)")
DROP = (r"(\d+)", r"(drop \1)")
SAME = (r"(\w+)", r"\1")  # the term is the name of the action: pass, north
WHITE_FIRST, BLACK_FIRST = ("white", "black"), ("black", "white")

GAME_SHEETS = {
    sheet.name: sheet
    for sheet in (
        GameSheet("atari_go", BLACK_FIRST, (PLACE,), board),
        GameSheet("breakthrough", WHITE_FIRST, (STEP,), board),
        GameSheet("breakthrough_holes", WHITE_FIRST, (STEP,), board),
        GameSheet("breakthrough_suicide", WHITE_FIRST, (STEP,), board),
        GameSheet("connect4", ("red", "yellow"), (DROP,), discs),
        GameSheet("free_for_all", ("red", "blue"), (STEP, CAPTURE, SAME), captures),
        GameSheet("hex", BLACK_FIRST, (PLACE,), board),
        GameSheet("knight_through", WHITE_FIRST, (STEP,), board),
        GameSheet("othello", BLACK_FIRST, (PLACE, SAME), board),
        GameSheet("sheep_and_wolf", ("wolf", "sheep"), (STEP,), board),
        GameSheet("tictactoe", ("x", "o"), (MARK,), board),
        GameSheet("tictactoe_large", ("x", "o"), (MARK,), board),
        GameSheet("tron", ("red", "blue"), (SAME,), riders),
    )
}


def sheet_names() -> list[str]:
    """Return the names of all rule sheets of this package, with or without a corresponding game."""
    return sorted(path.stem for path in FOLDER.glob("*.kif"))


def find_sheet(name: str | Path) -> Path:
    """Return the file at a path, or the file of this package's sheet with this name.

    Raises:
        ValueError: if there is neither.
    """
    path = Path(name).expanduser()
    if path.exists() and not path.is_dir():
        return path
    names = sheet_names()
    if str(name) in names:
        return FOLDER / f"{name}.kif"
    if path.is_dir():
        raise ValueError(f"{name} is a folder, expected the file of a rule sheet")
    raise ValueError(
        f"there is no file {str(name)!r}{did_you_mean(str(name), names)}; the rule sheets of this "
        f"package are {', '.join(names)}"
    )


def game_sheet(game: Game) -> GameSheet:
    """Return the sheet of a game.

    Raises:
        ValueError: if there is none with its rules, for example because of another board size.
    """
    sheet = GAME_SHEETS.get(game.name)
    if game.name == "gdl":
        raise ValueError(
            f"{game.short_spec} already has the terms of a rule sheet; expected one of our games: "
            f"{', '.join(GAME_SHEETS)}"
        )
    if sheet is None:
        raise ValueError(
            f"there is no rule sheet for {game.name}, only for {', '.join(GAME_SHEETS)}"
        )
    if sheet.game.params != game.params:
        raise ValueError(f"the rule sheet of {game.name} is for {sheet.game.spec}, not {game.spec}")
    return sheet
