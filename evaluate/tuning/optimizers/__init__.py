"""Optimizers of noisy scores over the unit cube: one file each, and one line in the registry."""
