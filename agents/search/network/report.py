"""Report of a network-guided search."""

import numpy as np

from ludoteca.agents.search.network.search import SearchResult
from ludoteca.agents.search.network.trees import SearchTrees
from ludoteca.agents.search.report import Candidate, SearchReport
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.game import Game


def make_network_guided_report(
    game: Game,
    result: SearchResult,
    trees: SearchTrees,
    action: int,
    seconds: float,
    title: str,
    has_priors: bool,
) -> SearchReport:
    """Return the report of the search of one position.

    Args:
        game: the game.
        result: the result, for one position.
        trees: the trees of the search; only the first is read.
        action: the action to play.
        seconds: duration of the search.
        title: the kind of search and the game.
        has_priors: whether the network has a policy head.
    """
    visits, prior = result.visit_counts[0], trees.priors[0, ROOT]
    legal = np.flatnonzero(prior >= 0)
    # In [0, 1]; 0 for actions without visits.
    scores = (np.nan_to_num(result.action_values[0].astype(np.float64), nan=-1.0) + 1) / 2
    candidates = [
        Candidate(
            action=int(candidate),
            name=game.action_names[candidate],
            visits=int(visits[candidate]),
            mean=float(scores[candidate]),
            proven="",
            prior=float(prior[candidate]) if has_priors else None,
        )
        for candidate in legal
    ]
    candidates.sort(
        key=lambda candidate: (-candidate.visits, -(candidate.prior or 0.0), candidate.action)
    )
    return SearchReport(
        action=action,
        name=game.action_names[action],
        simulations=int(visits.sum()),
        seconds=seconds,
        nodes=int(trees.size[0]),
        candidates=tuple(candidates),
        principal_variation=_principal_variation(game, trees),
        proven="",
        title=title,
    )


def _principal_variation(game: Game, trees: SearchTrees) -> tuple[str, ...]:
    """Return the names of the most visited moves from the root of the first tree on."""
    names, node, nodes = [], ROOT, trees.nodes[0, : trees.size[0]]
    while trees.visits[0, node].max() > 0:
        action = int(trees.visits[0, node].argmax())
        names.append(game.action_names[action])
        node = int(np.flatnonzero((nodes["parent"] == node) & (nodes["joint"] == action))[0])
    return tuple(names)
