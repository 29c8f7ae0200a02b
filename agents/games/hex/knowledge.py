"""Knowledge of Hex: features of moves, evaluation by shortest paths, OpenSpiel's version."""

from ludoteca.agents.games.hex.move_features import neighbor_patterns
from ludoteca.agents.games.hex.shortest_path import path_difference
from ludoteca.agents.games.knowledge import Knowledge

HEX = Knowledge(
    evaluations={"shortest_path": path_difference},
    move_features=neighbor_patterns,
    openspiel="ludoteca.agents.external.openspiel_counterparts:hex_counterpart",
)
