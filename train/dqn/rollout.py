"""Playing rounds of games side by side, and keeping all that happens in them."""

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
    """B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: results for both players. Shape `[B, 2]`.
        seats: where the learner sat, or -1 for both. Shape `[B]`.
        planes: what the mover saw, packed. Shape `[B, T, bytes]`.
        masks: what was legal for him, packed. Shape `[B, T, bytes]`.
        actions: what he did, as the network numbers actions. Shape `[B, T]`.
        movers: who he was. Shape `[B, T]`.
        explored: whether the learner moved at random there, and not as it thinks best. Shape
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
        """Return how many games the learner won in a seat, and how many it played there."""
        there = (self.seats == seat) | (self.seats < 0)
        return int((self.returns[there, seat] > 0).sum()), int(there.sum())


class DQNCollector:
    """Where a learner plays rounds against an opponent, or itself."""

    def __init__(
        self,
        encoder: Encoder,
        games: int,
        opponent: Agent | None,
        seat: str,
        monitor: Monitor | None = None,
    ):
        """Make the table.

        Args:
            encoder: of the game.
            games: B, games of a round.
            opponent: an agent, or None for self-play.
            seat: `"first"`, `"second"` or `"both"`: where the learner sits, if there is one.
            monitor: is shown the progress, and may end a round.
        """
        self._encoder, self._opponent = encoder, opponent
        self._arena = RolloutGames(encoder, games, monitor)
        self._mask_packing = Packing((encoder.game.num_actions,), True)
        seats = {"first": [0], "second": [1], "both": [0, 1]}[seat]
        self._seats = np.resize(np.array(seats, np.int8), games)
        if opponent is None:
            self._seats[:] = -1

    def play(self, run: Run, epsilon: float, rng: np.random.Generator) -> DQNRollout:
        """Play a game at every index.

        Args:
            run: the learner's network: one number per action, for planes.
            epsilon: probability that it moves at random.
            rng: decides about everything in the round.

        Raises:
            Stopped: if the run is to stop.
        """
        arena = self._arena
        count, plies = arena.count, arena.plies
        arena.begin(rng)
        rngs = rng.integers(2**63, size=(count, 1)).astype(np.uint64)
        if self._opponent is not None:
            self._opponent.reset(np.arange(count))
        kept = DQNRollout(
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
            self._play(turn, kept, run, epsilon, rng, rngs)
            kept.lengths[turn.env_indices] += 1
        kept.returns[:] = arena.returns
        return kept

    def _play(
        self,
        turn: Turn,
        kept: DQNRollout,
        run: Run,
        epsilon: float,
        rng: np.random.Generator,
        rngs: NDArray[np.uint64],
    ) -> None:
        """Play one ply."""
        ply, going, masks = turn.ply, turn.env_indices, turn.masks
        own = np.flatnonzero((self._seats[going] < 0) | (self._seats[going] == turn.movers))
        chosen = np.zeros(len(going), np.int64)  # as the network numbers actions
        if len(own) > 0:
            best = np.where(masks[own] == 1, run(turn.planes[own]), ILLEGAL).argmax(1)
            random = sample_legal(masks[own], rng.random(len(own)))
            chosen[own] = np.where(rng.random(len(own)) < epsilon, random, best)
            kept.explored[going[own], ply] = chosen[own] != best
        if len(own) < len(going):
            assert self._opponent is not None
            rows = np.setdiff1d(np.arange(len(going)), own, assume_unique=True)
            streams, seats = rngs[going[rows]], turn.movers[rows]
            answers = self._opponent.act(turn.states[rows], seats, streams, going[rows])
            rngs[going[rows]] = streams
            chosen[rows] = self._encoder.translate(np.asarray(answers, np.int64), seats)
        kept.planes[going, ply] = self._arena.packing.pack(turn.planes)
        kept.masks[going, ply] = self._mask_packing.pack(masks)
        kept.actions[going, ply] = chosen
        kept.movers[going, ply] = turn.movers
        actions = self._encoder.translate(chosen, turn.movers)
        wrong = self._arena.play(turn, actions)
        if wrong >= 0:
            raise ValueError(f"the opponent chose {actions[wrong]} at ply {ply}, which is illegal")
