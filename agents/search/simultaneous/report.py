"""Report of a decoupled search."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.report import Candidate, SearchReport
from ludoteca.agents.search.simultaneous.tree import ROOT
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
    """Return the report of a search from its tree.

    Args:
        game: the game.
        nodes: the tree, dtype `tree.NODE`.
        arms: statistics of the players' actions, dtype
            `ludoteca.agents.search.statistics.arm_dtype`. Shape `[nodes, players, actions]`.
        seat: the player to act.
        action: the chosen action.
        seconds: duration of the search.
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
    """Return the visited actions of a player's `arms` in a node, `[A]`, the most visited first."""
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
    return tuple(sorted(tried, key=lambda candidate: (-candidate.visits, candidate.action)))


def _principal_variation(game: Game, nodes: NDArray[np.void], arms: NDArray[np.void]) -> list[str]:
    """Return the names of the most visited joint actions, `-` for inactive players."""
    names, node = [], ROOT
    while len(children := np.flatnonzero(nodes["parent"][1:] == node)) > 0:
        child = 1 + children[nodes["visits"][1 + children].argmax()]
        joint, parts = int(nodes["joint"][child]), []
        for p in reversed(range(game.num_players)):  # the last player's action is the lowest digit
            joint, action = divmod(joint, game.num_actions)
            moved = arms["visits"][node, p].any()
            parts.append(game.action_names[action] if moved else "-")
        names.append("/".join(reversed(parts)))
        node = child
    return names
