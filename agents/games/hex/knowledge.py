"""Knowledge of Hex: OpenSpiel's version."""

from ludoteca.agents.games.knowledge import Knowledge

HEX = Knowledge(openspiel="ludoteca.agents.external.openspiel_counterparts:hex_counterpart")
