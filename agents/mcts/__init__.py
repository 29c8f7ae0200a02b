"""Monte Carlo tree search."""

from ludoteca.agents.mcts.agent import MCTSAgent
from ludoteca.agents.mcts.joint_agent import JointMCTSAgent

__all__ = ["JointMCTSAgent", "MCTSAgent"]
