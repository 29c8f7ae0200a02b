"""Analysis of a position by an agent: its move, visit shares, values and expected score."""

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent
from ludoteca.agents.search.report import OUTCOME_SCORES, SearchReport
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.records import batch_of_one
from ludoteca.evaluate.play.history import GameHistory

ENV_INDEX = np.zeros(1, np.int64)  # the games of a session are played at index 0


@runtime_checkable
class SupportsSearch(Protocol):
    """Agent that returns reports of its searches."""

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search a position; see `MCTSAgent.search`."""


@runtime_checkable
class SupportsActionValues(Protocol):
    """Agent with action values."""

    def values(self, s: Any) -> NDArray[np.floating[Any]]:
        """Return the value Q of every action for the player to move.

        Values are estimates of returns in [-1, 1], and may lie slightly outside. Shape
        `[num_actions]`, or `[rows, columns]` if actions are cells.
        """


@dataclass(frozen=True)
class MoveAnalysis:
    """Analysis of one position by an agent.

    Attributes:
        agent: name of the agent.
        ply: number of plies before the position.
        seat: the player to move.
        action: the agent's action.
        shares: visit shares of the actions, NaN for actions without visits. Shape
            `[num_actions]`; None without simulations: the agent does not search, or has solved the
            position exactly.
        values: value of each action for the player to move, NaN where unknown: scores in [0, 1] of
            a search, otherwise action values Q, estimates of returns in [-1, 1]. Shape
            `[num_actions]`; None if the agent has no values.
        visits: visit counts of the actions; None where `shares` is None. Shape `[num_actions]`.
        priors: probabilities of the actions by a policy network, or None. Shape `[num_actions]`.
        score: expected score of the player to move: 1 for a win, 0.5 for a draw, 0 for a loss; None
            if the agent does not estimate it.
        proven: `"win"`, `"draw"` or `"loss"` for the player to move; `""` if nothing is proven.
        exact: result of the game for the player to move in the units of the endgame solver (in
            Othello, the final disc difference) if it has solved the position; else None.
        simulations: number of simulations of the search; 0 without one.
        seconds: time of the search; 0 without one.
        variation: principal variation, as names of moves.
    """

    agent: str
    ply: int
    seat: int
    action: int
    shares: NDArray[np.float64] | None = field(default=None, repr=False)
    values: NDArray[np.float64] | None = field(default=None, repr=False)
    visits: NDArray[np.int64] | None = field(default=None, repr=False)
    priors: NDArray[np.float64] | None = field(default=None, repr=False)
    score: float | None = None
    proven: str = ""
    exact: int | None = None
    simulations: int = 0
    seconds: float = 0.0
    variation: tuple[str, ...] = ()

    @property
    def action_weights(self) -> NDArray[np.float64] | None:
        """Weights that rank actions: visit shares of a search, else Q. Shape `[num_actions]`."""
        return self.values if self.shares is None else self.shares

    def best(self, count: int) -> list[int]:
        """Return the `count` actions with the highest weights, in descending order."""
        if self.action_weights is None:
            return []
        known = np.flatnonzero(np.isfinite(self.action_weights))
        order = np.argsort(-self.action_weights[known], kind="stable")
        return [int(action) for action in known[order][:count]]


def prepare(agent: Agent) -> None:
    """Compile or load the code for `think`, so that the first search is as fast as later ones."""
    agent.prepare()
    # One simulation suffices. A search with a time limit would take the whole time.
    if isinstance(agent, MCTSAgent) and agent.seconds is None:
        simulations, agent.simulations = agent.simulations, 1
        try:
            agent.search(agent.game.new())
        finally:
            agent.simulations = simulations


def think(
    agent: Agent,
    name: str,
    history: GameHistory,
    catch_up: bool = False,
    seat: int | None = None,
) -> MoveAnalysis:
    """Return an agent's analysis of the current position of a game.

    Args:
        agent: the agent.
        name: name of the agent.
        history: the game, which must not change meanwhile; a `snapshot` for another thread.
        catch_up: reset the agent and replay its earlier turns first, which agents with a memory of
            the game need after an undo.
        seat: the player to act; by default the player to move in a sequential game.

    Raises:
        ValueError: if the agent forfeits a sequential game or chooses an illegal action.
        Exception: any exception that the agent raises.
    """
    seat = history.mover if seat is None else seat
    assert seat is not None
    if catch_up:
        agent.reset(ENV_INDEX)
        for k, s in enumerate(history.positions[:-1]):
            if seat in history.players_to_act_at(k):
                _act(agent, s, seat, _random_stream(history, seat, k))
    analysis = _think(agent, name, history, seat)
    if analysis.action == FORFEIT and not history.game.simultaneous:
        raise ValueError(
            ": ".join(("it forfeited", *agent.forfeit_reason(int(ENV_INDEX[0]), seat)))
        )
    check_action(history, seat, analysis.action)
    return analysis


def check_action(history: GameHistory, seat: int, action: int) -> None:
    """Raise a `ValueError` unless an agent's action is legal.

    In simultaneous games `FORFEIT` is allowed, too.
    """
    legal = history.legal(seat)
    allowed = [FORFEIT, *legal] if history.game.simultaneous else legal
    if action not in allowed:
        raise ValueError(
            f"it chose action {action}, which is illegal: the legal actions are {legal}"
        )


def _random_stream(history: GameHistory, seat: int, ply: int | None = None) -> NDArray[np.uint64]:
    """Return the random stream `[1]` of a seat's action after `ply` plies, by default the next."""
    return history.rng(ply, seat if history.game.simultaneous else None)


@np.errstate(over="ignore")  # kernels may rely on integers that wrap around
def _think(agent: Agent, name: str, history: GameHistory, seat: int) -> MoveAnalysis:
    """Return the analysis of `think` without its checks: by a search, action values or `act`."""
    s, rng, ply = history.current, _random_stream(history, seat), len(history.actions)
    if isinstance(agent, MCTSAgent) and agent.reuse:
        tree = agent.tree_of(int(ENV_INDEX[0]), seat)
        return analysis_of_search(history.game, name, ply, seat, agent.search(s, rng, tree))
    if isinstance(agent, DecoupledMCTSAgent):
        tree = agent.tree_of(int(ENV_INDEX[0]), seat) if agent.reuse else None
        report = agent.search(s, rng, tree, seat)
        return analysis_of_search(history.game, name, ply, seat, report)
    if isinstance(agent, SupportsSearch):
        return analysis_of_search(history.game, name, ply, seat, agent.search(s, rng))
    action = _act(agent, s, seat, rng)
    if not isinstance(agent, SupportsActionValues):
        return MoveAnalysis(name, ply, seat, action)
    values = _by_action(agent.values(s), history.legal(seat), history.game.num_actions)
    best_return = float(np.nanmax(np.clip(values, -1, 1), initial=-1))
    score = (best_return + 1) / 2  # from a return in [-1, 1] to a score in [0, 1]
    return MoveAnalysis(name, ply, seat, action, values=values, score=score)


def _act(agent: Agent, s: Any, seat: int, rng: NDArray[np.uint64]) -> int:
    """Return the agent's action in a batch of one game, position `s`, with random stream `[1]`."""
    actions = agent.act(
        batch_of_one(agent.game, s), np.array([seat], np.int64), rng.reshape(1, 1), ENV_INDEX
    )
    return int(actions[0])


def analysis_of_search(
    game: Game, name: str, ply: int, seat: int, report: SearchReport
) -> MoveAnalysis:
    """Return the analysis of a position after `ply` plies from the report of a search by `name`."""
    shares, values, priors = np.full((3, game.num_actions), np.nan)
    counts = np.zeros(game.num_actions, np.int64)
    score = None
    visits = sum(candidate.visits for candidate in report.candidates)
    for candidate in report.candidates:
        counts[candidate.action] = candidate.visits
        if candidate.prior is not None:
            priors[candidate.action] = candidate.prior
        if candidate.visits > 0 or candidate.proven:
            shares[candidate.action] = candidate.visits / max(visits, 1)
            values[candidate.action] = OUTCOME_SCORES.get(candidate.proven, candidate.mean)
        if candidate.action == report.action and np.isfinite(values[candidate.action]):
            score = OUTCOME_SCORES.get(report.proven, float(values[candidate.action]))
    return MoveAnalysis(
        agent=name,
        ply=ply,
        seat=seat,
        action=report.action,
        shares=shares if visits > 0 else None,  # a position may be solved without simulations
        values=values,
        visits=counts if visits > 0 else None,
        priors=priors if np.isfinite(priors).any() else None,
        score=score,
        proven=report.proven,
        exact=report.score,
        simulations=report.simulations,
        seconds=report.seconds,
        variation=report.principal_variation,
    )


def _by_action(values: ArrayLike, legal: list[int], num_actions: int) -> NDArray[np.float64]:
    """Return the values of legal actions, NaN for others. Shape `[num_actions]`.

    If actions are cells, actions off the board (such as a pass) have no entry in `values`.
    """
    flat_values = np.asarray(values, np.float64).ravel()
    by_action = np.full(num_actions, np.nan)
    known = [action for action in legal if action < len(flat_values)]
    by_action[known] = flat_values[known]
    return by_action
