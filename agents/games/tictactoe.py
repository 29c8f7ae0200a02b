"""Knowledge of Tic-Tac-Toe: OpenSpiel's version."""

from ludoteca.agents.games.knowledge import Knowledge

TICTACTOE = Knowledge(
    openspiel="ludoteca.agents.external.openspiel_counterparts:tictactoe_counterpart"
)
