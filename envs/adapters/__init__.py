"""Adapters: one module for each external reinforcement learning library, named after it.

An adapter wraps a compiled batch of games as an environment class of the library. Users import
it (`from ludoteca.envs.adapters.sb3 import SB3VecEnv`); modules of this package import it only if
they are for the same library. So the package works without these libraries; if the library of an
adapter is missing, the import fails with one line that names the extra to install, as in
`pip install "ludoteca[rllib]"`. An adapter imports its library and `ludoteca.envs`, and no other
part of this package. Agents that wrap trained models of these libraries are in
`ludoteca.agents.external`.
"""
