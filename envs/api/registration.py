"""Registration of every game in Gymnasium and PettingZoo.

PettingZoo has a registry since 1.27. With older releases, its environments are made only by modules
such as `ludoteca.envs.hex_v0`.
"""

import sys
from types import ModuleType
from typing import Any

import gymnasium
import pettingzoo

from ludoteca.envs.registry import GAMES, game_name

HAS_PETTINGZOO_REGISTRY = hasattr(pettingzoo, "register")
GRID_WORLD = "ludoteca/GridWorld-v0"
# Functions of the module of a game. `env` has no wrappers, so it is the same as `raw_env`.
ENTRY_POINTS = {
    "env": "ludoteca.envs.api.aec:aec_env",
    "raw_env": "ludoteca.envs.api.aec:aec_env",
    "parallel_env": "ludoteca.envs.api.parallel:parallel_env",
}


def register_all() -> None:
    """Register every game as `ludoteca/<Name>-v0` in both libraries; repeated calls are harmless.

    Also make one module per game, such as `ludoteca.envs.hex_v0`, with the functions `env`,
    `raw_env` and `parallel_env` that PettingZoo's own games have. The grid world is not a game and
    is registered only in Gymnasium.
    """
    if GRID_WORLD not in gymnasium.registry:
        gymnasium.register(
            GRID_WORLD,
            entry_point="ludoteca.envs.grid_world:GridWorld",
            max_episode_steps=100,  # a policy may never reach the goal or the trap
        )
    for id_ in GAMES:
        register_apis(id_)


def register_apis(id_: str) -> None:
    """Register one game in both libraries, and make its module, without importing the game.

    Args:
        id_: name and version of the game, such as `"Hex-v0"`.
    """
    full_id, kwargs = f"ludoteca/{id_}", {"game": id_}
    if full_id not in gymnasium.registry:
        gymnasium.register(
            full_id,
            entry_point="ludoteca.envs.api.single:GameEnv",
            vector_entry_point="ludoteca.envs.api.vector:GameVectorEnv",
            kwargs=kwargs,
        )
    if HAS_PETTINGZOO_REGISTRY and full_id not in pettingzoo.aec_registry:
        pettingzoo.register("aec", full_id, ENTRY_POINTS["env"], kwargs=kwargs)
    if HAS_PETTINGZOO_REGISTRY and full_id not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", full_id, ENTRY_POINTS["parallel_env"], kwargs=kwargs)
    _add_module(f"{game_name(id_)}_{id_.rpartition('-')[2]}", id_)


def _add_module(name: str, id_: str) -> None:
    """Add the module `ludoteca.envs.<name>` with PettingZoo's functions for a game."""
    package = sys.modules["ludoteca.envs"]
    module = ModuleType(f"ludoteca.envs.{name}", f"{id_} in PettingZoo's style.")
    for function, entry_point in ENTRY_POINTS.items():
        setattr(module, function, _lazy_constructor(id_, entry_point))
    sys.modules[module.__name__] = module
    setattr(package, name, module)


def _lazy_constructor(id_: str, entry_point: str) -> Any:
    """Return a function that imports `entry_point` (`"module:function"`) and calls it."""

    def make(**options: Any) -> Any:
        module, _, function = entry_point.partition(":")
        return getattr(__import__(module, fromlist=[function]), function)(id_, **options)

    return make
