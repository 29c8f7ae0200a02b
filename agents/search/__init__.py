"""Tree search: policies, statistics and selection shared by all trees, and the agents `mcts`.

Read `policy`, `policies`, `statistics` and `select` first; then `sequential` (block layout),
`simultaneous` (joint table) and `network` (leaves evaluated by a network in batches). Imports
`envs` and the playouts, evaluations and games of `agents`; no PyTorch.
"""

from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent

__all__ = ["DecoupledMCTSAgent", "MCTSAgent"]
