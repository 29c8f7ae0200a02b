"""Knowledge of Breakthrough: OpenSpiel's version."""

from ludoteca.agents.games.knowledge import Knowledge

BREAKTHROUGH = Knowledge(
    openspiel="ludoteca.agents.external.openspiel_counterparts:breakthrough_counterpart"
)
