"""Knowledge of Connect Four: an endgame solver."""

from ludoteca.agents.games.knowledge import Knowledge

CONNECT4 = Knowledge(
    endgame_solver="ludoteca.agents.games.endgame.connect4:Connect4EndgameSolver",
    openspiel="ludoteca.agents.external.openspiel_counterparts:connect4_counterpart",
)
