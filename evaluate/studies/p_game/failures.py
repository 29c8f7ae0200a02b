"""Failure rates of a search in P-games: `python -m ludoteca.evaluate.studies.p_game.failures`.

A P-game is a tree in which every move has a random value, positive for moves of MAX, negative for
those of MIN. The sign of their sum on the path to the leaf decides: MAX wins if it is positive, MIN
if it is negative, and 0 is a draw. MAX moves at the root.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.envs.clock import clock
from ludoteca.envs.params import check_integer
from ludoteca.evaluate.studies.p_game.solve import root_values
from ludoteca.evaluate.studies.p_game.tree import new_trees, p_game
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

CHUNK = 64  # trees that are solved at a time


def measure(
    out: Path,
    trees: tuple[str, ...],
    simulations: tuple[int, ...],
    policy: str = "ucb1",
    depth_decay: float = 1.0,
    count: int = 200,
    seed: int = 1,
) -> dict[str, Any]:
    """Search random trees, and write in which of them the search fails to find a best move.

    Args:
        out: the JSON file to write.
        trees: branching factor and depth of the trees, such as 8x8.
        simulations: numbers of simulations of the searches.
        policy: selection policy, such as ucb_tuned or ucb1:alpha=0.5.
        depth_decay: factor of the exploration term for each ply: with d it is d^p in nodes p plies
            below the root.
        count: number of trees of each size, in each of which some moves at the root are better than
            others.
        seed: seed of the trees and of the searches.
    """
    check_integer("count", count, 1, 10**6)
    cells, start, game = list[dict[str, Any]](), clock(), p_game()
    exploration = f":depth_decay={depth_decay}"
    for size in trees:
        branching, depth = parse_size(size)
        states, values, drawn = draw_trees(branching, depth, count, seed)
        is_best = values == values.max(axis=1, keepdims=True)
        for number in simulations:
            agent = MCTSAgent(game, policy=policy, simulations=number, exploration=exploration)
            rngs = np.random.default_rng([seed, branching, depth, number]).integers(
                0, 2**64, (count, 1), np.uint64
            )
            # Index -1: the agent keeps no trees between moves, for which it would need indices.
            actions = agent.act(states, np.zeros(count, np.int64), rngs, np.full(count, -1))
            failed = ~is_best[np.arange(count), actions]
            cells.append(
                {
                    "branching": branching,
                    "depth": depth,
                    "simulations": number,
                    "failures": int(failed.sum()),
                    "failed": np.packbits(failed).tobytes().hex(),  # one bit per tree
                    "count": count,
                    "drawn": drawn,  # number of sampled trees, see `draw_trees`
                    # Failure rate of a random move.
                    "random": float(1 - is_best.sum(axis=1).mean() / branching),
                }
            )
    content = {"policy": policy, "cells": cells, "seconds": clock() - start}
    content |= run_provenance()
    write_atomically(out, json.dumps(content) + "\n")
    return content


def parse_size(text: str) -> tuple[int, int]:
    """Return branching factor and depth of a text such as `"8x8"`.

    Raises:
        ValueError: if the text is invalid.
    """
    branching, _, depth = text.partition("x")
    if not (branching.isdigit() and depth.isdigit()):
        raise ValueError(f"trees must be BRANCHINGxDEPTH, such as 8x8, got {text!r}")
    return int(branching), int(depth)


def draw_trees(
    branching: int, depth: int, count: int, seed: int
) -> tuple[NDArray[np.void], NDArray[np.int8], int]:
    """Sample random trees in which the moves at the root do not all have the same value.

    Returns:
        The starting positions, `[count]`, the values of the moves at the root, int8
        `[count, branching]`, and the number of trees that were sampled until there were `count`.
    """
    rng = np.random.default_rng([seed, branching, depth])
    chosen, values, drawn, found = list[Any](), list[Any](), 0, 0
    while found < count:
        states = new_trees(branching, depth, rng.integers(0, 2**64, CHUNK, np.uint64))
        results = root_values(states)
        usable = np.flatnonzero(results.min(axis=1) < results.max(axis=1))[: count - found]
        drawn += CHUNK if found + len(usable) < count else int(usable[-1]) + 1
        found += len(usable)
        chosen.append(states[usable])
        values.append(results[usable])
    return np.concatenate(chosen), np.concatenate(values), drawn


if __name__ == "__main__":
    tyro.cli(measure)
