"""Network-guided tree search in batches: PUCT, Gumbel AlphaZero, UCT, and decoupled PUCT.

Imports `envs`, the rest of `agents.search` and no PyTorch: networks are callables.
"""
