"""Steps and parametrizations for tests of the first game of every environment API."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES

MakeSmallGame = Callable[[str], Game]
Make = Callable[..., Any]
ids = pytest.mark.parametrize("id_", GAMES)
apis = pytest.mark.parametrize("api", ["aec", "parallel", "single", "self-play", "opponents"])


def masks(env: Any) -> Any:
    """Return the action masks of the players to act, as the API of the environment has them."""
    if isinstance(env, GameEnv | GameVectorEnv):
        return env.action_masks().astype(np.int8)
    if hasattr(env, "agent_selection"):
        return env.observe(env.agent_selection)["action_mask"]
    return {agent: env.unwrapped.observe(agent)["action_mask"] for agent in env.agents}


def move_once(env: Any) -> None:
    """Play a legal move, so that some action is illegal in most games."""
    if isinstance(env, GameVectorEnv):
        env.step(env.action_masks().argmax(-1))
    elif isinstance(env, GameEnv):
        env.step(int(env.action_masks().argmax()))
    elif hasattr(env, "agent_selection"):
        env.step(int(masks(env).argmax()))
    else:
        env.step(legal_joint(env))


def legal_joint(env: Any) -> dict[str, int]:
    """Return the first legal action of each player of a parallel environment."""
    game_batch = env.unwrapped.game_batch
    if game_batch.num_acting > 1:
        seats = {agent: i for i, agent in enumerate(env.possible_agents)}
        return {agent: int(game_batch.masks[0, seats[agent]].argmax()) for agent in env.agents}
    return {agent: int(game_batch.masks[0, 0].argmax()) for agent in env.agents}
