"""Tree reuse: the subtree of the moves played becomes the new tree."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.sequential.tree import (
    NO_PLAYER,
    PLAYED,
    ROOT,
    SIZE,
    SPARE,
    START,
    UNEXPANDED,
)
from ludoteca.agents.search.sequential.workspace import Workspace
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

NOT_FOUND = -1


def keep_subtree(game: Game, trees: Workspace, s: Any) -> bool:
    """Make the node of position `s` the root, if it is at most two plies below the old root.

    These are the own move and the reply; after two consecutive moves of the opponent a new tree is
    needed.

    Returns:
        Whether the node was found. If not, the tree is unchanged.
    """
    nodes, shared = trees.nodes, trees.shared
    if shared[SIZE] == 0:
        return False
    wanted = game.empty(1)
    wanted[0] = s
    target = wanted.view(trees.words.dtype)
    used = field_bits(game).view(trees.words.dtype)
    node = make_find(game)(nodes, trees.states, trees.words, target, used)
    if node == NOT_FOUND:
        return False
    kept = np.empty_like(nodes[: shared[SIZE]])
    size = make_copy_subtree()(nodes, node, kept)
    nodes[:size] = kept[:size]
    shared[SIZE] = size
    trees.states[START] = s
    trees.table["first"] = UNEXPANDED  # its entries point into the old tree
    return True


@factory()
def field_bits(game: Game) -> NDArray[np.uint8]:
    """Return a byte mask of a record's fields, 0 for padding bytes."""
    bits = np.zeros(game.state.itemsize, np.uint8)
    for dtype, offset in (entry[:2] for entry in (game.state.fields or {}).values()):
        bits[offset : offset + dtype.itemsize] = 0xFF
    return bits


@factory()
def make_find(game: Game) -> Any:
    """Return `find(nodes, states, words, target, used) -> node`, that of the target."""
    step = game.step

    @kernel
    def same(words: Any, target: Any, used: Any) -> bool:
        for i in range(len(target)):  # noqa: SIM110 (compiled)
            if (words[i] ^ target[i]) & used[i]:
                return False
        return True

    @compiled_without_allocation
    def find(nodes: Any, states: Any, words: Any, target: Any, used: Any) -> int:
        if same(words[START], target, used):
            return ROOT
        root = nodes[ROOT]
        for k in range(root.first, root.first + root.count if root.first != UNEXPANDED else 0):
            states[PLAYED] = states[START]
            step(states[PLAYED], nodes[k].action)
            if same(words[PLAYED], target, used):
                return k
        for k in range(root.first, root.first + root.count if root.first != UNEXPANDED else 0):
            child = nodes[k]
            if child.first == UNEXPANDED:
                continue
            states[PLAYED] = states[START]
            step(states[PLAYED], child.action)
            for j in range(child.first, child.first + child.count):
                states[SPARE] = states[PLAYED]
                step(states[SPARE], nodes[j].action)
                if same(words[SPARE], target, used):
                    return j
        return NOT_FOUND

    return find


@factory()
def make_copy_subtree() -> Any:
    """Return `copy_subtree(nodes, root, out) -> size`, which keeps siblings consecutive."""

    @compiled_without_allocation
    def copy_subtree(nodes: Any, root: int, out: Any) -> int:
        out[0] = nodes[root]
        # The new root has no parent.
        out[0].mover, out[0].action = NO_PLAYER, -1
        size = 1
        done = 0
        while done < size:
            first = out[done].first
            if first != UNEXPANDED:
                count = out[done].count
                if size + count > len(out):  # only shared blocks can make the copy larger
                    out[done].first = UNEXPANDED
                else:
                    for k in range(count):
                        out[size + k] = nodes[first + k]
                    out[done].first = size
                    size += count
            done += 1
        return size

    return copy_subtree
