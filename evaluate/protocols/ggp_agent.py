"""Thread in which an agent searches for the moves of a GGP match, each until a deadline."""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.search.monitor import MakeReport, SupportsMonitor
from ludoteca.envs.game import Game
from ludoteca.envs.gdl.actions import bare_term
from ludoteca.envs.gdl.game import new_position, rules
from ludoteca.envs.records import batch_of_one
from ludoteca.evaluate.gdl.machine import RuleMachine

REPORT_SECONDS = 0.05  # between two readings of the best move of a search so far
JointMove = tuple[str, ...]  # a move of each role, as a GDL term


@dataclass
class _Request:
    """Request for a move.

    Attributes:
        moves: the joint moves so far.
        deadline: time of `time.monotonic` at which `AgentWorker.choose` stops waiting.
        action: the agent's action, or the best one so far; None before the first report.
        done: set when the search has ended.
    """

    moves: tuple[JointMove, ...]
    deadline: float
    action: int | None = None
    done: threading.Event = field(default_factory=threading.Event)


class AgentWorker:
    """Thread in which an agent is made, and searches for moves in one match.

    Attributes:
        is_ready: set when the agent is prepared or its preparation has failed.
        problem: why the agent cannot play, or `""`.
    """

    def __init__(self, make: Callable[[], Agent], seat: int, rng: Any):
        """Start the thread.

        Args:
            make: function that returns the prepared agent.
            seat: number of the player that it plays.
            rng: random stream of the agent, uint64 `[1]`.
        """
        self.is_ready, self.problem = threading.Event(), ""
        self._make, self._seat, self._rng = make, seat, rng
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._names: tuple[str, ...] = ()  # names of the game's actions
        self._closed = False
        # A daemon thread, so that the program can end during a long search or compilation.
        threading.Thread(target=self._work, daemon=True).start()

    def choose(self, moves: tuple[JointMove, ...], deadline: float) -> str | None:
        """Return the name of the agent's action, or of the best one at the deadline.

        It is None if there is no such action.

        Args:
            moves: the joint moves so far.
            deadline: time of `time.monotonic`.
        """
        if self.problem:
            return None
        request = _Request(moves, deadline)
        self._requests.put(request)
        request.done.wait(max(0.0, deadline - time.monotonic()))
        return None if request.action is None else self._names[request.action]

    def close(self) -> None:
        """End the thread, after the current search or compilation."""
        self._closed = True
        self._requests.put(None)

    def _work(self) -> None:
        try:
            agent = self._make()
            follower, self._names = _GameFollower(agent.game), tuple(agent.game.action_names)
            agent.reset(np.zeros(1, np.int64))
            self.is_ready.set()
            while (request := self._requests.get()) is not None:
                try:
                    if time.monotonic() < request.deadline and follower.follow(request.moves):
                        request.action = self._search(agent, follower.s, request)
                finally:
                    request.done.set()
        except Exception as error:  # the match continues with random moves
            self.problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.is_ready.set()

    def _search(self, agent: Agent, s: Any, request: _Request) -> int:
        """Return the agent's action in position `s`; keep the best one so far in the request."""
        last_report = time.monotonic()

        def monitor(make_report: MakeReport) -> bool:
            """Return whether the search must stop."""
            nonlocal last_report
            if time.monotonic() - last_report >= REPORT_SECONDS:
                request.action, last_report = make_report().action, time.monotonic()
            return self._closed or time.monotonic() >= request.deadline

        if isinstance(agent, SupportsMonitor):
            agent.monitor = monitor
        seats, rngs = np.full(1, self._seat), self._rng.reshape(1, 1)
        action = agent.act(batch_of_one(agent.game, s), seats, rngs, np.zeros(1, np.int64))[0]
        return int(action)


class _GameFollower:
    """Position of the agent's game, which follows the joint moves of a match.

    The game is the package's version of the GDL rules. In a game with chance, whose steps draw
    moves of the role `random`, the position is that of the state after the moves of the match.

    Attributes:
        s: the position, a record.
    """

    def __init__(self, game: Game):
        self.s = game.new()
        has_chance = game.has_chance
        self._machine = RuleMachine(rules(game)) if has_chance else None
        self._game, self._num_played = game, 0
        self._actions = {name: i for i, name in enumerate(game.action_names)}

    def follow(self, moves: tuple[JointMove, ...]) -> bool:
        """Play the joint moves that are new; return whether the agent can choose a move then.

        It cannot if the agent's game is over before the match, at the game's maximum number of
        plies, or if the game was classified as sequential but is simultaneous.
        """
        game = self._game
        if self._machine is not None:
            for joint in moves[self._num_played :]:
                self._machine.step(joint)
            self._num_played = len(moves)
            self.s = new_position(game, self._machine.fluents(), len(moves))
            return not game.is_terminal(self.s)
        with np.errstate(over="ignore"):  # rules may rely on integers that wrap around
            for joint in moves[self._num_played :]:
                if game.is_terminal(self.s):
                    return False
                actions = [self._actions.get(bare_term(move), -1) for move in joint]
                if game.player is not None:
                    action = actions[game.player(self.s)]
                    if action < 0:  # not an action of the player to move
                        return False
                    game.step(self.s, action)
                else:
                    game.step(self.s, np.array(actions))
                self._num_played += 1
            return not game.is_terminal(self.s)
