"""Conversion of functions `agent(observation, configuration)` of Kaggle to agents, and back.

Functions and agents run in this process, without time limits; exceptions propagate.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.external.kaggle.agent import ACTIONS
from ludoteca.agents.external.kaggle.observation import configuration, observation, position
from ludoteca.agents.external.kaggle.worker import DEFAULT_ACTION, call, structify
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.records import batch_of_one

Function = Callable[..., Any]  # agent(observation, configuration) -> direction
ENV_INDEX = np.zeros(1, np.int64)  # env_indices of a batch of one game


class KaggleFunctionAgent(Agent):
    """Agent with a function `agent(observation, configuration)` that plays Hungry Geese."""

    def __init__(self, game: Game, make_function: Callable[[], Function]):
        """Make the agent.

        Args:
            game: the game it plays.
            make_function: it is called for each goose of each game, and returns the function that
                plays the goose: a new one if the function has state, otherwise always the same
                (`lambda: agent`).

        Raises:
            ValueError: if the game is not Hungry Geese.
        """
        if game.name != "hungry_geese":
            raise ValueError(f"Kaggle's functions need the game hungry_geese, got {game.name}")
        super().__init__(game)
        self._make_function = make_function
        self._functions: dict[tuple[int, int], Function] = {}
        self._configuration = configuration(game)

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Reset the games at `env_indices`."""
        new_games = set(env_indices.tolist())
        self._functions = {
            seat: function for seat, function in self._functions.items() if seat[0] not in new_games
        }

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the actions of the functions, one call per goose.

        Raises:
            ValueError: if a function does not return a direction.
        """
        actions = np.zeros(len(states), np.int64)
        records = states.view(np.recarray)
        for k, key in enumerate(zip(env_indices.tolist(), seats.tolist(), strict=True)):
            if key not in self._functions:
                self._functions[key] = self._make_function()
            kaggle_observation = structify(observation(records[k], key[1]))
            answer = call(self._functions[key], kaggle_observation, structify(self._configuration))
            answer = DEFAULT_ACTION if answer is None else answer  # as kaggle-environments does
            if answer not in ACTIONS:
                raise ValueError(
                    f"an agent must return one of {', '.join(ACTIONS)}, got {answer!r}"
                )
            actions[k] = ACTIONS.index(answer)
        return actions


def kaggle_function(agent: str, seed: int = 0) -> Function:
    """Return an agent of this package as a function that kaggle-environments can call.

    It tracks the game, so it has to be called in every step; step 0 resets it. Each goose needs its
    own function.

    Args:
        agent: a spec string.
        seed: seed of the agent's random stream.
    """
    rng = np.full((1, 1), seed, np.uint64)
    agents: dict[Game, Agent] = {}
    positions: dict[Game, Any] = {}  # last position of the current game

    def play(kaggle_observation: Any, configuration: Any) -> str:
        """Return the direction of the goose that an observation is for."""
        game = game_from_configuration(kaggle_observation, configuration)
        if game not in agents:
            agents[game] = make_agent(agent, game)
        if kaggle_observation["step"] == 0 or game not in positions:
            positions.clear()
            agents[game].reset(ENV_INDEX)
        positions[game] = position(game, kaggle_observation, positions.get(game))
        seat = np.array([kaggle_observation["index"]])
        action = int(agents[game].act(batch_of_one(game, positions[game]), seat, rng, ENV_INDEX)[0])
        if action == FORFEIT:
            raise RuntimeError(
                ": ".join(agents[game].forfeit_reason(0, kaggle_observation["index"]))
            )
        return ACTIONS[action]

    return play


def game_from_configuration(kaggle_observation: Any, configuration: Any) -> Game:
    """Return the game of Kaggle's observation and configuration."""
    return hungry_geese(
        num_players=len(kaggle_observation["geese"]),
        rows=configuration["rows"],
        columns=configuration["columns"],
        hunger_rate=configuration["hunger_rate"],
        min_food=configuration["min_food"],
        max_length=configuration["max_length"],
        episode_steps=configuration["episodeSteps"],
    )
