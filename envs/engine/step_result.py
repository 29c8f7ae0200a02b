"""Results of a step of a batch, in arrays that the caller provides."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.episode_state import NO_SEAT
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, kernel


class StepResult(NamedTuple):
    """Results of a step of B games, in arrays that the caller provides.

    Attributes:
        masks: legal actions of the W observing players, int8. Shape `[B, W, num_actions]`.
        rewards: rewards of all players, float32. Shape `[B, P]`.
        reward: reward of the agent, in self-play of the mover (simultaneous: of player 0), float32.
            Shape `[B]`.
        terminated: whether the step ended the game or eliminated the agent. bool, shape `[B]`.
        illegal: whether an action was illegal. bool, shape `[B]`.
        player: the observing player, or -1 for all players, int8. Shape `[B]`.
    """

    masks: NDArray[np.int8]
    rewards: NDArray[np.float32]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    illegal: NDArray[np.bool_]
    player: NDArray[np.int8]

    @classmethod
    def empty(cls, masks: NDArray[np.int8], num_players: int) -> "StepResult":
        """Return a step result that holds `masks`; its other arrays are as long, uninitialized."""
        count = len(masks)
        return cls(
            masks=masks,
            rewards=np.empty((count, num_players), np.float32),
            reward=np.empty(count, np.float32),
            terminated=np.empty(count, np.bool_),
            illegal=np.empty(count, np.bool_),
            player=np.empty(count, np.int8),
        )


def make_result_writers(game: Game) -> tuple[Any, Any, Any]:
    """Return a kernel (callable from compiled code) and two compiled functions that write results.

    Returns:
        The kernel `write_rows(episode_states, masks, step_result, lo, hi)` writes rows lo to
        hi - 1 of a `StepResult`; `write_step_result` is the same as a function callable from
        Python; `write_final_result(episode_states, step_result)` writes all but the masks, for the
        games that the last step ended (same-step autoreset), and zeros for others.
    """
    simultaneous, players = game.simultaneous, game.num_players

    @kernel
    def write_rows(episode_states: Any, masks: Any, step_result: Any, lo: int, hi: int) -> None:
        # One long copy of all masks is faster than a short one per game.
        flat_result, flat_masks = step_result.masks[lo:hi].reshape(-1), masks[lo:hi].reshape(-1)
        for k in range(len(flat_masks)):
            flat_result[k] = flat_masks[k]
        for i in range(lo, hi):
            episode = episode_states[i]
            for p in range(players):
                step_result.rewards[i, p] = episode.rewards[p]
            step_result.reward[i] = episode.reward
            step_result.terminated[i] = episode.terminated
            step_result.illegal[i] = episode.illegal
            mover_observes = not simultaneous and episode.seat == NO_SEAT
            step_result.player[i] = episode.mover if mover_observes else episode.seat

    @compiled_without_allocation
    def write_step_result(
        episode_states: Any, masks: Any, step_result: Any, lo: int, hi: int
    ) -> None:
        write_rows(episode_states, masks, step_result, lo, hi)

    @compiled_without_allocation
    def write_final_result(episode_states: Any, step_result: Any) -> None:
        for i in range(len(episode_states)):
            episode = episode_states[i]
            ended = episode.terminated
            for p in range(players):
                step_result.rewards[i, p] = episode.rewards[p] if ended else 0
            step_result.reward[i] = episode.reward if ended else 0
            step_result.terminated[i] = ended
            step_result.illegal[i] = episode.illegal and ended
            step_result.player[i] = episode.final_player if ended else 0

    return write_rows, write_step_result, write_final_result
