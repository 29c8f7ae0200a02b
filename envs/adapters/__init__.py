"""Adapters: one module for each external reinforcement learning library, named after it.

An adapter wraps the native vectorized games as the library's own environment class. Users import
it (`from ludoteca.envs.adapters.sb3 import SB3VecEnv`); another module of this package does so only
if it is for the same library. So nothing depends on a library that is not installed; without its
library, the import fails with one line that names the extra to install. An adapter imports its
library and `ludoteca.envs`, and nothing else of this package: agents are opponents
(`ludoteca.envs.engine.opponents`), and `ludoteca.agents` has the agents for trained models.
"""
