"""Board and grid game environments for Gymnasium and PettingZoo.

`register_all` makes one module per game in PettingZoo's style, such as `ludoteca.envs.hex_v0`, with
the functions `env`, `raw_env` and `parallel_env`.
"""

from ludoteca.envs.api.registration import register_all
from ludoteca.envs.game import Game
from ludoteca.envs.register import register_game
from ludoteca.envs.registry import GAMES, make_game

__all__ = ["GAMES", "Game", "make_game", "register_all", "register_game"]
