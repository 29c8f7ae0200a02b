"""Wrapper of Gymnasium environments with rewards by outcome and length of the game."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.params import real


class OutcomeReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Rewards a win with `win` and a loss with `loss`, weighted less the later it occurs.

    Rewards between -1 and 1 are scaled in proportion. With the defaults these are the rewards of
    Tanaka, "Inteligencia artificial para o jogo de Hex" (2018), section 4.1, which says that
    losses are weighted by the number of moves, but not how; `loss_weight` is our interpretation.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        win: float = 100.0,
        loss: float = -100.0,
        by_length: bool = True,
    ):
        """Wrap a single-agent environment, as `gym.make` returns.

        Args:
            env: the environment, for one player against opponents.
            win: reward for a win.
            loss: reward for a loss.
            by_length: whether losses are weighted by the length of the game.

        Raises:
            ValueError: if a reward is out of range, or the environment is not of this package.
        """
        super().__init__(env)
        if not isinstance(env.unwrapped, GameEnv):
            raise ValueError(f"expected an environment of ludoteca for one player, got {env}")
        self._game_env = env.unwrapped
        self._win, self._loss = real("win", win, -1e9, 1e9), real("loss", loss, -1e9, 1e9)
        self._by_length = by_length

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step, and replace the reward."""
        observation, outcome, terminated, truncated, info = self.env.step(action)
        outcome = float(outcome)
        reward = outcome * (self._win if outcome > 0 else -self._loss)
        if outcome < 0 and self._by_length:
            plies = self._game_env.game_batch.plies_of(0)
            reward *= float(loss_weight(plies, self._game_env.game.max_plies))
        return observation, reward, terminated, truncated, info


def loss_weight(plies: ArrayLike, max_plies: int) -> NDArray[np.float64]:
    """Return `1 - plies / (max_plies + 1)`: less for later losses, and never 0.

    Args:
        plies: number of plies of the game.
        max_plies: maximum number of plies of a game.
    """
    return 1 - np.asarray(plies, np.float64) / (max_plies + 1)
