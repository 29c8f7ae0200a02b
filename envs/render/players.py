"""Standings of the players (such as `"length 12"`), in a panel beside the board or as text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.render.geometry import MARGIN
from ludoteca.envs.render.lettering import shorten, wrap
from ludoteca.envs.render.pieces import piece_shapes
from ludoteca.envs.render.scene import FAINT, INK
from ludoteca.envs.render.shapes import Scene, Shape, Text
from ludoteca.envs.render.status import as_record, count_cells, player_name, player_piece

# Lengths are in pixels.
PANEL_WIDTH = 260
ICON_SIZE, ICON_SPACE = 34, 8  # a player's piece, and the space between it and the text
TEXT_WIDTH = PANEL_WIDTH - ICON_SIZE - ICON_SPACE - MARGIN
FONT_SIZE, LINE_HEIGHT, PLAYER_SPACE = 15.0, 20, 12
MAX_NAME_LINES, MAX_NEWS_LINES = 3, 3
ELIMINATED_COLOR = "#b3261e"
ORDINAL_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class Standing:
    """Standing of a player in a position.

    Attributes:
        text: description, such as `"length 12"`, `"out at ply 54"`, `"discs 2, to move"`; may be
            empty.
        is_out: whether the player was eliminated.
    """

    text: str
    is_out: bool = False


def standings(game: Game, positions: Iterable[Any]) -> Iterator[tuple[Standing, ...]]:
    """Yield the standings of all players in every position of a game, from its first position."""
    eliminated_at: list[int | None] = [None] * game.num_players  # ply of elimination, by player
    for ply, position in enumerate(positions):
        yield _standings(game, as_record(game, position), ply, eliminated_at)


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def _standings(
    game: Game, s: Any, ply: int, eliminated_at: list[int | None]
) -> tuple[Standing, ...]:
    """Return the standing of each player, and write new eliminations to `eliminated_at`."""
    over = bool(game.is_terminal(s))
    mover = None if game.player is None or over else int(game.player(s))
    counts = count_cells(game, s) if game.layout.counts else None
    results = _results(game, s) if over else [""] * game.num_players
    result = []
    for p in range(game.num_players):
        if eliminated_at[p] is None and _is_eliminated(game, s, over, p, counts):
            eliminated_at[p] = ply
        is_out = eliminated_at[p] is not None
        text = f"out at ply {eliminated_at[p]}" if is_out else ""
        if counts is not None and not is_out:
            text = f"{game.layout.counts} {counts[p]}"
        texts = (text, "to move" if p == mover else "", results[p])
        result.append(Standing(", ".join(filter(None, texts)), is_out))
    return tuple(result)


def _is_eliminated(game: Game, s: Any, over: bool, player: int, counts: list[int] | None) -> bool:
    """Return whether a player of a simultaneous game is eliminated.

    When the game is over, no player is active; then a player without pieces counts as eliminated.
    """
    if game.is_active is None:
        return False
    if over:
        return counts is not None and counts[player] == 0
    return not game.is_active(s, player)


def _results(game: Game, s: Any) -> list[str]:
    """Return the result of a finished game for each player, such as `"wins"` or `"2nd"`."""
    returns = np.zeros(game.num_players)
    game.returns(s, returns)
    if game.num_players == 1:
        return [""]
    if game.num_players == 2:
        return [("draws", "wins", "loses")[int(np.sign(r))] for r in returns - returns[::-1]]
    ranks = [1 + int((returns > r).sum()) for r in returns]
    return [f"{rank}{ORDINAL_SUFFIXES.get(rank, 'th')}" for rank in ranks]


def with_players(
    board: Scene,
    game: Game,
    standing: Sequence[Standing],
    names: Sequence[str] = (),
    heading: str = "",
    news: str = "",
) -> Scene:
    """Return a scene with a panel of the players' standings to the right of the board.

    Args:
        board: scene of a position, as `scene` returns it.
        game: the game.
        standing: the standing of each player, as `standings` yields it.
        names: names of the players; by default those of their pieces.
        heading: line above the players.
        news: text below the players, of at most `MAX_NEWS_LINES` lines.

    Raises:
        ValueError: if there are names, but not as many as players.
    """
    left, y = board.width, float(MARGIN)
    text_left = left + ICON_SIZE + ICON_SPACE
    base: list[Shape] = []  # shapes that are the same in every position
    shapes: list[Shape] = [Text(left, y + LINE_HEIGHT / 2, heading, FONT_SIZE, FAINT, "left")]
    y += LINE_HEIGHT + PLAYER_SPACE
    for p, (name, player) in enumerate(zip(player_names(game, names), standing, strict=True)):
        lines = _name_lines(name)
        middle = y + (len(lines) + 1) * LINE_HEIGHT / 2
        base += piece_shapes(player_piece(game, p), left + ICON_SIZE / 2, middle, ICON_SIZE)
        for line in lines:
            base.append(Text(text_left, y + LINE_HEIGHT / 2, line, FONT_SIZE, INK, "left"))
            y += LINE_HEIGHT
        text = shorten(player.text, FONT_SIZE, TEXT_WIDTH)
        color = ELIMINATED_COLOR if player.is_out else FAINT
        shapes.append(Text(text_left, y + LINE_HEIGHT / 2, text, FONT_SIZE, color, "left"))
        y += LINE_HEIGHT + PLAYER_SPACE
    for k, line in enumerate(wrap(news, FONT_SIZE, PANEL_WIDTH - MARGIN)[:MAX_NEWS_LINES]):
        shapes.append(Text(left, y + (k + 0.5) * LINE_HEIGHT, line, FONT_SIZE, INK, "left"))
    return Scene(
        board.width + PANEL_WIDTH,
        max(board.height, int(y) + MAX_NEWS_LINES * LINE_HEIGHT + MARGIN),
        board.paper,
        (*board.base, *base),
        (*board.shapes, *shapes),
    )


def player_lines(game: Game, standing: Sequence[Standing], names: Sequence[str] = ()) -> list[str]:
    """Return a line of text for each player: its letter on the board, its name and its standing."""
    shown_names = player_names(game, names)
    width = max(map(len, shown_names))
    return [
        f"{player_piece(game, p).letter} {name:<{width}}  {player.text}".rstrip()
        for p, (name, player) in enumerate(zip(shown_names, standing, strict=True))
    ]


def player_names(game: Game, names: Sequence[str]) -> list[str]:
    """Return the given names of the players, or if there are none those of their pieces.

    Raises:
        ValueError: if there are names, but not as many as players.
    """
    if names and len(names) != game.num_players:
        raise ValueError(f"{game.spec} has {game.num_players} players, got the names {list(names)}")
    return list(names) or [player_name(game, p) for p in range(game.num_players)]


def _name_lines(name: str) -> list[str]:
    """Return the lines of a name, which break after commas or the colon of a spec string."""
    text = name.replace(",", ", ")
    if any(shorten(word, FONT_SIZE, TEXT_WIDTH) != word for word in text.split()):
        text = text.replace(":", ": ", 1)
    lines = wrap(text, FONT_SIZE, TEXT_WIDTH) or [""]
    if len(lines) > MAX_NAME_LINES:
        lines = [*lines[: MAX_NAME_LINES - 1], lines[MAX_NAME_LINES - 1][:-2] + ".."]
    return lines
