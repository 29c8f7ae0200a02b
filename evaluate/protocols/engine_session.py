"""Session of an engine: the game that another program controls, and the agent that analyzes it."""

from typing import Any

from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import MAX_SECONDS, TimeControl
from ludoteca.envs.game import Game
from ludoteca.envs.validation import check_seed, next_seed
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread, failure_of
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.history import GameHistory
from ludoteca.evaluate.protocols.line_server import CommandError


class EngineSession:
    """Consecutive games of two players, whose moves another program sends.

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
            ValueError: if the agent is unknown, or does not play the game.
            ImportError: if a package that the agent needs is missing.
        """
        self.spec = spec
        self.history = GameHistory(game, check_seed(seed))
        self._agent = make_agent(spec, game)
        self._thread = AgentThread(self._agent, spec)
        self._move_seconds: float | None = None
        self._analysis: MoveAnalysis | None = None

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.history.game

    def restart(self, game: Game, spec: str | None = None, start: Any = None) -> None:
        """Begin the next game, by default with the same agent.

        Args:
            game: a sequential game of two players.
            spec: spec string of the agent; by default the last one.
            start: the first position, a record; by default that of the rules.

        Raises:
            CommandError: if the agent cannot be made for the game, or, under a time limit, fails to
                compile; the session is then unchanged.
        """
        spec = self.spec if spec is None else spec
        if game is not self.game or spec != self.spec:
            self._replace_agent(game, spec)
        self.history = GameHistory(game, next_seed(self.history.seed), start)
        self._reset_agent()

    def limit_time(self, seconds: float | None) -> None:
        """Set the time limit of a move, which replaces the limits of the spec string.

        The agent is compiled here, so that compilation takes no time of a move.

        Args:
            seconds: time limit of a move, at least 0.001, reduced to `MAX_SECONDS` if larger; None
                for the limits of the spec string.

        Raises:
            ValueError: if the time limit is too small.
            CommandError: if the agent fails to compile.
        """
        had_limit, self._move_seconds = self._move_seconds is not None, seconds
        if seconds is None:
            if had_limit:  # only a new agent has the limits of the spec string again
                self._replace_agent(self.game, self.spec)
            return
        self._agent.set_time_control(TimeControl(min(seconds, MAX_SECONDS)))
        if not had_limit:
            self._prepare()

    def play(self, action: int) -> None:
        """Play an action of the player to move.

        Raises:
            ValueError: if it is illegal.
        """
        self.history.play(action)
        self._analysis = None

    def undo(self) -> None:
        """Take back the last action.

        Raises:
            CommandError: if no action has been played.
        """
        if not self.history.actions:
            raise CommandError("cannot undo: no move has been played")
        self.history.truncate(len(self.history.actions) - 1)
        self._reset_agent()

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
        """Return the agent's analysis of an earlier or the current position of the game.

        The agent is reset before and after the analysis: it may remember later positions, such as
        in a search tree, and it must not remember this one.

        Args:
            ply: number of plies before the position, in which the game must not be over.

        Raises:
            CommandError: if the agent fails.
        """
        earlier = self.history.snapshot()
        earlier.truncate(ply)
        self._reset_agent()
        try:
            return self._think(earlier)
        finally:
            self._reset_agent()

    def _replace_agent(self, game: Game, spec: str) -> None:
        """Make an agent for the game, with the current time limit of a move.

        Raises:
            CommandError: if the agent cannot be made or fails to compile; the previous agent stays.
        """
        previous = self._agent, self.spec, self._thread
        try:
            agent = make_agent(spec, game)
        except (ValueError, OSError, ImportError) as error:
            raise CommandError(f"{spec} does not play {game.spec}: {error}") from None
        self._agent, self.spec = agent, spec
        self._thread = AgentThread(agent, spec)
        if self._move_seconds is not None:
            agent.set_time_control(TimeControl(min(self._move_seconds, MAX_SECONDS)))
            try:
                self._prepare()
            except CommandError:
                self._agent, self.spec, self._thread = previous
                raise

    def _prepare(self) -> None:
        """Reset the agent, and compile its search with a time limit.

        Raises:
            CommandError: if the agent fails.
        """
        # An `AgentThread` prepares its agent once, which may have been before there was a limit.
        self._thread = AgentThread(self._agent, self.spec)
        self._thread.cancel(new_game=True)
        try:
            self._thread.prepare()
        except Exception as error:  # a failure of the agent does not end the server
            raise CommandError(str(failure_of(self.spec, error))) from None

    def _think(self, history: GameHistory) -> MoveAnalysis:
        """Return the agent's analysis of the current position of a game.

        Raises:
            CommandError: if the agent fails.
        """
        analysis = self._thread.think(history)
        if isinstance(analysis, AgentFailure):
            raise CommandError(str(analysis))
        return analysis

    def _reset_agent(self) -> None:
        """Discard the last analysis, and the agent's memory of the game."""
        self._analysis = None
        self._thread.cancel(new_game=True)
