"""Batched game engine: compiled steps of many games at once, opponents, threads and playouts.

Every environment API is a wrapper of `GameBatch`. Imports games and compilation (`ludoteca.envs`),
never an environment API.
"""
