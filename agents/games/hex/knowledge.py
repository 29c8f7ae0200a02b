"""Knowledge of Hex: features of moves, OpenSpiel's version."""

from ludoteca.agents.games.hex.move_features import neighbor_patterns
from ludoteca.agents.games.knowledge import Knowledge

HEX = Knowledge(
    move_features=neighbor_patterns,
    openspiel="ludoteca.agents.external.openspiel_counterparts:hex_counterpart",
)
