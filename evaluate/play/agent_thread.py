"""Threads in which agents compute, so that windows stay responsive."""

import threading
import time
from typing import NamedTuple

from ludoteca.agents.agent import Agent
from ludoteca.evaluate.play.analysis import ENV_INDEX, MoveAnalysis, prepare, think
from ludoteca.evaluate.play.history import GameHistory


class AgentFailure(NamedTuple):
    """Failure of an agent: its name and the reason, in one line."""

    agent: str
    reason: str

    def __str__(self) -> str:
        return f"{self.agent} failed: {self.reason}"


def failure_of(agent: str, error: Exception) -> AgentFailure:
    """Return the failure of an agent that raised an exception.

    The reason names the type of the exception unless it is a `ValueError`, whose message suffices.
    """
    reason = " ".join(str(error).split())
    if not isinstance(error, ValueError):
        reason = f"{type(error).__name__}: {reason}"
    return AgentFailure(agent, reason)


class AgentThread:
    """Thread in which an agent analyzes one position at a time.

    A search cannot be interrupted, so a canceled request is finished before the next one, and its
    result is discarded.

    Attributes:
        name: name of the agent.
    """

    def __init__(self, agent: Agent, name: str):
        self.name = name
        self._agent = agent
        self._is_prepared = False
        self._request: GameHistory | None = None
        self._requested_at = 0.0
        self._result: MoveAnalysis | AgentFailure | None = None
        self._wake = threading.Condition()  # guards the request and its result; set by a request
        self._must_reset = False
        self._thread: threading.Thread | None = None

    @property
    def is_thinking(self) -> bool:
        """Whether there is a request that was not canceled, answered or not."""
        return self._request is not None

    @property
    def seconds(self) -> float:
        """Seconds since the last request."""
        return time.perf_counter() - self._requested_at

    def ask(self, history: GameHistory) -> None:
        """Request an analysis of the current position of a game; it replaces the last request."""
        with self._wake:
            self._request, self._result = history.snapshot(), None
            self._requested_at = time.perf_counter()
            self._wake.notify()
        if self._thread is None:
            # A daemon thread, so that quitting does not wait for the end of a long search.
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def answer(self) -> MoveAnalysis | AgentFailure | None:
        """Return the result of the last request, or None until there is one."""
        with self._wake:
            return self._result

    def cancel(self, new_game: bool = False) -> None:
        """Cancel the last request; with `new_game`, reset the agent before its next analysis."""
        with self._wake:
            self._request = self._result = None
            self._must_reset |= new_game

    def prepare(self) -> None:
        """Compile or load the agent's code in the caller's thread, unless that has been done."""
        if not self._is_prepared:
            prepare(self._agent)
            self._is_prepared = True

    def think(self, history: GameHistory, seat: int | None = None) -> MoveAnalysis | AgentFailure:
        """Return the agent's analysis of a position, computed in the caller's thread.

        Args:
            history: the game so far.
            seat: the player to act; by default the player to move in a sequential game.
        """
        try:
            self.prepare()
            if self._must_reset:
                self._must_reset = False
                self._agent.reset(ENV_INDEX)
            try:
                return think(self._agent, self.name, history, seat=seat)
            except ValueError:
                if not history.actions:
                    raise
                # After an undo, what an agent remembers of the game (such as the tree of its last
                # search) may not fit any more: it is reset and sees the game again.
                return think(self._agent, self.name, history, catch_up=True, seat=seat)
        except Exception as error:  # any exception ends the game, not the program
            return failure_of(self.name, error)

    def _work(self) -> None:
        while True:
            with self._wake:
                while self._request is None or self._result is not None:
                    self._wake.wait()
                history = self._request
            result = self.think(history)
            with self._wake:
                if self._request is history:
                    self._result = result
