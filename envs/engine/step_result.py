"""What came of a step of many games, written to arrays of the caller's own."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.env_info import NO_SEAT
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, kernel


class Outcome(NamedTuple):
    """What came of a step in B lanes, in arrays of the caller's own.

    Attributes:
        masks: legal actions of the W seats seen, int8. Shape `[B, W, num_actions]`.
        rewards: of all players, float32. Shape `[B, P]`.
        reward: the agent's, or the mover's, float32. Shape `[B]`.
        terminated: whether the game is over, for the agent at least. bool, shape `[B]`.
        illegal: whether an illegal action was offered. bool, shape `[B]`.
        player: whose view is seen, or -1 for all, int8. Shape `[B]`.
    """

    masks: NDArray[np.int8]
    rewards: NDArray[np.float32]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    illegal: NDArray[np.bool_]
    player: NDArray[np.int8]


def make_tell(game: Game) -> tuple[Any, Any, Any]:
    """Return how outcomes of a game are told: a kernel, and two compiled functions.

    Returns:
        `tell_lanes(lanes, masks, outcome, lo, hi)` writes an `Outcome` of some lanes, `tell(lanes,
        masks, outcome)` of all, and `tell_final(lanes, outcome)` all but the masks of the games
        that the last step ended (same-step autoreset), and zeros for others.
    """
    simultaneous, players = game.simultaneous, game.num_players

    @kernel
    def tell_lanes(lanes: Any, masks: Any, outcome: Any, lo: int, hi: int) -> None:
        # One long copy is faster than many short ones.
        told, known = outcome.masks[lo:hi].reshape(-1), masks[lo:hi].reshape(-1)
        for k in range(len(known)):
            told[k] = known[k]
        for i in range(lo, hi):
            lane = lanes[i]
            for p in range(players):
                outcome.rewards[i, p] = lane.rewards[p]
            outcome.reward[i] = lane.reward
            outcome.terminated[i] = lane.terminated
            outcome.illegal[i] = lane.illegal
            seen_by_seat = simultaneous or lane.seat != NO_SEAT
            outcome.player[i] = lane.seat if seen_by_seat else lane.mover

    @compiled_without_allocation
    def tell(lanes: Any, masks: Any, outcome: Any) -> None:
        tell_lanes(lanes, masks, outcome, 0, len(lanes))

    @compiled_without_allocation
    def tell_final(lanes: Any, outcome: Any) -> None:
        for i in range(len(lanes)):
            lane = lanes[i]
            ended = lane.terminated
            for p in range(players):
                outcome.rewards[i, p] = lane.rewards[p] if ended else 0
            outcome.reward[i] = lane.reward if ended else 0
            outcome.terminated[i] = ended
            outcome.illegal[i] = lane.illegal and ended
            outcome.player[i] = lane.final_player if ended else 0

    return tell_lanes, tell, tell_final
