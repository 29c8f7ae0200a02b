"""Positions of recorded random games, from the views of the players, for the pages of games."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import Trajectory, record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

PROVEN = (
    *("hungry_geese", "othello", "hex", "connect4", "tictactoe", "tron", "atari_go"),
    *("breakthrough", "breakthrough_holes", "breakthrough_suicide", "knight_through"),
    *("sheep_and_wolf", "tictactoe_large", "free_for_all"),
)
GAMES_PLAYED = 100
# Small boards, on which random games reach positions that are rare on the default board.
SMALL = {
    "connect4": "connect4:rows=3,columns=3,connect=3",
    "breakthrough": "breakthrough:rows=4,columns=2",
    "breakthrough_holes": "breakthrough_holes:rows=5,columns=2,holes=a3",
    "breakthrough_suicide": "breakthrough_suicide:rows=4,columns=2",
}


@dataclass(frozen=True)
class View:
    """Position `t` of recorded game `i`, from the view of player `p`."""

    game: Game
    trajectory: Trajectory
    i: int
    t: int
    p: int = 0

    @property
    def s(self) -> Any:
        """The position."""
        return view_records(self.trajectory.positions)[self.i, self.t]

    @property
    def codes(self) -> Any:
        """Codes of the pieces of the layout, by cell."""
        return self.game.layout.cells(self.s)

    @property
    def owners(self) -> Any:
        """Player whose piece is on each cell, or -1."""
        return np.array([-1, *(piece.player for piece in self.game.layout.pieces)])[self.codes]

    @property
    def action(self) -> Any:
        """The action of this position, or in simultaneous games the actions."""
        played = self.trajectory.actions[self.i, self.t]
        return played if self.game.simultaneous else int(played[0])

    @property
    def mover(self) -> int:
        """Player to move."""
        return int(self.trajectory.mover[self.i, self.t])

    def at(self, t: int) -> "View":
        """Return the same view of position `t`."""
        return View(self.game, self.trajectory, self.i, t, self.p)

    def of(self, p: int) -> "View":
        """Return the view of player `p`."""
        return View(self.game, self.trajectory, self.i, self.t, p)

    def full(self, value: float) -> Any:
        """Return a plane with one value in every cell."""
        return np.full(self.game.observation_shape[1:], value)

    def marked(self, cells: Any) -> Any:
        """Return a plane with 1 in cells, which are given by their numbers."""
        plane = self.full(0)
        for cell in cells:
            plane[np.unravel_index(cell, plane.shape)] = 1
        return plane


def recorded(spec: str, games: int = GAMES_PLAYED) -> Trajectory:
    """Return random games.

    Games of default parameters share their machine code with other tests, and always are
    `GAMES_PLAYED`. Games of other parameters are interpreted, and `games` should be few.
    """
    return _recorded(spec, games if ":" in spec else GAMES_PLAYED)


@cache
def _recorded(spec: str, games: int) -> Trajectory:
    """Return random games, a number of them."""
    return record_trajectory(make_game(spec), games, seed=5, interpreted=":" in spec)


def finals(name: str) -> Iterator[View]:
    """Yield final positions of games on the default board, and on a board of `SMALL`."""
    for spec, games in ((name, GAMES_PLAYED), (SMALL.get(name), 40)):
        if spec:
            game, trajectory = make_game(spec), recorded(spec, games)
            yield from (View(game, trajectory, i, int(trajectory.plies[i])) for i in range(games))


def views_of(spec: str, games: int) -> Iterator[View]:
    """Yield positions of some games, from the start to the end, for every player."""
    game, trajectory = make_game(spec), recorded(spec, games)
    for i in range(games):
        plies = int(trajectory.plies[i])
        for t in sorted({0, 1, plies // 3, plies // 2, plies - 1, plies}):
            yield from (View(game, trajectory, i, t, p) for p in range(game.num_players))


def piece_name(view: View, player: int) -> str:
    """Return the name of a player's pieces, such as "white"."""
    return next(piece.name for piece in view.game.layout.pieces if piece.player == player)


def find_meaning(
    meanings: dict[str, Callable[..., Any]], text: str, name: str
) -> Callable[[View], Any]:
    """Return the function of a text, which must match exactly one key.

    Without a match, skip the test for games that are not in PROVEN.
    """
    matches = [(match, f) for key, f in meanings.items() if (match := re.fullmatch(key, text))]
    if not matches and name not in PROVEN:
        pytest.skip(f"no function for {text!r}")
    assert len(matches) == 1, f"{text!r} fits {len(matches)} of the known texts, expected 1"
    match, function = matches[0]
    return lambda view: function(view, *match.groups())
