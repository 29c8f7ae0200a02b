"""Knowledge of Tic-Tac-Toe: its counterpart in OpenSpiel."""

from ludoteca.agents.games.knowledge import Knowledge

TICTACTOE = Knowledge(
    openspiel="ludoteca.agents.external.openspiel_counterparts:tictactoe_counterpart"
)
