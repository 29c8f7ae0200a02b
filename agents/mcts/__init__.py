"""Monte Carlo tree search."""

from ludoteca.agents.mcts.agent import MCTSAgent
from ludoteca.agents.mcts.decoupled_agent import DecoupledMCTSAgent

__all__ = ["DecoupledMCTSAgent", "MCTSAgent"]
