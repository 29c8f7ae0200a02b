"""Knowledge of Hex: its counterpart in OpenSpiel."""

from ludoteca.agents.games.knowledge import Knowledge

HEX = Knowledge(openspiel="ludoteca.agents.external.openspiel_counterparts:hex_counterpart")
