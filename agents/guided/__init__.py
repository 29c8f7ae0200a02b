"""Network-guided tree search in batches: PUCT, Gumbel AlphaZero, UCT, and decoupled PUCT.

Imports `envs`, `agents.mcts` (node records, reports) and no PyTorch: networks are callables.
"""
