"""Session of an engine: the game that another program plays, and the agent that analyzes it."""

from typing import Any

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.history import GameHistory
from ludoteca.evaluate.protocols.line_server import CommandError


class EngineSession:
    """Consecutive games of two players, all moves of which come from another program.

    Attributes:
        spec: spec string of the agent.
        history: the current game.
    """

    def __init__(self, game: Game, spec: str, seed: int = 0):
        """Begin the first game.

        Args:
            game: a sequential game of two players.
            spec: spec string of the agent.
            seed: seed of the first game; the next game has the next seed.

        Raises:
            ValueError: if there is no such agent, or it does not play the game.
            ImportError: if a package that the agent needs is missing.
        """
        self.spec = spec
        self.history = GameHistory(game, check_seed(seed))
        self._thread = AgentThread(make_agent(spec, game), spec)
        self._analysis: MoveAnalysis | None = None

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.history.game

    def restart(self, game: Game, spec: str | None = None, start: Any = None) -> None:
        """Begin the next game, by default with the same agent.

        Args:
            game: the game.
            spec: spec string of the agent.
            start: the first position, a record; by default that of the rules.

        Raises:
            CommandError: if the agent cannot be made for the game; the session is unchanged.
        """
        spec = self.spec if spec is None else spec
        if game is not self.game or spec != self.spec:
            try:
                agent = make_agent(spec, game)
            except (ValueError, OSError, ImportError) as error:
                raise CommandError(f"{spec} does not play {game.spec}: {error}") from None
            self._thread, self.spec = AgentThread(agent, spec), spec
        self.history = GameHistory(game, (self.history.seed + 1) % 2**64, start)
        self._forget()

    def play(self, action: int) -> None:
        """Play a legal action of the player to move."""
        self.history.play(action)
        self._analysis = None

    def undo(self) -> None:
        """Take back the last action.

        Raises:
            CommandError: if there is none.
        """
        if not self.history.actions:
            raise CommandError("cannot undo: no move has been played")
        self.history.truncate(len(self.history.actions) - 1)
        self._forget()

    def analyze(self) -> MoveAnalysis:
        """Return the agent's analysis of the current position.

        Raises:
            CommandError: if the game is over, or the agent fails.
        """
        if self.history.is_over:
            raise CommandError("the game is over")
        if self._analysis is None:
            self._analysis = self._think(self.history)
        return self._analysis

    def analyze_ply(self, ply: int) -> MoveAnalysis:
        """Return the agent's analysis of the position after `ply` plies of an unfinished game.

        Raises:
            CommandError: if the agent fails.
        """
        earlier = self.history.snapshot()
        earlier.truncate(ply)
        self._forget()
        try:
            return self._think(earlier)
        finally:
            self._forget()

    def _think(self, history: GameHistory) -> MoveAnalysis:
        analysis = self._thread.think(history)
        if isinstance(analysis, AgentFailure):
            raise CommandError(str(analysis))
        return analysis

    def _forget(self) -> None:
        self._analysis = None
        self._thread.drop(forget=True)
