"""Optimizers of noisy scores over the unit cube: one module each, listed in `registry`."""
