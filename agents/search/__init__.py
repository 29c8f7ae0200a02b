"""Monte Carlo tree search."""

from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent

__all__ = ["DecoupledMCTSAgent", "MCTSAgent"]
