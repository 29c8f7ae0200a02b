"""The report of a search in which all players move at once."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.mcts.report import Candidate, SearchReport
from ludoteca.agents.mcts.tree import ROOT
from ludoteca.envs.game import Game


def make_decoupled_report(
    game: Game,
    nodes: NDArray[np.void],
    arms: NDArray[np.void],
    seat: int,
    action: int,
    seconds: float,
    title: str = "",
) -> SearchReport:
    """Read the report of a search off its tree.

    Args:
        game: the game.
        nodes: the tree, dtype `decoupled_tree.NODE`.
        arms: what the players tried, dtype `decoupled_tree.ARM`. Shape `[nodes, players, actions]`.
        seat: the player that searched.
        action: the chosen move.
        seconds: how long the search took.
        title: the kind of search and the game.
    """
    players = tuple(_candidates(game, arms[ROOT, p]) for p in range(game.num_players))
    return SearchReport(
        action=action,
        name=game.action_names[action],
        simulations=int(nodes[ROOT]["visits"]),
        seconds=seconds,
        nodes=len(nodes),
        candidates=players[seat],
        principal_variation=tuple(_principal_variation(game, nodes, arms)),
        proven="",
        players=players,
        title=title,
    )


def _candidates(game: Game, arms: NDArray[np.void]) -> tuple[Candidate, ...]:
    """Return the moves that one player tried in one node, the most visited first."""
    tried = [
        Candidate(
            int(action),
            game.action_names[action],
            int(arms["visits"][action]),
            float(arms["value"][action] / arms["visits"][action]),
            "",
        )
        for action in np.flatnonzero(arms["visits"])
    ]
    return tuple(sorted(tried, key=lambda one: (-one.visits, one.action)))


def _principal_variation(game: Game, nodes: NDArray[np.void], arms: NDArray[np.void]) -> list[str]:
    """Name the joint actions of the most visited children, `-` for players who are out."""
    names, node = [], ROOT
    while len(children := np.flatnonzero(nodes["parent"][1:] == node)) > 0:
        child = 1 + children[nodes["visits"][1 + children].argmax()]
        joint, parts = int(nodes["joint"][child]), []
        for p in reversed(range(game.num_players)):
            joint, action = divmod(joint, game.num_actions)
            moved = arms["visits"][node, p].any()
            parts.append(game.action_names[action] if moved else "-")
        names.append("/".join(reversed(parts)))
        node = child
    return names
