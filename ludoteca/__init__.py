"""Ludoteca: board and grid games for reinforcement learning.

Importing this package registers every game in Gymnasium and PettingZoo as `ludoteca/<Name>-v0`.
"""

from ludoteca import extras, interrupt  # noqa: F401 - first: they guard the imports below

# isort: split
from importlib.metadata import version

from ludoteca.agents import make_agent, register_agent
from ludoteca.agents.register import register_entry_points as _register_agents
from ludoteca.envs import make_game, register_all, register_game
from ludoteca.envs.engine.opponents import set_agent_factory
from ludoteca.envs.register import register_entry_points as _register_games

__all__ = ["__version__", "make_agent", "make_game", "register_agent", "register_game"]
__version__ = version("ludoteca")

# Environments make opponents from spec strings, but do not import the agents themselves.
set_agent_factory(make_agent)
register_all()
_register_games()
_register_agents()
