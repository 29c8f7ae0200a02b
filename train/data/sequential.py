"""Played games in a compact form, from which every position can be had again."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.envs.records import as_words
from ludoteca.train.data.storage import load_arrays, reading, save_arrays

FORMAT = "ludoteca-games"
ARRAYS = {"actions": np.int16, "lengths": np.int32, "results": np.float32, "sides": np.int8}
UNKNOWN = -1  # side of a game that came without it, and was drawn
CHUNK = 4096  # games that are played again at once


@dataclass(frozen=True)
class Positions:
    """All positions of some games, the first and the last of each included.

    Attributes:
        game: the game.
        states: the positions. Shape `[P]`.
        games: number of the game, counted from the first of these games. int32, shape `[P]`.
        plies: moves played before. int16, shape `[P]`.
        seats: whose move it is; at the end of a game, whose it would be. int8, shape `[P]`.
        results: of the game, for player 0. float32, shape `[P]`.
    """

    game: Game
    states: NDArray[np.void]
    games: NDArray[np.int32]
    plies: NDArray[np.int16]
    seats: NDArray[np.int8]
    results: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True, eq=False)
class SequentialGames:
    """SequentialGames of two players who move in turn, as their moves and results.

    A move takes a byte or two, where the position after it takes dozens, and tells more: which game
    it is of, who moved, how far the game was.

    Attributes:
        game: what was played, a game without chance.
        actions: all moves of all games, one game after the other. int16, shape `[moves]`.
        lengths: moves of each game. int32, shape `[G]`.
        results: for player 0. float32, shape `[G]`.
        sides: from whose side the results are told in tables: the seat of the agent that was
            asked for, or player 0; `UNKNOWN` only where it does not matter. int8, shape `[G]`.
        about: how they came about, as JSON can hold it.
    """

    game: Game
    actions: NDArray[np.int16]
    lengths: NDArray[np.int32]
    results: NDArray[np.float32]
    sides: NDArray[np.int8]
    about: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lengths)

    def __post_init__(self) -> None:
        if self.game.simultaneous or self.game.num_players != 2:
            raise ValueError(f"needs a game for two players who move in turn, got {self.game.spec}")
        if "rng" in (self.game.state.names or ()):
            raise ValueError(f"needs a game without chance, got {self.game.spec}")

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the moves of each game begin, and where the last one ends. Shape `[G + 1]`."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    def part(self, low: int, high: int) -> Self:
        """Return the games `low <= k < high`."""
        starts = self.starts
        return type(self)(
            self.game,
            self.actions[starts[low] : starts[high]],
            self.lengths[low:high],
            self.results[low:high],
            self.sides[low:high],
            self.about,
        )

    def positions(self) -> Positions:
        """Play all games again.

        Raises:
            ValueError: if they cannot have gone so.
        """
        count = len(self)
        size = len(self.actions) + count
        states = self.game.empty(size)
        seats, at = np.zeros(size, np.int8), self.starts + np.arange(count + 1)
        legal, scores = np.zeros(self.game.num_actions, np.int16), np.zeros((1, 2))
        wrong, ply = np.zeros(1, np.int64), np.zeros(1, np.int64)
        words = as_words(states)
        if count > 0:
            play_again(self.game)(
                states, words, self.actions, self.lengths, self.results, seats, legal, scores,
                wrong, ply,
            )  # fmt: skip
        if wrong[0] > 0:
            raise ValueError(self._complaint(int(wrong[0]) - 1, int(ply[0])))
        numbers = np.repeat(np.arange(count, dtype=np.int32), self.lengths + 1)
        plies = (np.arange(size) - at[numbers]).astype(np.int16)
        return Positions(self.game, states, numbers, plies, seats, self.results[numbers])

    def chunks(self) -> Iterator[tuple[Self, Positions]]:
        """Yield some games at a time, with their positions."""
        for low in range(0, len(self), CHUNK):
            part = self.part(low, min(low + CHUNK, len(self)))
            yield part, part.positions()

    def labels(self) -> NDArray[np.float32]:
        """Return the results from the sides they are told from. Shape `[G]`."""
        return np.where(self.sides == 1, -self.results, self.results)

    def save(self, path: str | Path) -> None:
        """Write the games to a file, whole or not at all; the same games give the same bytes."""
        narrow = np.uint8 if self.game.num_actions <= 256 else np.int16
        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays["actions"] = arrays["actions"].astype(narrow)
        save_arrays(path, FORMAT, self.game, {"about": self.about}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read games that `save` wrote.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it is no such file, or damaged, or its games cannot have gone so.
        """
        with reading(path):
            game, header, arrays = load_arrays(path, FORMAT, ARRAYS)
            games = cls(game, **arrays, about=header["about"])
        counts = {len(games.lengths), len(games.results), len(games.sides)}
        fits = len(counts) == 1 and games.actions.ndim == games.lengths.ndim == 1
        if not fits or (games.lengths < 0).any() or games.lengths.sum() != len(games.actions):
            raise ValueError(f"{path} is damaged: its arrays do not fit together")
        return games

    def _complaint(self, k: int, ply: int) -> str:
        if ply < 0:
            return (
                f"game {k} of {self.game.spec} cannot have gone so: its {self.lengths[k]} moves do "
                f"not end with the result {self.results[k]:g} for player 0"
            )
        action = self.actions[self.starts[k] + ply]
        return (
            f"game {k} of {self.game.spec} cannot have gone so: move {ply} is {action}, which is "
            "illegal"
        )


def join(parts: list[SequentialGames]) -> SequentialGames:
    """Return all games of some parts of one game, in their order."""
    first = parts[0]
    for part in parts:
        if part.game is not first.game:
            raise ValueError(f"{part.game.spec} and {first.game.spec} are different games")
    arrays: Any = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ARRAYS}
    return SequentialGames(first.game, **arrays, about=first.about)


@factory()
def play_again(game: Game) -> Any:
    """Return `play(states, words, actions, lengths, results, seats, legal, scores, wrong, ply)`.

    Fills `states` and `seats`, see `Positions`. Where a game cannot have gone so, it stops and
    writes its number plus 1 to `wrong[0]` and the move to `ply[0]`, -1 if it is the result.
    """
    init, step, is_terminal, returns = game.init, game.step, game.is_terminal, game.returns
    player: Any = game.player
    legal_actions = game.legal_actions

    @compiled_without_allocation
    def play(
        states: Any,
        words: Any,
        actions: Any,
        lengths: Any,
        results: Any,
        seats: Any,
        legal: Any,
        scores: Any,
        wrong: Any,
        ply: Any,
    ) -> None:
        at, move = 0, 0
        for k in range(len(lengths)):
            init(states[at], 0)
            for t in range(lengths[k]):
                s = states[at]
                action = np.int64(actions[move])
                found = False
                if not is_terminal(s):
                    for i in range(legal_actions(s, legal)):
                        found = found or legal[i] == action
                if not found:
                    wrong[0], ply[0] = k + 1, t
                    return
                seats[at] = player(s)
                for w in range(words.shape[1]):
                    words[at + 1, w] = words[at, w]
                at += 1
                move += 1
                step(states[at], action)
            seats[at] = player(states[at])
            returns(states[at], scores[0])
            if not is_terminal(states[at]) or scores[0, 0] != results[k]:
                wrong[0], ply[0] = k + 1, -1
                return
            at += 1

    return play
