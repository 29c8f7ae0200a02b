"""Played games in which all move at once, in a form from which every position can be had again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.records import as_words
from ludoteca.train.data.replay import COMPLAINTS, NO_LABEL, play_again
from ludoteca.train.data.samples import Samples
from ludoteca.train.data.storage import load_arrays, reading, save_arrays

FORMAT = "ludoteca-episodes"
OF_GAMES = {
    "lengths": np.int32,
    "seeds": np.uint64,
    "counts": np.int32,
    "returns": np.float32,
    "agents": np.int32,
    "ratings": np.float32,
    "wanted": np.bool_,
    "ids": np.str_,
}
ARRAYS: dict[str, Any] = {"actions": np.int8, "cells": np.int16} | OF_GAMES
CHUNK = 1024  # games that are played again at once


@dataclass(frozen=True, eq=False)
class GameDataset:
    """G games of P seats, M steps together.

    Chance is what `init` draws from the seed of a game, or, in games that others recorded, a list
    of cells; see `ludoteca.train.data.chance`.

    Attributes:
        game: what was played, a simultaneous game.
        actions: what each seat played in each step, or `FORFEIT`, one game after the other; 0 for
            seats that are out. int8, shape `[M, P]`.
        lengths: steps of each game. int32, shape `[G]`.
        seeds: what each game was begun with. uint64, shape `[G]`.
        cells: what chance chose, one game after the other. int16, shape `[C]`.
        counts: how many of the cells are of each game; 0 where chance is drawn. int32, shape `[G]`.
        returns: results by seat. float32, shape `[G, P]`.
        names: what the agents are called.
        agents: who sat where, as an index into `names`. int32, shape `[G, P]`.
        ratings: of the agents, by seat; NaN if unknown. float32, shape `[G, P]`.
        wanted: which seats are to be learned from. bool, shape `[G, P]`.
        ids: what the games are called. str, shape `[G]`.
        about: how they came about, as JSON can hold it.
    """

    game: Game
    actions: NDArray[np.int8]
    lengths: NDArray[np.int32]
    seeds: NDArray[np.uint64]
    cells: NDArray[np.int16]
    counts: NDArray[np.int32]
    returns: NDArray[np.float32]
    names: tuple[str, ...]
    agents: NDArray[np.int32]
    ratings: NDArray[np.float32]
    wanted: NDArray[np.bool_]
    ids: NDArray[np.str_]
    about: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lengths)

    def __post_init__(self) -> None:
        check_game(self.game)
        games, seats = len(self.lengths), self.game.num_players
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(OF_GAMES, (games,))
        for name in ("returns", "agents", "ratings", "wanted"):
            shapes[name] = (games, seats)
        shapes["actions"] = (int(self.lengths.sum()), seats)
        shapes["cells"] = (int(self.counts.sum()),)
        for name, shape in shapes.items():
            found = getattr(self, name).shape
            if found != shape:
                raise ValueError(f"{name} must have the shape {shape}, got {found}")
        if (self.lengths < 0).any() or (self.counts < 0).any():
            raise ValueError("lengths and counts must not be negative")
        if (self.agents < 0).any() or (self.agents >= len(self.names)).any():
            raise ValueError(f"agents must be from 0 to {len(self.names) - 1}, as many as names")

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the steps of each game begin, and where the last one ends. Shape `[G + 1]`."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    def part(self, low: int, high: int) -> Self:
        """Return the games `low <= k < high`."""
        starts = self.starts
        begins = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        arrays: Any = {name: getattr(self, name)[low:high] for name in OF_GAMES}
        return replace(
            self,
            actions=self.actions[starts[low] : starts[high]],
            cells=self.cells[begins[low] : begins[high]],
            **arrays,
        )

    def take(self, kept: NDArray[np.bool_]) -> Self:
        """Return the games that a mask, shape `[G]`, keeps."""
        arrays: Any = {name: getattr(self, name)[kept] for name in OF_GAMES}
        return replace(
            self,
            actions=self.actions[np.repeat(kept, self.lengths)],
            cells=self.cells[np.repeat(kept, self.counts)],
            **arrays,
        )

    def want(self, agents: Sequence[str] = (), ratings: tuple[float, float] | None = None) -> Self:
        """Return the same games, with other seats to learn from.

        Args:
            agents: only the seats of these agents, by name; none: of all.
            ratings: only the seats of agents with a rating from the first to the second number.

        Raises:
            ValueError: if an agent does not occur, or no seat is left.
        """
        wanted = np.ones(self.agents.shape, np.bool_)
        for name in agents:
            if name not in self.names:
                near = did_you_mean(name, self.names)
                listed = _listed(self.names)
                raise ValueError(f"no agent is called {name!r}{near}; there are {listed}")
        if agents:
            wanted &= np.isin(self.agents, [self.names.index(name) for name in agents])
        if ratings is not None:
            wanted &= (self.ratings >= ratings[0]) & (self.ratings <= ratings[1])
        if len(self) > 0 and not wanted.any():
            known = self.ratings[~np.isnan(self.ratings)]
            about = f"from {known.min():g} to {known.max():g}" if len(known) > 0 else "unknown"
            raise ValueError(
                f"no seat is of one of {_listed(agents or self.names)} with a rating in {ratings}; "
                f"ratings are {about}"
            )
        return replace(self, wanted=wanted)

    def samples(self, low: int = 0, high: int | None = None) -> Samples:
        """Play the games `low <= k < high` again, and return their moves.

        Raises:
            ValueError: if they cannot have gone so.
        """
        part = self.part(low, len(self) if high is None else high)
        states, labels = part._play(low)
        rows, seats = np.nonzero(labels != NO_LABEL)
        games = np.repeat(np.arange(len(part)), part.lengths)[rows]
        return Samples(
            self.game,
            states,
            rows.astype(np.int32),
            seats.astype(np.int8),
            labels[rows, seats],
            (low + games).astype(np.int32),
            part.returns[games, seats],
            part.wanted[games, seats],
        )

    def chunks(self) -> Iterator[Samples]:
        """Yield the moves of some games at a time."""
        for low in range(0, len(self), CHUNK):
            yield self.samples(low, min(low + CHUNK, len(self)))

    def check(self) -> None:
        """Play all games again.

        Raises:
            ValueError: if they cannot have gone so.
        """
        for _ in self.chunks():
            pass

    def save(self, path: str | Path) -> None:
        """Write the games to a file, whole or not at all; the same games give the same bytes."""
        header = {"names": self.names, "about": self.about}
        save_arrays(path, FORMAT, self.game, header, {name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read games that `save` wrote.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it is no such file, or damaged.
        """
        with reading(path):
            game, header, arrays = load_arrays(path, FORMAT, ARRAYS)
            names = tuple(map(str, header["names"]))
            return cls(game, names=names, about=header["about"], **arrays)

    def _play(self, first: int) -> tuple[NDArray[np.void], NDArray[np.int8]]:
        """Return all positions in which somebody moved, and what each seat played there.

        The first game is told as number `first`.
        """
        game, steps = self.game, len(self.actions)
        states, present = game.empty(steps), game.empty(1)
        labels = np.full((steps, game.num_players), NO_LABEL, np.int8)
        wrong = np.zeros(3, np.int64)
        if len(self) > 0:
            play_again(game)(
                states, as_words(states), *map(np.ascontiguousarray, self._played()), labels,
                present, as_words(present), np.zeros(game.num_actions, np.int16),
                np.zeros(game.num_players), wrong,
            )  # fmt: skip
        if wrong[0] > 0:
            what, k, t = wrong.tolist()
            raise ValueError(
                f"game {first + k} of {game.spec}, called {str(self.ids[k])!r}, cannot have gone "
                f"so: at step {t} of {self.lengths[k]}, {COMPLAINTS[what]}"
            )
        return states, labels

    def _played(self) -> tuple[NDArray[Any], ...]:
        return self.actions, self.lengths, self.seeds, self.cells, self.counts, self.returns


def check_game(game: Game) -> None:
    """Raise a `ValueError` unless episodes can be of this game."""
    if not game.simultaneous:
        raise ValueError(f"needs a game in which all move at once, got {game.spec}")
    if game.num_actions > 127:
        raise ValueError(f"needs a game of at most 127 actions, got {game.spec}")


def join(parts: Sequence[GameDataset], about: dict[str, Any] | None = None) -> GameDataset:
    """Return all games of some parts of one game, in their order.

    Args:
        parts: one at least.
        about: how they came about; by default, what the first part says.
    """
    first = parts[0]
    numbers: dict[str, int] = {}  # of all names
    agents = []
    for part in parts:
        if part.game is not first.game:
            raise ValueError(f"{part.game.spec} and {first.game.spec} are different games")
        mine = [numbers.setdefault(name, len(numbers)) for name in part.names]
        agents.append(np.array(mine, np.int32)[part.agents])
    arrays: Any = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ARRAYS}
    arrays["agents"] = np.concatenate(agents)
    return GameDataset(first.game, names=tuple(numbers), about=about or first.about, **arrays)


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(map(repr, names[:30]))
    return some if len(names) <= 30 else f"{some} and {len(names) - 30} more"
