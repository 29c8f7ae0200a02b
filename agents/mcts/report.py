"""What a search found, to be printed or written as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.endgame import EndgameSolution
from ludoteca.agents.mcts.tree import DRAW, LOSS, ROOT, UNEXPANDED, WIN
from ludoteca.envs.game import Game

PROOFS = {WIN: "win", DRAW: "draw", LOSS: "loss"}
MEANS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


@dataclass(frozen=True)
class Candidate:
    """A move at the root.

    Attributes:
        action: the move, and `name` what people call it.
        visits: simulations that began with it.
        mean: mean score in [0, 1] of the player to move.
        proven: `"win"`, `"draw"`, `"loss"` for the player to move, or `""`.
    """

    action: int
    name: str
    visits: int
    mean: float
    proven: str

    def __str__(self) -> str:
        return f"{self.name:>8} {self.visits:>9} {self.mean:>7.3f}  {self.proven}".rstrip()


@dataclass(frozen=True)
class SearchReport:
    """The statistics of one search.

    Attributes:
        action: the chosen move, and `name` what people call it.
        simulations: how many there were.
        seconds: how long they took.
        nodes: size of the tree.
        candidates: the moves at the root, the most visited first.
        principal_variation: names of the most visited moves from the root on.
        proven: `"win"`, `"draw"`, `"loss"` for the player to move, or `""`.
        players: where all move at once, the moves of every player, by seat, with means of their
            own; none for those who are out. `candidates` are those of the player that searched.
        score: what the player to move gets, where the position was solved exactly instead of
            searched (in Othello, how many more discs); else None. Only the best move is then a
            candidate, without visits.
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

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        rate = self.simulations / max(self.seconds, 1e-9)
        lines = [
            f"{self.name} after {self.simulations} simulations in {self.seconds:.3f} s "
            f"({rate:,.0f}/s), {self.nodes} nodes"
            + (f", proven {self.proven}" * bool(self.proven))
            + ("" if self.score is None else f", exact score {self.score:+d}"),
            "principal variation: " + " ".join(self.principal_variation),
            f"{'move':>8} {'visits':>9} {'mean':>7}  proven",
        ]
        if not self.players:
            lines += [str(one) for one in self.candidates]
        for p, moves in enumerate(self.players):
            lines += [f"player {p}", *(str(one) for one in moves)]
        return "\n".join(lines)


def make_report(game: Game, nodes: NDArray[np.void], chosen: int, seconds: float) -> SearchReport:
    """Read the report of a search off its tree.

    Args:
        game: the game.
        nodes: the tree, dtype `tree.NODE`.
        chosen: the node of the chosen move.
        seconds: how long the search took.
    """
    root = nodes[ROOT]
    candidates = [
        Candidate(
            int(child["action"]),
            game.action_names[child["action"]],
            int(child["visits"]),
            float(child["value"] / max(child["visits"], 1)),
            PROOFS.get(int(child["proven"]), ""),
        )
        for child in _children(nodes, root)
    ]
    candidates.sort(key=lambda one: (-one.visits, one.action))
    return SearchReport(
        action=int(nodes[chosen]["action"]),
        name=game.action_names[nodes[chosen]["action"]],
        simulations=int(root["visits"]),
        seconds=seconds,
        nodes=len(nodes),
        candidates=tuple(candidates),
        principal_variation=tuple(_principal_variation(game, nodes)),
        proven=PROOFS.get(int(root["proven"]), ""),
    )


def make_exact_report(solution: EndgameSolution) -> SearchReport:
    """Return the report of a position that was solved."""
    outcome = solution.outcome
    return SearchReport(
        action=solution.action,
        name=solution.name,
        simulations=0,
        seconds=solution.seconds,
        nodes=solution.nodes,
        candidates=(Candidate(solution.action, solution.name, 0, MEANS[outcome], outcome),),
        principal_variation=solution.principal_variation,
        proven=outcome,
        score=solution.score,
    )


def _children(nodes: NDArray[np.void], parent: Any) -> NDArray[np.void]:
    if parent["first"] == UNEXPANDED:
        return nodes[:0]
    return nodes[parent["first"] : parent["first"] + parent["count"]]


def _principal_variation(game: Game, nodes: NDArray[np.void]) -> list[str]:
    names, node = [], nodes[ROOT]
    while len(children := _children(nodes, node)) and children["visits"].max() > 0:
        node = children[children["visits"].argmax()]
        names.append(game.action_names[node["action"]])
    return names
