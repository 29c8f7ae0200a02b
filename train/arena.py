"""Where the games of a round are played side by side, each to its end."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.envs.lanes import Lanes
from ludoteca.envs.stepper import EVERY_SEAT, make_stepper, scratch_dtype
from ludoteca.train.replay import Packing


class Turn(NamedTuple):
    """The games that go on, K of them, before a ply.

    Attributes:
        ply: how many plies were played in each.
        lanes: where they are played. Shape `[K]`.
        states: the positions. Shape `[K]`.
        movers: who moves. Shape `[K]`.
        planes: what they see, as the network does. Shape `[K, *encoder.shape]`.
        masks: what is legal, as the network numbers actions. Shape `[K, A]`.
    """

    ply: int
    lanes: NDArray[np.int64]
    states: NDArray[np.void]
    movers: NDArray[np.int64]
    planes: NDArray[np.int8]
    masks: NDArray[np.int8]


class Arena:
    """Lanes for the games of a round.

    Attributes:
        encoder: tells what is seen.
        count: B, games of a round.
        plies: T, of the longest possible game.
        packing: in which form a round keeps what was seen.
    """

    def __init__(self, encoder: Encoder, count: int):
        """Make room for `count` games."""
        game = encoder.game
        self.encoder, self.count, self.plies = encoder, count, game.max_plies
        self.packing = Packing(encoder.shape, game.observation_high == 1)
        self._lanes = Lanes(game, count)
        self._stepper = make_stepper(game)
        self._scratch = np.zeros(1, scratch_dtype(game))

    def begin(self, rng: np.random.Generator) -> None:
        """Begin a game in every lane; `rng` decides about what the games draw."""
        lanes = self._lanes
        lanes.lanes["rng"][:, 0] = rng.integers(2**63, size=self.count)
        everyone = np.ones(self.count, np.bool_)
        self._stepper.restart(lanes.states, lanes.lanes, everyone, lanes.history, EVERY_SEAT)

    def turns(self) -> Iterator[Turn]:
        """Return the turns of the round, one by one; each is to be answered with `play`."""
        for ply in range(self.plies):
            going = np.flatnonzero(~self._lanes.lanes["over"])
            if len(going) == 0:
                return
            states = self._lanes.states[going]
            movers = self._lanes.lanes["mover"][going].astype(np.int64)
            yield Turn(ply, going, states, movers, *self.encoder.encode(states, movers))

    def play(self, turn: Turn, actions: NDArray[np.int64]) -> int:
        """Play a ply, one action for each game of a turn, as the game numbers actions.

        Returns:
            -1, or the row of the first action that is illegal; nothing is played then.
        """
        lanes = self._lanes
        joint = np.zeros((len(turn.lanes), 2), np.int64)
        joint[np.arange(len(joint)), turn.movers] = actions
        wrong = self._stepper.reply(
            lanes.states, lanes.lanes, turn.lanes, joint, lanes.history, self._scratch
        )
        return int(wrong) // 2

    @property
    def returns(self) -> NDArray[np.float32]:
        """Results for both players of games that are over. Shape `[B, 2]`."""
        returns: NDArray[np.float32] = self._lanes.lanes["rewards"]
        return returns
