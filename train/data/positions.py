"""Positions and training samples of recorded games."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import ActionArray
from ludoteca.envs.records import as_words
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.replay import NO_ACTION, REASONS, make_replay

GAMES_PER_CHUNK = 1024  # games whose positions are in memory at a time


@dataclass(frozen=True)
class Positions:
    """N positions of a data set's games, including initial and terminal ones.

    Attributes:
        dataset: the data set.
        states: the positions. Shape `[N]`.
        games: index of the game in the data set. int32, shape `[N]`.
        plies: number of earlier steps. int16, shape `[N]`.
        players: player to move (in terminal positions, the player that would be next); -1 in
            simultaneous games. int8, shape `[N]`.
        actions: the action of each player, or `NO_ACTION`. `Game.action_dtype`, shape `[N, P]`.
    """

    dataset: GameDataset
    states: NDArray[np.void]
    games: NDArray[np.int32]
    plies: NDArray[np.int16]
    players: NDArray[np.int8]
    actions: ActionArray

    def __len__(self) -> int:
        return len(self.states)

    @property
    def returns(self) -> NDArray[np.float32]:
        """Returns of each position's game. Shape `[N, P]`."""
        return self.dataset.returns[self.games]

    def samples(self) -> "Samples":
        """Return all actions of all players."""
        rows, players = np.nonzero(self.actions != NO_ACTION)
        return Samples(self, rows.astype(np.int32), players.astype(np.int8))


@dataclass(frozen=True)
class Samples:
    """S state-action samples: `players[i]` plays `actions[i]` in `states[rows[i]]`.

    Attributes:
        positions: the positions, each stored once.
        rows: index of the position. int32, shape `[S]`.
        players: the player. int8, shape `[S]`.
    """

    positions: Positions
    rows: NDArray[np.int32]
    players: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def states(self) -> NDArray[np.void]:
        """The positions that `rows` refers to. Shape `[N]`."""
        return self.positions.states

    @property
    def actions(self) -> ActionArray:
        """The player's action. Shape `[S]`."""
        return self.positions.actions[self.rows, self.players]

    @property
    def games(self) -> NDArray[np.int32]:
        """Index of the game in the data set. Shape `[S]`."""
        return self.positions.games[self.rows]

    @property
    def returns(self) -> NDArray[np.float32]:
        """The player's return, in [-1, 1]. Shape `[S]`."""
        return self.positions.dataset.returns[self.games, self.players]

    @property
    def agents(self) -> NDArray[np.int32]:
        """The player's agent, as an index into `GameDataset.agent_names`. Shape `[S]`."""
        return self.positions.dataset.agents[self.games, self.players]

    @property
    def selected(self) -> NDArray[np.bool_]:
        """Whether the player is selected, see `GameDataset`. Shape `[S]`."""
        return self.positions.dataset.selected[self.games, self.players]

    def __getitem__(self, index: Any) -> Self:
        """Return some of the samples, by a mask or indices, with the same positions."""
        return replace(self, rows=self.rows[index], players=self.players[index])


def replay_positions(dataset: GameDataset, start: int = 0, stop: int | None = None) -> Positions:
    """Replay the games `start <= k < stop`, and return their positions.

    Raises:
        ValueError: if a game is invalid.
    """
    game, games = dataset.game, dataset[start:stop]
    size = len(games.actions) + len(games)
    states, current = game.empty(size), game.empty(1)
    actions = np.full((size, game.num_players), NO_ACTION, game.action_dtype)
    players, error = np.zeros(size, np.int8), np.zeros(3, np.int64)
    if len(games) > 0:
        make_replay(game)(
            states, as_words(states), np.ascontiguousarray(games.actions), games.lengths,
            games.seeds, games.chance_outcomes, games.chance_lengths,
            np.ascontiguousarray(games.returns), actions, players, current, as_words(current),
            np.zeros(game.num_actions, game.action_dtype), np.zeros(game.num_players), error,
        )  # fmt: skip
    code, k, step = error.tolist()
    if code:
        name = f" ({str(games.ids[k])!r})" if games.ids[k] else ""
        raise ValueError(
            f"game {start + k}{name} of {game.spec} is invalid at step {step} of "
            f"{games.lengths[k]}: {REASONS[code]}"
        )
    game_indices = np.repeat(np.arange(len(games), dtype=np.int32), games.lengths + 1)
    firsts = games.offsets + np.arange(len(games) + 1)  # first position of each game
    plies = (np.arange(size) - firsts[game_indices]).astype(np.int16)
    return Positions(dataset, states, game_indices + np.int32(start), plies, players, actions)


def iterate_positions(dataset: GameDataset) -> Iterator[Positions]:
    """Yield the positions of `GAMES_PER_CHUNK` games at a time.

    Raises:
        ValueError: if a game is invalid.
    """
    for start in range(0, len(dataset), GAMES_PER_CHUNK):
        yield replay_positions(dataset, start, start + GAMES_PER_CHUNK)


def verify_games(dataset: GameDataset) -> None:
    """Replay all games.

    Raises:
        ValueError: if a game is invalid.
    """
    for _ in iterate_positions(dataset):
        pass
