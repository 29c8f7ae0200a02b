"""Agent with a `predict(observation, action_mask)` method, and the observer that it needs."""

from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.agents.action_validation import validate_actions
from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory, kernel


class Predictor(Protocol):
    """Policy with a method `predict`, from observations and action masks to actions."""

    def predict(
        self, observation: NDArray[Any], action_mask: NDArray[np.int8]
    ) -> NDArray[np.integer[Any]]:
        """Return one legal action per observation. Shape `[K]`.

        Args:
            observation: observations of the players to act. Shape `[K, *observation_shape]`.
            action_mask: 1 for legal actions, else 0. Shape `[K, num_actions]`.
        """


class PredictorAgent(Agent):
    """Agent that plays the actions of `predictor.predict(observation, action_mask)`."""

    def __init__(
        self,
        game: Game,
        predictor: Predictor,
        *,
        dtype: DTypeLike = "int8",
        channels_last: bool = False,
    ):
        """Make the agent.

        Args:
            game: the game to play.
            predictor: the policy.
            dtype: dtype of the observations.
            channels_last: whether observations have the shape `(rows, columns, planes)`.
        """
        super().__init__(game)
        self.predictor = predictor
        self._observer = Observer(game, dtype, channels_last)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Predict the actions of the whole batch.

        Raises:
            ValueError: if the predictor does not return one legal action per position.
        """
        observations, masks = self._observer.observe(states, seats)
        actions = self.predictor.predict(observations, masks.copy())
        return validate_actions(self.game, actions, masks, states, seats, "the predictor")


class Observer:
    """Observer of positions: it computes observations and action masks of a batch.

    Attributes:
        space: observation space of one position.
    """

    def __init__(self, game: Game, dtype: DTypeLike = "int8", channels_last: bool = False):
        """Make the observer; for the formats of observations see `PredictorAgent`."""
        planes, rows, columns = game.observation_shape
        shape = (rows, columns, planes) if channels_last else game.observation_shape
        self.space = spaces.Box(0, game.observation_high, shape, np.dtype(dtype).type)
        self._channels_last = channels_last
        self._observe_batch = make_observe_batch(game)
        self._legal = np.zeros(game.num_actions, game.action_dtype)

    def observe(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Return the observations `[K, *shape]` and masks `[K, num_actions]` of `seats` `[K]`."""
        observations = np.empty((len(states), *self.space.shape), self.space.dtype)
        masks = np.empty((len(states), len(self._legal)), np.int8)
        planes = np.moveaxis(observations, -1, 1) if self._channels_last else observations
        self._observe_batch(states, seats, self._legal, masks, planes)
        return observations, masks


@factory()
def make_observe_batch(game: Game) -> Any:
    """Return `observe_batch(states, seats, legal, masks, observations)`.

    It writes `masks`, int8 `[K, num_actions]`, and `observations`, `[K, planes, rows, columns]`, of
    the players `seats`, int64 `[K]`; `legal`, `[num_actions]` of `game.action_dtype`, is scratch.
    """
    legal_actions, observe, simultaneous = game.legal_actions, game.observe, game.simultaneous

    @kernel
    def list_legal(s: Any, player: int, legal: Any) -> Any:
        """Write the legal actions of a player to `legal`; return their number."""
        if simultaneous:
            return legal_actions(s, player, legal)
        return legal_actions(s, legal)

    @compiled
    def observe_batch(states: Any, seats: Any, legal: Any, masks: Any, observations: Any) -> None:
        for i in range(len(states)):
            observations[i] = 0
            observe(states[i], seats[i], observations[i])
            masks[i] = 0
            for k in range(list_legal(states[i], seats[i], legal)):
                masks[i, legal[k]] = 1

    return observe_batch
