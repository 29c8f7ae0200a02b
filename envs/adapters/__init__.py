"""Adapters: one module for each external reinforcement learning library, named after it.

An adapter gives a library the native vectorized games in the form that it expects. Only its user
imports it (`from ludoteca.envs.adapters.sb3 import SB3VecEnv`); another module of this package does
so only if it is for the same library. So nothing depends on a library that is not installed;
without its library, the import ends in one line that says what to install. An adapter imports its
library and `ludoteca.envs`, and nothing else of this package: agents come in as opponents
(`ludoteca.envs.opponents`), and trained models go out as agents in `ludoteca.agents`.
"""
