"""Requests to a search worker, and their execution in its process.

The phases of an execution are `PREPARING` (code is compiled or loaded), then `SEARCHING` if the
agent's search can be stopped, or else `COMPUTING`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.monitor import MakeReport, Monitor, SupportsMonitor
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.serialization import states_from_bytes
from ludoteca.evaluate.arena.payloads import analysis_payload
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread, failure_of
from ludoteca.evaluate.play.analysis import MoveAnalysis, analysis_of_search
from ludoteca.evaluate.play.history import GameHistory

MAX_AGENTS = 24  # agents that a worker keeps; the least recently used is dropped
PROGRESS_SECONDS = 0.25  # between two intermediate analyses
PONDER_SIMULATIONS = 200_000  # maximum while another player is to move
PREPARING, SEARCHING, COMPUTING = "preparing", "searching", "computing"
RequestKind = Literal["analysis", "prepare", "ponder"]
Send = Callable[[str, Any], None]  # see `RequestHandler.handle`


@runtime_checkable
class SupportsStop(Protocol):
    """Agent whose search can be stopped but not monitored, such as `az` in simultaneous games.

    Attributes:
        is_stopped: called during a search; returns whether the search shall end.
    """

    is_stopped: Callable[[], bool] | None


@dataclass(frozen=True)
class AnalysisRequest:
    """Request for an agent's analysis of a position.

    Attributes:
        owner: the game of the arena and the role of the agent there, `"play"` or `"advice"`, as
            `"NAME/ROLE"`, with `ArenaGame.name`. An agent object serves requests of one owner only.
        game: spec string of the game.
        agent: spec string of the agent.
        seed: seed of the game.
        start: first position, from `states_to_bytes`; None for that of the rules.
        actions: the actions so far.
        seat: the player to act.
        round: number of the game, see `ArenaGame.round`; agents with memory forget earlier games.
        kind: `"analysis"`; `"prepare"`: only compile or load the agent's code; or `"ponder"`:
            search the position of another player until the request is stopped, in the tree that
            the agent reuses for its own move.
    """

    owner: str
    game: str
    agent: str
    seed: int
    start: bytes | None
    actions: tuple[Any, ...]
    seat: int
    round: int = 0
    kind: RequestKind = "analysis"


@dataclass(frozen=True)
class AgentsRequest:
    """Request for those agents of a list of spec strings that play a game."""

    game: str
    agents: tuple[str, ...]


class RequestHandler:
    """Execution of requests; agents and games of earlier requests are reused.

    Args:
        is_stopped: returns whether the present request is to end as soon as possible.
    """

    def __init__(self, is_stopped: Callable[[], bool]):
        self._is_stopped = is_stopped
        # Agents and rounds by owner, game, agent and seat of their requests; histories by
        # `ArenaGame.name`.
        self._agents: dict[tuple[str, str, str, int], tuple[Agent, AgentThread]] = {}
        self._histories: dict[str, GameHistory] = {}
        self._rounds: dict[tuple[str, str, str, int], int] = {}

    def handle(self, request: AnalysisRequest | AgentsRequest, send: Send) -> dict[str, Any]:
        """Return the answer to a request as JSON values.

        It has the item `agents`, `analysis` or `failure`, or none after preparing and pondering.
        The answer to a request that was stopped has the additional item `stopped`, and a `note`
        if there is no result.

        Args:
            request: the request.
            send: called during the execution as `send("phase", phase)` and
                `send("progress", analysis)`.
        """
        if isinstance(request, AgentsRequest):
            return {"agents": playable(make_game(request.game), request.agents)}
        game = make_game(request.game)
        try:
            agent, thread = self._agent(game, request)
            thread.prepare()
        except Exception as error:
            return {"failure": str(failure_of(request.agent, error))}
        if request.kind == "prepare":
            return {}
        history = self._history(game, request)
        stopped = {"stopped": True, "note": f"{request.agent} was stopped before its search began"}
        if self._is_stopped():
            return stopped
        phase = SEARCHING if can_stop(agent) else COMPUTING
        send("phase", phase)
        # The sender of a later stop knows the phase: it waits for a search, or kills the process.
        if phase == COMPUTING and self._is_stopped():
            return stopped
        if request.kind == "ponder":
            self._ponder(agent, history, request.seat)
            return {}
        monitor = self._monitor(game, request, send)
        answer = self._analyze(agent, thread, history, request.seat, monitor)
        if isinstance(answer, AgentFailure):
            return {"failure": str(answer)}
        was_stopped = {"stopped": True} if self._is_stopped() else {}
        return {"analysis": analysis_payload(game, answer), **was_stopped}

    def _analyze(
        self, agent: Agent, thread: AgentThread, history: GameHistory, seat: int, monitor: Monitor
    ) -> MoveAnalysis | AgentFailure:
        """Return the agent's analysis of the last position; it can be stopped if `can_stop`."""
        if isinstance(agent, SupportsMonitor):
            agent.monitor = monitor
        elif isinstance(agent, SupportsStop):
            agent.is_stopped = self._is_stopped
        try:
            return thread.think(history, seat)
        finally:
            if isinstance(agent, SupportsMonitor):
                agent.monitor = None
            elif isinstance(agent, SupportsStop):
                agent.is_stopped = None

    def _ponder(self, agent: Agent, history: GameHistory, seat: int) -> None:
        """Search with an agent that reuses its tree; for others this would have no effect."""
        if not isinstance(agent, MCTSAgent) or not agent.reuse:
            return
        budget = agent.simulations, agent.seconds
        agent.simulations, agent.seconds = PONDER_SIMULATIONS, None
        agent.monitor = lambda report: self._is_stopped()
        try:
            agent.search(history.current, history.rng(), agent.tree_of(0, seat))  # 0: its only game
        finally:
            agent.simulations, agent.seconds = budget
            agent.monitor = None

    def _monitor(self, game: Game, request: AnalysisRequest, send: Send) -> Monitor:
        """Return a monitor that sends intermediate analyses and ends a stopped search."""
        last_sent = monotonic()

        def monitor(report: MakeReport) -> bool:
            nonlocal last_sent
            if monotonic() - last_sent >= PROGRESS_SECONDS:
                last_sent = monotonic()
                ply = len(request.actions)
                analysis = analysis_of_search(game, request.agent, ply, request.seat, report())
                send("progress", analysis_payload(game, analysis))
            return self._is_stopped()

        return monitor

    def _agent(self, game: Game, request: AnalysisRequest) -> tuple[Agent, AgentThread]:
        """Return the agent of a request and its thread: a kept one, or a new one."""
        key = request.owner, request.game, request.agent, request.seat
        entry = self._agents.pop(key, None)
        if entry is None:
            agent = make_agent(request.agent, game)
            entry = agent, AgentThread(agent, request.agent)
        elif self._rounds.get(key) != request.round:
            entry[1].cancel(new_game=True)
        self._rounds[key] = request.round
        self._agents[key] = entry
        if len(self._agents) > MAX_AGENTS:
            oldest = next(iter(self._agents))
            del self._agents[oldest], self._rounds[oldest]
        return entry

    def _history(self, game: Game, request: AnalysisRequest) -> GameHistory:
        """Return the history of a request: the kept one of its game, with only new actions played.

        A game from a position that was set up is played again from there.
        """
        name = request.owner.partition("/")[0]
        history = self._histories.get(name)
        is_kept = (
            history is not None
            and history.game is game
            and history.seed == request.seed
            and not history.is_set_up
            and request.start is None
        )
        if history is None or not is_kept:
            start = None
            if request.start is not None:
                start = states_from_bytes(game, request.start)[0]
            history = GameHistory(game, request.seed, start)
        common = 0
        for kept, requested in zip(history.actions, request.actions, strict=False):
            if kept != requested:
                break
            common += 1
        history.truncate(common)
        for action in request.actions[common:]:
            history.play(action)
        if len(self._histories) > MAX_AGENTS:
            self._histories.clear()
        self._histories[name] = history
        return history


def can_stop(agent: Agent) -> bool:
    """Return whether the agent's search can be stopped, with its result so far."""
    return isinstance(agent, SupportsMonitor | SupportsStop)


def playable(game: Game, agents: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the agents that can play a game, as JSON values for the form of a new game.

    `simulations` is the number of simulations per move, or None if it cannot be chosen because the
    agent has a time limit or does not search.
    """
    entries = []
    for spec in agents:
        try:
            with np.errstate(over="ignore"):  # game kernels may rely on integer overflow
                agent = make_agent(spec, game)
        except (ValueError, OSError, ImportError):
            continue
        simulations = getattr(agent, "simulations", None)
        if getattr(agent, "seconds", None) is not None or not isinstance(simulations, int):
            simulations = None
        simulations = simulations or None  # 0: no search
        entries.append({"spec": spec, "simulations": simulations})
    return entries
