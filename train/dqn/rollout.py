"""Rollouts of deep Q-learning: games against an opponent or in self-play."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.dqn import ILLEGAL
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_legal
from ludoteca.train.monitor import Monitor
from ludoteca.train.replay import Packing
from ludoteca.train.rollout_games import RolloutGames, Turn

Run = Callable[[NDArray[np.int8]], NDArray[np.float32]]


@dataclass(frozen=True)
class DQNRollout:
    """Rollout of B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of both players. Shape `[B, 2]`.
        seats: seat of the learner, or -1 for both. Shape `[B]`.
        planes: observations of the player to move, packed. Shape `[B, T, bytes]`.
        masks: legal actions, packed. Shape `[B, T, bytes]`.
        actions: actions, in the network's numbering. Shape `[B, T]`.
        movers: player to move. Shape `[B, T]`.
        explored: whether the action was exploratory: random, and not the greedy one. Shape
            `[B, T]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    seats: NDArray[np.int8]
    planes: NDArray[np.uint8]
    masks: NDArray[np.uint8]
    actions: NDArray[np.int64]
    movers: NDArray[np.int8]
    explored: NDArray[np.bool_]

    def wins(self, seat: int) -> tuple[int, int]:
        """Return the numbers of games that the learner won and played in a seat."""
        there = (self.seats == seat) | (self.seats < 0)
        return int((self.returns[there, seat] > 0).sum()), int(there.sum())


class DQNCollector:
    """Collects rollouts of a learner against an opponent, or against itself."""

    def __init__(
        self,
        encoder: Encoder,
        games: int,
        opponent: Agent | None,
        seat: str,
        monitor: Monitor | None = None,
    ):
        """Allocate a rollout of games.

        Args:
            encoder: encoder of the game.
            games: B, games of a rollout.
            opponent: opponent, or None for self-play.
            seat: seat of the learner, if there is an opponent: `"first"`, `"second"` or `"both"`.
            monitor: receives the progress, and may stop the run.
        """
        self._encoder, self._opponent = encoder, opponent
        self._arena = RolloutGames(encoder, games, monitor)
        self._mask_packing = Packing((encoder.game.num_actions,), True)
        seats = {"first": [0], "second": [1], "both": [0, 1]}[seat]
        self._seats = np.resize(np.array(seats, np.int8), games)
        if opponent is None:
            self._seats[:] = -1

    def play(self, run: Run, epsilon: float, rng: np.random.Generator) -> DQNRollout:
        """Collect a rollout.

        Args:
            run: the learner's network: planes to one value per action.
            epsilon: probability of a random move.
            rng: random stream of the rollout.

        Raises:
            Stopped: if the run is to stop.
        """
        arena = self._arena
        count, plies = arena.count, arena.plies
        arena.begin(rng)
        rngs = rng.integers(2**63, size=(count, 1)).astype(np.uint64)
        if self._opponent is not None:
            self._opponent.reset(np.arange(count))
        rollout = DQNRollout(
            lengths=np.zeros(count, np.int64),
            returns=np.zeros((count, 2), np.float32),
            seats=self._seats,
            planes=np.zeros((count, plies, arena.packing.size), np.uint8),
            masks=np.zeros((count, plies, self._mask_packing.size), np.uint8),
            actions=np.zeros((count, plies), np.int64),
            movers=np.zeros((count, plies), np.int8),
            explored=np.zeros((count, plies), np.bool_),
        )
        for turn in arena.turns():
            self._play(turn, rollout, run, epsilon, rng, rngs)
            rollout.lengths[turn.env_indices] += 1
        rollout.returns[:] = arena.returns
        return rollout

    def _play(
        self,
        turn: Turn,
        rollout: DQNRollout,
        run: Run,
        epsilon: float,
        rng: np.random.Generator,
        rngs: NDArray[np.uint64],
    ) -> None:
        """Play one ply."""
        ply, going, masks = turn.ply, turn.env_indices, turn.masks
        own = np.flatnonzero((self._seats[going] < 0) | (self._seats[going] == turn.movers))
        chosen = np.zeros(len(going), np.int64)  # in the network's numbering
        if len(own) > 0:
            best = np.where(masks[own] == 1, run(turn.planes[own]), ILLEGAL).argmax(1)
            random = sample_legal(masks[own], rng.random(len(own)))
            chosen[own] = np.where(rng.random(len(own)) < epsilon, random, best)
            rollout.explored[going[own], ply] = chosen[own] != best
        if len(own) < len(going):
            assert self._opponent is not None
            rows = np.setdiff1d(np.arange(len(going)), own, assume_unique=True)
            streams, seats = rngs[going[rows]], turn.movers[rows]
            answers = self._opponent.act(turn.states[rows], seats, streams, going[rows])
            rngs[going[rows]] = streams
            chosen[rows] = self._encoder.translate(np.asarray(answers, np.int64), seats)
        rollout.planes[going, ply] = self._arena.packing.pack(turn.planes)
        rollout.masks[going, ply] = self._mask_packing.pack(masks)
        rollout.actions[going, ply] = chosen
        rollout.movers[going, ply] = turn.movers
        actions = self._encoder.translate(chosen, turn.movers)
        wrong = self._arena.play(turn, actions)
        if wrong >= 0:
            raise ValueError(f"the opponent chose {actions[wrong]} at ply {ply}, which is illegal")
