"""Gymnasium wrapper with rewards by outcome and length of the game."""

from typing import Any

import gymnasium

from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.params import check_real
from ludoteca.train.returns import loss_weight


class OutcomeReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Wrapper with reward `win` for a win and `loss` for a loss; a later loss weighs less.

    Outcomes between a loss (-1) and a win (1) are scaled in proportion: a draw has reward 0. With
    the defaults these are the rewards of
    Tanaka, "Inteligencia artificial para o jogo de Hex" (2018), section 4.1. The source weights
    losses by the number of moves, but gives no formula; `loss_weight` is our interpretation.
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
        self._win, self._loss = (
            check_real("win", win, -1e9, 1e9),
            check_real("loss", loss, -1e9, 1e9),
        )
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
