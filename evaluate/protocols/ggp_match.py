"""Match of General Game Playing (GGP): the rules of a `START` message, position and agent."""

import hashlib
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.gdl.actions import bare_term
from ludoteca.envs.gdl.compile import compile_text
from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.rules import RANDOM
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.machine import RuleMachine
from ludoteca.evaluate.protocols.ggp_agent import AgentWorker, JointMove
from ludoteca.evaluate.protocols.ggp_messages import MessageError, Start
from ludoteca.files import write_atomically

# Time without messages, beyond twice the longer clock, after which a match is abandoned.
IDLE_SECONDS = 60.0


class GGPMatch:
    """Match in which an agent plays one role.

    The rules are compiled, and the agent is prepared, in threads. Legal moves come from the
    compiled rules; if the agent has no move in time, or the role is `random`, a random legal move
    is made.

    Attributes:
        start: the message that began the match.
        last_message: time of the last message, of `time.monotonic`.
    """

    def __init__(
        self, start: Start, spec: str, seed: int, folder: Path, show: Callable[[str], None]
    ):
        """Begin a match.

        Args:
            start: the message.
            spec: spec string of the agent.
            seed: seed of the agent's random stream and of random moves.
            folder: folder for the file of the rules.
            show: function that shows a message to the user.
        """
        self.start, self.last_message = start, time.monotonic()
        self._spec, self._folder, self._show = spec, folder, show
        self._random = random.Random(seed)
        self._rng = np.full(1, self._random.getrandbits(64), np.uint64)
        self._turn = threading.Lock()  # held while a request for a move is answered
        self._compiled = threading.Event()  # set when the rules are compiled or have failed to
        self._problem = ""  # why the rules cannot be compiled
        self._machine: RuleMachine | None = None
        self._seat = 0
        self._moves: tuple[JointMove, ...] = ()
        self._received: list[JointMove] = []  # joint moves that are not in `_moves` yet
        self._closed = False
        self._worker: AgentWorker | None = None
        self._control = TimeControl(start.play_clock, start.start_clock)
        threading.Thread(target=self._compile, daemon=True).start()

    @property
    def is_idle(self) -> bool:
        """Whether there was no message for so long that the manager must have stopped."""
        clocks = max(self.start.start_clock, self.start.play_clock)
        return time.monotonic() - self.last_message > 2 * clocks + IDLE_SECONDS

    def wait_until_ready(self) -> None:
        """Wait until the agent is prepared or the start clock ends.

        Raises:
            MessageError: if the rules are invalid, or do not have the role.
        """
        deadline = self.last_message + answer_seconds(self.start.start_clock)
        self._compiled.wait(max(0.0, deadline - time.monotonic()))
        if self._problem:
            raise MessageError(self._problem)
        if self._worker is not None:
            self._worker.is_ready.wait(max(0.0, deadline - time.monotonic()))
            if self._worker.problem:
                self._show(f"{self._spec} cannot play: {self._worker.problem}; moves are random")

    def move(self, moves: JointMove) -> str | None:
        """Make the last joint move, and return the next move of the role.

        Args:
            moves: the last moves of all roles; empty before the first.

        Returns:
            The move, or None if another request is still being answered when the play clock ends.

        Raises:
            MessageError: if a move is illegal, the game is over, or the rules are not compiled yet.
        """
        deadline = time.monotonic() + answer_seconds(self.start.play_clock)
        self.last_message = time.monotonic()
        self._receive(moves)
        if not self._turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return None
        try:
            machine = self._wait_for_rules(deadline)
            self._advance(machine)
            if machine.is_terminal():
                raise MessageError(f"the game of the match {self.start.match} is over")
            legal = machine.legal()[self._seat]
            if not legal:
                raise MessageError(f"the rules give {self.start.role} no legal move")
            if len(legal) == 1:
                return legal[0]
            return self._choose(legal, deadline)
        finally:
            self._turn.release()

    def finish(self, moves: JointMove) -> str:
        """Make the last joint move, and return the goals of all roles as text.

        Raises:
            MessageError: if a move is illegal, or the rules are invalid.
        """
        self.close()
        self._receive(moves)
        if not self._compiled.is_set():
            return "stopped before the rules were compiled"
        with self._turn:
            machine = self._wait_for_rules(time.monotonic())
            self._advance(machine)
            if not machine.is_terminal():
                return "stopped before the end of the game"
            return ", ".join(
                f"{role} {'/'.join(map(str, goals))}"
                for role, goals in zip(machine.network.roles, machine.goals(), strict=True)
            )

    def close(self) -> None:
        """End the search and the thread of the agent."""
        self._closed = True
        if self._worker is not None:
            self._worker.close()

    def _compile(self) -> None:
        """Compile the rules, then start the thread of the agent."""
        start = self.start
        try:
            machine = RuleMachine(compile_text(start.rules, "the rules", use_cache=True))
            machine.legal()  # compiles the evaluation
            if start.role not in machine.network.roles:
                roles = ", ".join(machine.network.roles)
                raise GDLError(f"the rules have no role {start.role}, only {roles}")
            self._seat = machine.network.roles.index(start.role)
            self._machine = machine
            if not self._closed and start.role != RANDOM:
                player = machine.network.players.index(self._seat)
                self._worker = AgentWorker(self._make_agent, player, self._rng)
        except Exception as error:  # shown to the manager, which does not see this thread
            is_known = isinstance(error, GDLError)
            self._problem = str(error) if is_known else f"{type(error).__name__}: {error}"
        self._compiled.set()

    def _make_agent(self) -> Agent:
        """Return the prepared agent for the rules; it is called in the agent's thread."""
        digest = hashlib.sha256(self.start.rules.encode()).hexdigest()[:16]
        file = self._folder / f"rules_{digest}.kif"
        write_atomically(file, self.start.rules)
        # Managers send all moves, so the state is known.
        agent = make_agent(self._spec, make_game("gdl", path=str(file), observe="state"))
        agent.set_time_control(self._control)
        agent.prepare()
        return agent

    def _wait_for_rules(self, deadline: float) -> RuleMachine:
        """Return the compiled rules, or raise a `MessageError` if there are none at `deadline`."""
        self._compiled.wait(max(0.0, deadline - time.monotonic()))
        if self._machine is None:
            raise MessageError(self._problem or "the rules are still being compiled")
        return self._machine

    def _receive(self, moves: JointMove) -> None:
        """Keep a joint move until the rules are compiled, and earlier requests answered."""
        if moves:
            self._received.append(moves)

    def _advance(self, machine: RuleMachine) -> None:
        """Make the joint moves that have been received; an illegal one is dropped with an error."""
        while self._received:
            self._step(machine, self._received.pop(0))

    def _step(self, machine: RuleMachine, moves: JointMove) -> None:
        """Make one joint move, or raise a `MessageError` if it is illegal."""
        roles = machine.network.roles
        if len(moves) != len(roles):
            raise MessageError(
                f"expected one move for each of {len(roles)} roles, got {len(moves)}: "
                f"{' '.join(moves):.200}"
            )
        if machine.is_terminal():
            raise MessageError(f"the game of the match {self.start.match} is over")
        for role, move, legal in zip(roles, moves, machine.legal(), strict=True):
            if move not in legal:
                raise MessageError(
                    f"the move {move:.80} of {role} is illegal: "
                    f"the legal moves are {' '.join(legal):.400}"
                )
        machine.step(moves)
        self._moves = (*self._moves, moves)

    def _choose(self, legal: tuple[str, ...], deadline: float) -> str:
        """Return the agent's move, or a random legal one if it has none."""
        if self._worker is None:  # the role is `random`
            return self._random.choice(legal)
        chosen = self._worker.choose(self._moves, deadline)
        for move in legal:
            if bare_term(move) == chosen:
                return move
        move = self._random.choice(legal)
        self._show(f"{self._spec} returned no legal move in time: random move {move}")
        return move


def answer_seconds(clock: float) -> float:
    """Return the seconds after which an answer is sent: the mean of clock and thinking time.

    A search ends earlier, after `TimeControl.thinking_seconds`; the rest is for the network.
    """
    return (clock + TimeControl(clock).thinking_seconds) / 2
