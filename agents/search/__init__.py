"""Tree search: policies, statistics and selection shared by all trees, and the agents `mcts`.

Read `policy`, `policies`, `statistics` and `select` first; then `sequential` (block layout),
`simultaneous` (hash table of joint actions) and `network` (leaves evaluated by a network in
batches). PyTorch is not imported.
"""

from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent

__all__ = ["DecoupledMCTSAgent", "MCTSAgent"]
