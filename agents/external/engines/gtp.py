"""Agents `gtp` and `htp`: engines with the Go Text Protocol (GTP), or its variant for Hex (HTP)."""

from typing import Any

from ludoteca.agents.external.engines.agent import EngineAgent
from ludoteca.agents.external.engines.gtp_client import GTPEngine
from ludoteca.agents.external.engines.gtp_hex import HexEngine
from ludoteca.agents.external.engines.gtp_othello import OthelloEngine
from ludoteca.agents.external.engines.process import EngineProcess
from ludoteca.envs.game import Game

GAME_NAME = "Othello"  # argument of `set_game`, a command of engines that play several games


class GTPAgent(EngineAgent):
    """Engine for Hex or Othello in the Go Text Protocol."""

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Validate that a game is Hex or Othello."""
        if game.name not in ("hex", "othello"):
            raise ValueError(f"engines in GTP play hex and othello, not {game.name}")

    def reset(self, env_indices: Any) -> None:
        """Reset the games at `env_indices`: their engines clear the board."""
        for (env_index, _), engine in self._engines.items():
            if env_index in env_indices:
                engine.moves = None

    def make_engine(self, process: EngineProcess) -> GTPEngine:
        """Return an engine that has been given the size of the board, and the play clock."""
        control = self._time_control
        seconds = None if control is None else control.move_seconds
        size = self.game.params["board_size"]
        if self.game.name == "hex":
            engine: GTPEngine = HexEngine(process, self.game, seconds)
        else:
            engine = OthelloEngine(process, self.game, seconds)
            if engine.knows("set_game"):
                engine.ask(f"set_game {GAME_NAME}")
        engine.set_up(self.board_size_text(size))
        return engine

    def board_size_text(self, size: int) -> str:
        """Return the arguments of `boardsize`."""
        return str(size)


class HTPAgent(GTPAgent):
    """Engine for Hex in the Hex Text Protocol, whose `boardsize` has columns and rows."""

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Validate that a game is Hex."""
        if game.name != "hex":
            raise ValueError(f"engines in HTP play hex, not {game.name}")

    def board_size_text(self, size: int) -> str:
        """Return the arguments of `boardsize`."""
        return f"{size} {size}"
