"""Network-guided tree search in batches: PUCT, Gumbel AlphaZero, UCT, and decoupled PUCT.

PyTorch is not imported: networks are callables.
"""
