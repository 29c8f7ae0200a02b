"""Standings of the players: a panel beside the board, or lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.render.geometry import MARGIN
from ludoteca.envs.render.lettering import fit, wrap
from ludoteca.envs.render.pieces import piece_shapes
from ludoteca.envs.render.scene import FAINT, INK
from ludoteca.envs.render.shapes import Scene, Shape, Text
from ludoteca.envs.render.status import as_record, cells_held, player_name, player_piece

WIDTH = 260  # of the panel
ICON, SPACE = 34, 8  # a player's piece, and between it and the text
INSIDE = WIDTH - ICON - SPACE - MARGIN  # room for text beside the piece
SIZE, LINE, GAP = 15.0, 20, 12  # of letters, of a line, and between players
NAME_LINES, NEWS_LINES = 3, 3  # at most
ALARM = "#b3261e"
ENDINGS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class Standing:
    """Standing of a player in a position.

    Attributes:
        text: such as `"length 12"`, `"out at ply 54"`, `"discs 2, to move"`; may be empty.
        is_out: whether the player is out while the others continue.
    """

    text: str
    is_out: bool = False


def standings(game: Game, positions: Iterable[Any]) -> Iterator[tuple[Standing, ...]]:
    """Yield how each player stands in every position of a game, which must begin with the first."""
    out: list[int | None] = [None] * game.num_players  # at which ply each player left
    for ply, position in enumerate(positions):
        yield _standing(game, as_record(game, position), ply, out)


@np.errstate(over="ignore")  # kernels may count on integers that wrap around
def _standing(game: Game, s: Any, ply: int, out: list[int | None]) -> tuple[Standing, ...]:
    """Return how each player stands, and write to `out` who has just left."""
    over = bool(game.is_terminal(s))
    mover = None if game.player is None or over else int(game.player(s))
    held = cells_held(game, s) if game.layout.counts else None
    results = _results(game, s) if over else [""] * game.num_players
    lines = []
    for p in range(game.num_players):
        if out[p] is None and _is_out(game, s, over, p, held):
            out[p] = ply
        text = f"out at ply {out[p]}" if out[p] is not None else ""
        if held is not None and out[p] is None:
            text = f"{game.layout.counts} {held[p]}"
        parts = (text, "to move" if p == mover else "", results[p])
        lines.append(Standing(", ".join(part for part in parts if part), out[p] is not None))
    return tuple(lines)


def _is_out(game: Game, s: Any, over: bool, player: int, held: list[int] | None) -> bool:
    """Return whether a player of a simultaneous game has left it.

    When it is over nobody is active any more: then those are out who hold nothing.
    """
    if game.is_active is None:
        return False
    if over:
        return held is not None and held[player] == 0
    return not game.is_active(s, player)


def _results(game: Game, s: Any) -> list[str]:
    """Return the result of a finished game for each player."""
    returns = np.zeros(game.num_players)
    game.returns(s, returns)
    if game.num_players == 1:
        return [""]
    if game.num_players == 2:
        return [("draws", "wins", "loses")[int(np.sign(r))] for r in returns - returns[::-1]]
    places = [1 + int((returns > r).sum()) for r in returns]
    return [f"{place}{ENDINGS.get(place, 'th')}" for place in places]


def with_players(
    picture: Scene,
    game: Game,
    standing: Sequence[Standing],
    names: Sequence[str] = (),
    heading: str = "",
    news: str = "",
) -> Scene:
    """Return a picture of a game with a panel on its right: how all players stand.

    Args:
        picture: as `scene` makes it.
        game: which game.
        standing: how each player stands, as `standings` yields.
        names: what the players are called, by seat; by default as their pieces.
        heading: the line above them.
        news: text below them, in a few lines.

    Raises:
        ValueError: if there are names, but not one for each player.
    """
    left, y = picture.width, float(MARGIN)
    text_left = left + ICON + SPACE
    fixed: list[Shape] = []
    shapes: list[Shape] = [Text(left, y + LINE / 2, heading, SIZE, FAINT, "left")]
    y += LINE + GAP
    for p, (name, one) in enumerate(zip(player_names(game, names), standing, strict=True)):
        lines = _name_lines(name)
        middle = y + (len(lines) + 1) * LINE / 2
        fixed += piece_shapes(player_piece(game, p), left + ICON / 2, middle, ICON)
        for line in lines:
            fixed.append(Text(text_left, y + LINE / 2, line, SIZE, INK, "left"))
            y += LINE
        text, color = fit(one.text, SIZE, INSIDE), ALARM if one.is_out else FAINT
        shapes.append(Text(text_left, y + LINE / 2, text, SIZE, color, "left"))
        y += LINE + GAP
    for k, line in enumerate(wrap(news, SIZE, WIDTH - MARGIN)[:NEWS_LINES]):
        shapes.append(Text(left, y + (k + 0.5) * LINE, line, SIZE, INK, "left"))
    return Scene(
        picture.width + WIDTH,
        max(picture.height, int(y) + NEWS_LINES * LINE + MARGIN),
        picture.paper,
        (*picture.base, *fixed),
        (*picture.shapes, *shapes),
    )


def player_lines(game: Game, standing: Sequence[Standing], names: Sequence[str] = ()) -> list[str]:
    """Return a line of text for each player: the letter on the board, the name, how it stands."""
    called = player_names(game, names)
    width = max(map(len, called))
    return [
        f"{player_piece(game, p).letter} {name:<{width}}  {one.text}".rstrip()
        for p, (name, one) in enumerate(zip(called, standing, strict=True))
    ]


def player_names(game: Game, names: Sequence[str]) -> list[str]:
    """Return what the players are called: by their pieces, if there are no names.

    Raises:
        ValueError: if there are names, but not one for each player.
    """
    if names and len(names) != game.num_players:
        raise ValueError(f"{game.spec} has {game.num_players} players, got the names {list(names)}")
    return list(names) or [player_name(game, p) for p in range(game.num_players)]


def _name_lines(name: str) -> list[str]:
    """Return a name, perhaps a spec string, in lines that break after commas or a colon."""
    text = name.replace(",", ", ")
    if any(fit(word, SIZE, INSIDE) != word for word in text.split()):
        text = text.replace(":", ": ", 1)
    lines = wrap(text, SIZE, INSIDE) or [""]
    if len(lines) > NAME_LINES:
        lines = [*lines[: NAME_LINES - 1], lines[NAME_LINES - 1][:-2] + ".."]
    return lines
