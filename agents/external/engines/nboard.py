"""Agent `nboard`: engines for Othello with the NBoard protocol, version 2.

Before every move the position is sent to the engine with `set game`, so it can play from any
position and needs no memory of the game.
"""

from typing import Any

from ludoteca.agents.external.engines.agent import EngineAgent
from ludoteca.agents.external.engines.process import EngineProcess
from ludoteca.agents.external.failure import INVALID
from ludoteca.envs.formats.ggf import position_text
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer

# Beginning of an error message of some engines; others do not answer after an error.
ERROR_PREFIX = "status Error"


class NBoardAgent(EngineAgent):
    """Engine for Othello in the NBoard protocol."""

    def __init__(
        self,
        game: Game,
        command: str,
        depth: int | None = None,
        seconds: float = 60.0,
        games: int = 4,
    ):
        """Make the agent; engines are started at their first moves.

        Args:
            game: Othello.
            command: command line that starts the engine.
            depth: search depth, sent with `set depth`; None: the engine chooses.
            seconds: time limit of a move.
            games: maximum number of games in parallel; each seat of each game has a process.

        Raises:
            ValueError: if there is no such program, or a parameter is out of range.
        """
        super().__init__(game, command, seconds, games)
        self.depth = None if depth is None else check_integer("depth", depth, 1, 60)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Validate that a game is Othello."""
        if game.name != "othello":
            raise ValueError(f"engines in the NBoard protocol play othello, not {game.name}")

    def make_engine(self, process: EngineProcess) -> "OthelloEngine":
        """Return the client of an engine that accepted the protocol's version and the depth."""
        engine = OthelloEngine(process, self.game)
        process.write_line("nboard 2")
        if self.depth is not None:
            process.write_line(f"set depth {self.depth}")
        engine.synchronize()
        return engine


class OthelloEngine:
    """Client of an NBoard engine for Othello.

    Attributes:
        process: process of the engine.
    """

    def __init__(self, process: EngineProcess, game: Game):
        self.process, self._game = process, game
        self._pings = 0

    def synchronize(self) -> None:
        """Wait until the engine has executed all commands.

        Raises:
            FailureError: if the engine fails.
        """
        self._pings += 1
        self.process.write_line(f"ping {self._pings}")
        self._read(f"pong {self._pings}")

    def move(self, s: Any) -> int:
        """Return the engine's move in a position; forced passes are returned without a request.

        Raises:
            FailureError: if the engine fails, or its move is illegal.
        """
        names, legal = self._game.action_names, self._game.legal(s)
        if [names[action] for action in legal] == ["pass"]:
            return legal[0]
        self.process.write_line(f"set game {position_text(self._game, s)}")
        self.synchronize()
        self.process.write_line("go")
        # The answer is `=== MOVE`, which may be followed by `/EVALUATION/SECONDS`.
        answer = self._read("===").removeprefix("===").strip()
        name = answer.partition("/")[0].strip().lower()
        if name not in names or names.index(name) not in legal:
            raise self.process.failure(INVALID, f"its move {answer:.80} is illegal")
        return names.index(name)

    def _read(self, beginning: str) -> str:
        """Return the next line that starts with `beginning`; skip other lines, such as status."""
        while not (line := self.process.read_line().strip()).startswith(beginning):
            if line.startswith(ERROR_PREFIX):
                raise self.process.failure(INVALID, f"it reported: {line:.200}")
        return line
