"""Report of a search, as text or JSON."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame import EndgameSolution
from ludoteca.agents.search.select import DRAW, LOSS, WIN
from ludoteca.agents.search.sequential.tree import ROOT, UNEXPANDED
from ludoteca.envs.game import Game
from ludoteca.html_table import html_table

PROVEN_NAMES = {WIN: "win", DRAW: "draw", LOSS: "loss"}
OUTCOME_SCORES = {"win": 1.0, "draw": 0.5, "loss": 0.0}
MAX_ROWS, WIDTH = 10, 80  # number of printed moves, and columns of a line


@dataclass(frozen=True)
class Candidate:
    """Statistics of an action at the root.

    Attributes:
        action: the action; `name` is its name.
        visits: number of simulations that begin with the action.
        mean: mean score in [0, 1] of the player to move.
        proven: `"win"`, `"draw"`, `"loss"` for the player to move, or `""`.
        prior: probability of the action by the policy network in a network-guided search, else
            None.
    """

    action: int
    name: str
    visits: int
    mean: float
    proven: str
    prior: float | None = None


@dataclass(frozen=True)
class SearchReport:
    """Statistics of one search.

    Attributes:
        action: the action to play; `name` is its name.
        simulations: number of simulations, those of a reused tree included; 0 in an alpha-beta
            search and of a solved position.
        seconds: duration of the search.
        nodes: number of nodes of the tree, or of searched positions if `simulations` is 0.
        candidates: actions at the root, the most visited first.
        principal_variation: names of the most visited actions from the root on, or of the best
            moves of both players if `simulations` is 0.
        proven: `"win"`, `"draw"`, `"loss"` for the player to move, or `""`.
        players: in simultaneous games, the candidates of every player, empty for inactive
            (eliminated) players; `candidates` are those of the player to act.
        score: exact score of the player to move if the endgame solver solved the position (in
            Othello, the final disc difference), with the best move as the only candidate; else
            None.
        title: the kind of search and the game, such as `"MCTS (ucb1) of connect4"`.
        depth: depth in plies that an alpha-beta search has finished, with the best move as the only
            candidate, whose `visits` are all nodes; else None.
    """

    action: int
    name: str
    simulations: int
    seconds: float
    nodes: int
    candidates: tuple[Candidate, ...]
    principal_variation: tuple[str, ...]
    proven: str
    players: tuple[tuple[Candidate, ...], ...] = ()
    score: int | None = None
    title: str = ""
    depth: int | None = None

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(asdict(self))

    def __repr__(self) -> str:
        return (
            f"SearchReport({self.title!r}, name={self.name!r}, "
            f"simulations={self.simulations}, nodes={self.nodes}"
            + f", proven={self.proven!r}" * bool(self.proven)
            + ("" if self.score is None else f", score={self.score:+d}")
            + ("" if self.depth is None else f", depth={self.depth}")
            + ")"
        )

    def __str__(self) -> str:
        """Return the report in lines of at most 80 columns: the best moves, most visited first."""
        lines = textwrap.wrap(self._heading(), WIDTH)
        lines.append(self._effort())
        if self.principal_variation:
            line = "principal variation: " + " ".join(self.principal_variation)
            lines += textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        if not self.players and self.depth is None:
            lines += _table(self.candidates, self.action)
        for p, moves in enumerate(self.players):
            chosen = self.action if moves is self.candidates else None
            lines += [f"player {p}", *_table(moves, chosen)] if moves else [f"player {p}: out"]
        lines.append(self._legend())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the report as HTML, for notebooks: the best moves, most visited first."""
        notes = [self._effort()]
        if self.principal_variation:
            notes.append("principal variation: " + " ".join(self.principal_variation))
        notes.append(self._legend())
        if not self.players:
            return _html_table(self.candidates, self.action, self._heading(), notes)
        parts = [f"<p><strong>{escape(self._heading())}</strong></p>"]
        for p, moves in enumerate(self.players):
            chosen = self.action if moves is self.candidates else None
            last = notes if p == len(self.players) - 1 else []
            parts.append(_html_table(moves, chosen, f"player {p}" + ": out" * (not moves), last))
        return "".join(parts)

    def _heading(self) -> str:
        """Return the kind of search, the best move and its value."""
        best = next(
            (candidate for candidate in self.candidates if candidate.action == self.action), None
        )
        value = "" if best is None or best.visits == 0 else f", value {best.mean:.3f}"
        value = "" if self.proven else value
        return (
            f"{self.title or 'search'}: best move {self.name}{value}"
            + f", proven {self.proven}" * bool(self.proven)
            + ("" if self.score is None else f", exact score {self.score:+d}")
        )

    def _effort(self) -> str:
        """Return the number of simulations and nodes, and the time."""
        if self.depth is not None:
            rate = self.nodes / max(self.seconds, 1e-9)
            return (
                f"depth {self.depth} in {self.seconds:.3f} s, {self.nodes:,} nodes ({rate:,.0f}/s)"
            )
        if self.score is None:
            rate = self.simulations / max(self.seconds, 1e-9)
            work = f"{self.simulations:,} simulations in {self.seconds:.3f} s ({rate:,.0f}/s)"
        else:
            work = f"solved in {self.seconds:.3f} s"
        return f"{work}, {self.nodes:,} nodes"

    def _legend(self) -> str:
        """Return the meaning of the column `value`."""
        player = "each player" if self.players else "the player to move"
        score = "mean score" if self.depth is None else "score"
        return f"value: {score} of {player}, 1 = win, 0.5 = draw, 0 = loss"


def _table(candidates: Sequence[Candidate], chosen: int | None) -> list[str]:
    """Return a heading and one line per candidate; a star marks the chosen action."""
    total = max(sum(candidate.visits for candidate in candidates), 1)
    shown = list(candidates[:MAX_ROWS])
    shown += [candidate for candidate in candidates[MAX_ROWS:] if candidate.action == chosen]
    width = max([len(candidate.name) for candidate in shown] + [4]) + 2  # 2: room for "* "
    has_priors = any(candidate.prior is not None for candidate in candidates)
    heading = f"{'move':>{width}} {'visits':>11} {'share':>7} {'value':>7}"
    lines = [heading + f" {'prior':>7}" * has_priors]
    for candidate in shown:
        value = f"{candidate.mean:.3f}" if candidate.visits or candidate.proven else "-"
        label = f"* {candidate.name}" if candidate.action == chosen else candidate.name
        line = (
            f"{label:>{width}} {candidate.visits:>11,} {candidate.visits / total:>7.1%} {value:>7}"
        )
        line += f" {candidate.prior:>7.1%}" if candidate.prior is not None else ""
        lines.append(line + f"  proven {candidate.proven}" * bool(candidate.proven))
    if len(candidates) > len(shown):
        lines.append(f"{'...':>{width}} {len(candidates) - len(shown)} more in .candidates")
    return lines


def _html_table(
    candidates: Sequence[Candidate], chosen: int | None, title: str, notes: Sequence[str]
) -> str:
    """Return a table with a row per candidate as HTML; the chosen action is in bold."""
    total = max(sum(candidate.visits for candidate in candidates), 1)
    shown = list(candidates[:MAX_ROWS])
    shown += [candidate for candidate in candidates[MAX_ROWS:] if candidate.action == chosen]
    has_priors = any(candidate.prior is not None for candidate in candidates)
    has_proofs = any(candidate.proven for candidate in candidates)
    rows = [
        [
            candidate.name,
            f"{candidate.visits:,}",
            f"{candidate.visits / total:.1%}",
            f"{candidate.mean:.3f}" if candidate.visits or candidate.proven else "-",
            *(["" if candidate.prior is None else f"{candidate.prior:.1%}"] * has_priors),
            *([candidate.proven] * has_proofs),
        ]
        for candidate in shown
    ]
    hidden = len(candidates) - len(shown)
    return html_table(
        ["move", "visits", "share", "value", *["prior"] * has_priors, *["proven"] * has_proofs],
        rows,
        title=title,
        notes=[*([f"{hidden} more in .candidates"] if hidden else []), *notes],
        bold_rows=[k for k, candidate in enumerate(shown) if candidate.action == chosen],
    )


def make_report(
    game: Game, nodes: NDArray[np.void], chosen: int, seconds: float, title: str = ""
) -> SearchReport:
    """Return the report of a search from its tree.

    Args:
        game: the game.
        nodes: the tree, dtype `tree.node_dtype`.
        chosen: node of the action to play.
        seconds: duration of the search.
        title: the kind of search and the game.
    """
    root = nodes[ROOT]
    candidates = [
        Candidate(
            int(child["action"]),
            game.action_names[child["action"]],
            int(child["visits"]),
            float(child["value"] / max(child["visits"], 1)),
            PROVEN_NAMES.get(int(child["proven"]), ""),
        )
        for child in _children(nodes, root)
    ]
    candidates.sort(key=lambda candidate: (-candidate.visits, candidate.action))
    return SearchReport(
        action=int(nodes[chosen]["action"]),
        name=game.action_names[nodes[chosen]["action"]],
        simulations=int(root["visits"]),
        seconds=seconds,
        nodes=len(nodes),
        candidates=tuple(candidates),
        principal_variation=tuple(_principal_variation(game, nodes)),
        proven=PROVEN_NAMES.get(int(root["proven"]), ""),
        title=title,
    )


def make_exact_report(game: Game, solution: EndgameSolution) -> SearchReport:
    """Return the report of a solved position."""
    outcome = solution.outcome
    return SearchReport(
        action=solution.action,
        name=solution.name,
        simulations=0,
        seconds=solution.seconds,
        nodes=solution.nodes,
        candidates=(
            Candidate(solution.action, solution.name, 0, OUTCOME_SCORES[outcome], outcome),
        ),
        principal_variation=solution.principal_variation,
        proven=outcome,
        score=solution.score,
        title=f"exact endgame of {game.name}",
    )


def _children(nodes: NDArray[np.void], parent: Any) -> NDArray[np.void]:
    """Return the records of a node's children."""
    if parent["first_child"] == UNEXPANDED:
        return nodes[:0]
    return nodes[parent["first_child"] : parent["first_child"] + parent["num_children"]]


def _principal_variation(game: Game, nodes: NDArray[np.void]) -> list[str]:
    """Return the names of the most visited actions from the root on; with chance, only the first.

    In a game with chance, the positions after it depend on the chance events.
    """
    names, node = [], nodes[ROOT]
    while len(children := _children(nodes, node)) and children["visits"].max() > 0:
        node = children[children["visits"].argmax()]
        names.append(game.action_names[node["action"]])
        if game.has_chance:
            break
    return names
