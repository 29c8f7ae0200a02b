"""Opponents that are not compiled: their `act` is called between compiled parts of a step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.engine.stepper import Stepper
from ludoteca.envs.game import Game

Tables = tuple[NDArray[Any], NDArray[Any], NDArray[np.int16], NDArray[Any]]
"""Arrays of `GameBatch`: states, episode states, history and scratch memory."""


class PythonOpponents:
    """Opponents in a batch of games, whose actions are requested and applied here.

    Attributes:
        game: the game.
        opponents: in the order of seats, the agent's left out.
    """

    def __init__(self, game: Game, opponents: tuple[Opponent, ...], stepper: Stepper):
        self.game, self.opponents, self._stepper = game, opponents, stepper

    def play_sequential(self, tables: Tables, which: NDArray[np.bool_]) -> None:
        """Let opponents move in the games `which` until the agent is to move (sequential games).

        Raises:
            ValueError: if an opponent returns an illegal action.
        """
        episode_states = tables[1]
        while True:
            waiting = np.flatnonzero(
                which
                & ~episode_states["over"]
                & (episode_states["mover"] != episode_states["seat"])
            )
            if len(waiting) == 0:
                return
            joint = np.zeros((len(waiting), self.game.num_players), np.int64)
            movers = episode_states["mover"][waiting].astype(np.int64)
            for p in np.unique(movers):
                self._ask(tables, int(p), np.flatnonzero(movers == p), waiting, joint)
            self._apply(tables, waiting, joint)

    def play_simultaneous(
        self, tables: Tables, playing: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> None:
        """Apply the agent's actions and the opponents' in the games `playing` (simultaneous games).

        Raises:
            ValueError: if an opponent returns an illegal action.
        """
        if len(playing) == 0:
            return
        joint = np.zeros((len(playing), self.game.num_players), np.int64)
        seats = tables[1]["seat"][playing]
        joint[np.arange(len(playing)), seats] = actions[playing]
        for p in range(self.game.num_players):
            active = np.zeros(len(playing), np.bool_)
            self._stepper.is_active(tables[0], playing, p, active)
            self._ask(tables, p, np.flatnonzero(active & (seats != p)), playing, joint)
        self._apply(tables, playing, joint)

    def _ask(
        self,
        tables: Tables,
        p: int,
        at: NDArray[np.int64],
        chosen: NDArray[np.int64],
        joint: NDArray[np.int64],
    ) -> None:
        """Fill `joint[at, p]` with the actions of player `p` in the games `chosen[at]`."""
        states, records = tables[:2]
        # Opponents are listed in the order of seats, the agent's left out.
        order = p - (p > records["seat"][chosen[at]])
        for k in np.unique(order):
            rows = at[order == k]
            env_indices = chosen[rows]
            rngs = records["rng"][env_indices]
            seats = np.full(len(rows), p, np.int64)
            actions = np.asarray(
                self.opponents[k].act(states[env_indices], seats, rngs, env_indices)
            )
            if actions.shape != rows.shape or actions.dtype.kind not in "iu":
                raise ValueError(
                    f"the opponent in seat {p} must return integers of shape {rows.shape}, "
                    f"got {actions.dtype} of shape {actions.shape}"
                )
            joint[rows, p] = actions
            # Not at `env_indices`, which the opponent may have changed.
            records["rng"][chosen[rows]] = rngs

    def _apply(self, tables: Tables, chosen: NDArray[np.int64], joint: NDArray[np.int64]) -> None:
        states, episode_states, history, scratch = tables
        wrong = self._stepper.apply_joint_actions(
            states, episode_states, chosen, joint, history, scratch
        )
        if wrong >= 0:
            k, p = divmod(int(wrong), self.game.num_players)
            raise ValueError(
                f"the opponent in seat {p} of game {chosen[k]} chose {joint[k, p]}, which is "
                f"illegal; it must return legal actions of {self.game.spec}"
            )
