"""Playing rounds of games side by side, and keeping all that happens in them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.dqn import ILLEGAL, nth_legal
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.envs.lanes import Lanes
from ludoteca.envs.stepper import EVERY_SEAT, make_stepper, scratch_dtype
from ludoteca.train.replay import Packing

Run = Callable[[NDArray[np.int8]], NDArray[np.float32]]


@dataclass(frozen=True)
class Round:
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


class Table:
    """Where a learner plays rounds against an opponent, or itself."""

    def __init__(self, encoder: Encoder, games: int, opponent: Agent | None, seat: str):
        """Make the table.

        Args:
            encoder: of the game.
            games: B, games of a round.
            opponent: an agent, or None for self-play.
            seat: `"first"`, `"second"` or `"both"`: where the learner sits, if there is one.
        """
        game = encoder.game
        self._encoder, self._opponent, self._games = encoder, opponent, games
        self._lanes = Lanes(game, games)
        self._stepper = make_stepper(game)
        self._scratch = np.zeros(1, scratch_dtype(game))
        self._packing = Packing(encoder.shape, game.observation_high == 1)
        self._mask_packing = Packing((game.num_actions,), True)
        seats = {"first": [0], "second": [1], "both": [0, 1]}[seat]
        self._seats = np.resize(np.array(seats, np.int8), games)
        if opponent is None:
            self._seats[:] = -1

    def play(self, run: Run, epsilon: float, rng: np.random.Generator) -> Round:
        """Play a game in every lane.

        Args:
            run: the learner's network: one number per action, for planes.
            epsilon: probability that it moves at random.
            rng: decides about everything in the round.
        """
        game, lanes = self._encoder.game, self._lanes
        count, plies = self._games, game.max_plies
        lanes.lanes["rng"][:, 0] = rng.integers(2**63, size=count)
        rngs = rng.integers(2**63, size=(count, 1)).astype(np.uint64)
        everyone = np.ones(count, np.bool_)
        self._stepper.restart(lanes.states, lanes.lanes, everyone, lanes.history, EVERY_SEAT)
        if self._opponent is not None:
            self._opponent.start(np.arange(count))
        kept = Round(
            lengths=np.zeros(count, np.int64),
            returns=np.zeros((count, 2), np.float32),
            seats=self._seats,
            planes=np.zeros((count, plies, self._packing.size), np.uint8),
            masks=np.zeros((count, plies, self._mask_packing.size), np.uint8),
            actions=np.zeros((count, plies), np.int64),
            movers=np.zeros((count, plies), np.int8),
            explored=np.zeros((count, plies), np.bool_),
        )
        for ply in range(plies):
            going = np.flatnonzero(~lanes.lanes["over"])
            if len(going) == 0:
                break
            self._ply(going, ply, kept, run, epsilon, rng, rngs)
            kept.lengths[going] += 1
        kept.returns[:] = lanes.lanes["rewards"]
        return kept

    def _ply(
        self,
        going: NDArray[np.int64],
        ply: int,
        kept: Round,
        run: Run,
        epsilon: float,
        rng: np.random.Generator,
        rngs: NDArray[np.uint64],
    ) -> None:
        """Play one ply in the lanes `going`."""
        states, movers = self._lanes.states[going], self._lanes.lanes["mover"][going]
        seats = movers.astype(np.int64)
        planes, masks = self._encoder.encode(states, seats)
        own = np.flatnonzero((self._seats[going] < 0) | (self._seats[going] == movers))
        chosen = np.zeros(len(going), np.int64)  # as the network numbers actions
        if len(own) > 0:
            best = np.where(masks[own] == 1, run(planes[own]), ILLEGAL).argmax(1)
            random = nth_legal(masks[own], rng.random(len(own)))
            chosen[own] = np.where(rng.random(len(own)) < epsilon, random, best)
            kept.explored[going[own], ply] = chosen[own] != best
        if len(own) < len(going):
            assert self._opponent is not None
            rows = np.setdiff1d(np.arange(len(going)), own, assume_unique=True)
            streams = rngs[going[rows]]
            answers = self._opponent.act(states[rows], seats[rows], streams, going[rows])
            rngs[going[rows]] = streams
            chosen[rows] = self._encoder.translate(np.asarray(answers, np.int64), seats[rows])
        kept.planes[going, ply] = self._packing.pack(planes)
        kept.masks[going, ply] = self._mask_packing.pack(masks)
        kept.actions[going, ply] = chosen
        kept.movers[going, ply] = movers
        joint = np.zeros((len(going), 2), np.int64)
        joint[np.arange(len(going)), seats] = self._encoder.translate(chosen, seats)
        lanes = self._lanes
        wrong = self._stepper.reply(
            lanes.states, lanes.lanes, going, joint, lanes.history, self._scratch
        )
        if wrong >= 0:
            row, seat = divmod(int(wrong), 2)
            raise ValueError(
                f"the opponent chose {joint[row, seat]} at ply {ply}, which is illegal"
            )
