"""Tree reuse: the subtree of the moves played becomes the new tree."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.sequential.tree import (
    CURRENT,
    NO_PLAYER,
    ROOT,
    SIZE,
    SPARE,
    START,
    UNEXPANDED,
)
from ludoteca.agents.search.sequential.workspace import ThreadWorkspace
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

NOT_FOUND = -1


def keep_subtree(game: Game, trees: ThreadWorkspace, s: Any) -> bool:
    """Make the node of position `s` the root of `trees`, if at most two plies below the old root.

    Two plies are the agent's move and the opponent's reply. After two consecutive moves of the
    opponent the node is not found.

    Returns:
        Whether the node was found. If not, the tree is unchanged.
    """
    nodes, shared = trees.nodes, trees.shared
    if shared[SIZE] == 0:
        return False
    position = game.empty(1)
    position[0] = s
    target = position.view(trees.words.dtype)
    mask = field_mask(game).view(trees.words.dtype)
    node = make_find_node(game)(nodes, trees.states, trees.words, target, mask)
    if node == NOT_FOUND:
        return False
    kept = np.empty_like(nodes[: shared[SIZE]])
    size = make_copy_subtree()(nodes, node, kept)
    nodes[:size] = kept[:size]
    shared[SIZE] = size
    trees.states[START] = s
    trees.clear_table()  # the entries refer to the old tree
    return True


@factory()
def field_mask(game: Game) -> NDArray[np.uint8]:
    """Return the byte mask of a position record: 255 in fields, 0 in padding."""
    bits = np.zeros(game.state.itemsize, np.uint8)
    for dtype, offset in (entry[:2] for entry in (game.state.fields or {}).values()):
        bits[offset : offset + dtype.itemsize] = 0xFF
    return bits


@factory()
def make_find_node(game: Game) -> Any:
    """Return `find(nodes, states, words, target, mask) -> node`, the node of position `target`.

    `target` and `mask` are the words `[W]` of a position and of its `field_mask`; `words` `[3, W]`
    is the memory of `states`.
    """
    step = game.step

    @kernel
    def equal(words: Any, target: Any, mask: Any) -> bool:
        """Return whether two positions have equal fields; padding is ignored."""
        for i in range(len(target)):  # noqa: SIM110 (compiled)
            if (words[i] ^ target[i]) & mask[i]:
                return False
        return True

    @compiled_without_allocation
    def find(nodes: Any, states: Any, words: Any, target: Any, mask: Any) -> int:
        if equal(words[START], target, mask):
            return ROOT
        root = nodes[ROOT]
        for k in range(
            root.first_child,
            root.first_child + root.num_children if root.first_child != UNEXPANDED else 0,
        ):
            states[CURRENT] = states[START]
            step(states[CURRENT], nodes[k].action)
            if equal(words[CURRENT], target, mask):
                return k
        for k in range(
            root.first_child,
            root.first_child + root.num_children if root.first_child != UNEXPANDED else 0,
        ):
            child = nodes[k]
            if child.first_child == UNEXPANDED:
                continue
            states[CURRENT] = states[START]
            step(states[CURRENT], child.action)
            for j in range(child.first_child, child.first_child + child.num_children):
                states[SPARE] = states[CURRENT]
                step(states[SPARE], nodes[j].action)
                if equal(words[SPARE], target, mask):
                    return j
        return NOT_FOUND

    return find


@factory()
def make_copy_subtree() -> Any:
    """Return `copy_subtree(nodes, root, out) -> size`.

    It writes the subtree of node `root` to `out`, in breadth-first order, so siblings stay
    consecutive.
    """

    @compiled_without_allocation
    def copy_subtree(nodes: Any, root: int, out: Any) -> int:
        out[0] = nodes[root]
        # The new root has no parent.
        out[0].mover, out[0].action = NO_PLAYER, -1
        size = 1
        copied = 0
        while copied < size:
            first = out[copied].first_child
            if first != UNEXPANDED:
                count = out[copied].num_children
                if size + count > len(out):  # only shared blocks can make the copy larger
                    out[copied].first_child = UNEXPANDED
                else:
                    for k in range(count):
                        out[size + k] = nodes[first + k]
                    out[copied].first_child = size
                    size += count
            copied += 1
        return size

    return copy_subtree
