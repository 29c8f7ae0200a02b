"""Tree search: the `mcts` agents, and the policies, statistics and selection of all trees.

Read `policy`, `policies`, `statistics` and `select` first; then `sequential` (the children of a
node are one block of an array), `simultaneous` (a hash table maps joint actions to children) and
`network` (leaves evaluated by a network in batches). PyTorch is not imported.
"""

from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent

__all__ = ["DecoupledMCTSAgent", "MCTSAgent"]
