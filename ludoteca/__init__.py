"""Ludoteca: board and grid games for reinforcement learning.

Importing this package registers every game in Gymnasium and PettingZoo as `ludoteca/<Name>-v0`.
"""

from ludoteca import extras, interrupt  # noqa: F401 - first: they guard the imports below

# isort: split
from importlib.metadata import version

from ludoteca.agents import make_agent
from ludoteca.envs import make_game, register_all
from ludoteca.envs.opponents import use_maker

__all__ = ["__version__", "make_agent", "make_game"]
__version__ = version("ludoteca")

use_maker(make_agent)
register_all()
