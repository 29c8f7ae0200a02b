"""Rollout of actor-critic algorithms: decisions of all players, and their returns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import ActionArray

# Agent in a seat: the learning network; k + 1 is member k of the opponent pool.
LEARNER = 0


@dataclass(frozen=True)
class ActorCriticRollout:
    """Rollout of B games of P players, with N decisions in order of play.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of all players. Shape `[B, P]`.
        seat_agents: agent in each seat: `LEARNER`, or a member of the opponent pool. Shape
            `[B, P]`.
        env_indices: game of each decision. Shape `[N]`.
        seats: player of each decision. Shape `[N]`.
        planes: observations, packed by `ludoteca.train.replay.Packing`. Shape `[N, bytes]`.
        masks: legal actions. Shape `[N, A]`.
        actions: sampled actions, in the network's numbering (see `SeatEncoder`). Shape `[N]`.
        probs: probabilities of the sampled actions. Shape `[N]`.
        max_probs: probabilities of the most likely actions. Shape `[N]`.
        values: value estimates of the network. Shape `[N]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    seat_agents: NDArray[np.int8]
    env_indices: NDArray[np.int32]
    seats: NDArray[np.int8]
    planes: NDArray[np.uint8]
    masks: NDArray[np.int8]
    actions: ActionArray
    probs: NDArray[np.float32]
    max_probs: NDArray[np.float32]
    values: NDArray[np.float32]
