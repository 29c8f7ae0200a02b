"""Positions for tests of tree search, and invariants of the trees."""

from typing import Any

import numpy as np

from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.sequential.tree import ROOT, UNEXPANDED
from ludoteca.envs.game import Game


def play(game: Game, *names: str) -> Any:
    """Return the position after moves, which are given by their names."""
    s = game.new()
    for name in names:
        game.step(s, game.action_names.index(name))
    return s


def agent_tree(agent: MCTSAgent) -> np.ndarray:
    """Return the nodes in use of an agent's tree."""
    tree = agent._workspace.trees[0]
    return tree.nodes[: tree.size]


def check_tree(nodes: np.ndarray, exact: bool = True) -> None:
    """Assert the invariants of a search tree.

    Args:
        nodes: the nodes.
        exact: whether the visits of a node are those of its children plus its own first visit. They
            are not if nodes share children, or if proven nodes are no longer searched.
    """
    for i, node in enumerate(nodes):
        assert 0 <= node["value"] <= node["visits"] + 1e-9
        if node["first_child"] == UNEXPANDED:
            continue
        children = nodes[node["first_child"] : node["first_child"] + node["num_children"]]
        visits = children["visits"]
        num_visited = children[0]["num_visited"]
        assert (visits[:num_visited] > 0).all(), "the visited children come first"
        assert (visits[num_visited:] == 0).all()
        assert visits.sum() == children[0]["block_visits"]
        assert len(set(children["action"].tolist())) == len(children)
        if exact:
            assert node["visits"] == visits.sum() + (i != ROOT)
