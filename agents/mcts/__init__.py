"""Monte Carlo tree search."""

from ludoteca.agents.mcts.agent import MCTSAgent

__all__ = ["MCTSAgent"]
