"""Python functions as agents, and agents as Python functions, the way Kaggle calls them.

Both stay in this process: nobody measures their time, and their errors are errors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.external.kaggle.agent import ACTIONS
from ludoteca.agents.external.kaggle.observation import configuration, observation, position
from ludoteca.agents.external.kaggle.worker import DEFAULT, call, structify
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.records import batch_of_one

Function = Callable[..., Any]
ENV_INDEX = np.zeros(1, np.int64)


class KaggleFunctionAgent(Agent):
    """Plays Hungry Geese by a function `agent(observation, configuration)` of this process."""

    def __init__(self, game: Game, make: Callable[[], Function]):
        """Make the agent.

        Args:
            game: the game it plays.
            make: returns what plays one goose in one game: a new object, if it remembers anything.
                `lambda: agent` will do for a function without memory.

        Raises:
            ValueError: if the game is another.
        """
        if game.name != "hungry_geese":
            raise ValueError(f"Kaggle's functions play hungry_geese, not {game.name}")
        super().__init__(game)
        self._make = make
        self._made: dict[tuple[int, int], Function] = {}
        self._configuration = configuration(game)

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Forget the games at `env_indices`: new ones begin there."""
        begun = set(env_indices.tolist())
        self._made = {seat: one for seat, one in self._made.items() if seat[0] not in begun}

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Ask goose after goose.

        Raises:
            ValueError: if an answer is no direction.
        """
        actions = np.zeros(len(states), np.int64)
        records = states.view(np.recarray)
        for k, key in enumerate(zip(env_indices.tolist(), seats.tolist(), strict=True)):
            if key not in self._made:
                self._made[key] = self._make()
            seen = structify(observation(records[k], key[1]))
            answer = call(self._made[key], seen, structify(self._configuration))
            answer = DEFAULT if answer is None else answer
            if answer not in ACTIONS:
                raise ValueError(
                    f"an agent must return one of {', '.join(ACTIONS)}, got {answer!r}"
                )
            actions[k] = ACTIONS.index(answer)
        return actions


def kaggle_function(agent: str, seed: int = 0) -> Function:
    """Return an agent of this package as a function that kaggle-environments can call.

    It remembers the game, and so has to see every step of it; a step 0 begins a new one. Each goose
    needs a function of its own.

    Args:
        agent: a spec string.
        seed: of its random stream.
    """
    rng = np.full((1, 1), seed, np.uint64)
    made: dict[Game, Agent] = {}
    before: dict[Game, Any] = {}  # the position one step before, of the game that is on

    def play(seen: Any, configuration: Any) -> str:
        game = game_of(seen, configuration)
        if game not in made:
            made[game] = make_agent(agent, game)
        if seen["step"] == 0 or game not in before:
            before.clear()
            made[game].reset(ENV_INDEX)
        before[game] = position(game, seen, before.get(game))
        seat = np.array([seen["index"]])
        action = int(made[game].act(batch_of_one(game, before[game]), seat, rng, ENV_INDEX)[0])
        if action == FORFEIT:
            raise RuntimeError(": ".join(made[game].forfeit_reason(0, seen["index"])))
        return ACTIONS[action]

    return play


def game_of(seen: Any, configuration: Any) -> Game:
    """Return the game that Kaggle plays, going by an observation and its configuration."""
    return hungry_geese(
        num_players=len(seen["geese"]),
        rows=configuration["rows"],
        columns=configuration["columns"],
        hunger_rate=configuration["hunger_rate"],
        min_food=configuration["min_food"],
        max_length=configuration["max_length"],
        episode_steps=configuration["episodeSteps"],
    )
