"""Opponents that are not compiled: `act` is called between the compiled parts of a step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.engine.stepper import Stepper
from ludoteca.envs.game import ActionArray, Game

BatchArrays = tuple[NDArray[Any], NDArray[Any], ActionArray, NDArray[Any]]
"""States, episode states, history and scratch records of a `GameBatch`."""


class PythonOpponents:
    """Caller of the opponents in a batch of games: requests their actions and applies them.

    Attributes:
        game: the game.
        opponents: one for each seat but the agent's, in the order of seats.
    """

    def __init__(self, game: Game, opponents: tuple[Opponent, ...], stepper: Stepper):
        self.game, self.opponents, self._stepper = game, opponents, stepper

    def play_sequential(self, arrays: BatchArrays, env_mask: NDArray[np.bool_]) -> None:
        """Apply opponents' actions until the agent is to move (sequential games).

        Args:
            arrays: the arrays of the batch.
            env_mask: the games in which opponents act. Shape `[B]`.

        Raises:
            ValueError: if an opponent returns an illegal action.
        """
        episode_states = arrays[1]
        while True:
            waiting = np.flatnonzero(
                env_mask
                & ~episode_states["over"]
                & (episode_states["mover"] != episode_states["seat"])
            )
            if len(waiting) == 0:
                return
            joint = np.zeros((len(waiting), self.game.num_players), np.int64)
            movers = episode_states["mover"][waiting].astype(np.int64)
            for p in np.unique(movers):
                self._request(arrays, int(p), np.flatnonzero(movers == p), waiting, joint)
            self._apply(arrays, waiting, joint)

    def play_simultaneous(
        self, arrays: BatchArrays, env_indices: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> None:
        """Apply the agent's actions and the opponents' (simultaneous games).

        Args:
            arrays: the arrays of the batch.
            env_indices: indices of the games to step. Shape `[K]`.
            actions: the agent's action in each game of the batch. Shape `[B]`.

        Raises:
            ValueError: if an opponent returns an illegal action.
        """
        if len(env_indices) == 0:
            return
        joint = np.zeros((len(env_indices), self.game.num_players), np.int64)
        agent_seats = arrays[1]["seat"][env_indices]
        joint[np.arange(len(env_indices)), agent_seats] = actions[env_indices]
        for p in range(self.game.num_players):
            active = np.zeros(len(env_indices), np.bool_)
            self._stepper.is_active(arrays[0], env_indices, p, active)
            rows = np.flatnonzero(active & (agent_seats != p))
            self._request(arrays, p, rows, env_indices, joint)
        self._apply(arrays, env_indices, joint)

    def _request(
        self,
        arrays: BatchArrays,
        p: int,
        rows: NDArray[np.int64],
        env_indices: NDArray[np.int64],
        joint: NDArray[np.int64],
    ) -> None:
        """Fill `joint[rows, p]` with the actions of player `p` in the games `env_indices[rows]`.

        `env_indices` is `[K]`, `joint` is `[K, num_players]`, `rows` holds indices below K.
        """
        states, episode_states = arrays[:2]
        # The list of opponents has no entry for the agent's seat.
        opponent_indices = p - (p > episode_states["seat"][env_indices[rows]])
        for k in np.unique(opponent_indices):
            rows_k = rows[opponent_indices == k]
            env_indices_k = env_indices[rows_k]
            rngs = episode_states["rng"][env_indices_k]
            seats = np.full(len(rows_k), p, np.int64)
            actions = np.asarray(
                self.opponents[k].act(states[env_indices_k], seats, rngs, env_indices_k)
            )
            if actions.shape != rows_k.shape or actions.dtype.kind not in "iu":
                raise ValueError(
                    f"the opponent in seat {p} must return integers of shape {rows_k.shape}, "
                    f"got {actions.dtype} of shape {actions.shape}"
                )
            joint[rows_k, p] = actions
            # Not `env_indices_k`: the opponent may have changed that array.
            episode_states["rng"][env_indices[rows_k]] = rngs

    def _apply(
        self, arrays: BatchArrays, env_indices: NDArray[np.int64], joint: NDArray[np.int64]
    ) -> None:
        """Apply the joint actions, `[K, num_players]`, in K games, if all are legal."""
        states, episode_states, history, scratch_records = arrays
        illegal = self._stepper.apply_joint_actions(
            states, episode_states, env_indices, joint, history, scratch_records
        )
        if illegal >= 0:
            k, p = divmod(int(illegal), self.game.num_players)
            raise ValueError(
                f"the opponent in seat {p} of game {env_indices[k]} chose {joint[k, p]}, which is "
                f"illegal; it must return legal actions of {self.game.spec}"
            )
