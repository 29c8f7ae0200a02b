"""Optimizers of noisy scores over the unit cube, one module each; `registry` lists them."""
