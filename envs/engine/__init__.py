"""Batched game engine: compiled steps of many games at once, opponents, threads and playouts.

Every environment API wraps `GameBatch`. This folder imports games and compilation
(`ludoteca.envs`), never an environment API.
"""
