"""Sum tree of prioritized replay, which samples transitions by their TD error.

Schaul, Quan, Antonoglou and Silver, "Prioritized experience replay" (2016), section 3.3, the
proportional variant with importance-sampling weights.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.params import check_integer, check_real


class SumTree:
    """Sum tree with one priority per index of a replay buffer.

    A node holds the sum of its two children, 2 k and 2 k + 1; node 1 is the root, and the leaves
    are the indices. Sampling or updating one takes log2(capacity) steps.

    Attributes:
        capacity: number of indices.
        alpha: priorities are (error + `epsilon`) ** alpha; 0: uniform.
        epsilon: added to errors, so that every transition can be sampled.
        leaves: number of leaves: the capacity, rounded up to a power of two.
        tree: the nodes. Shape `[2 * leaves]`.
        largest: largest error so far, assigned to new transitions.
    """

    def __init__(self, capacity: int, alpha: float = 0.6, epsilon: float = 1e-3):
        """Make a tree with priorities of zero, which are never sampled.

        Args:
            capacity: number of indices.
            alpha: exponent of the priorities.
            epsilon: added to errors, so that every transition can be sampled.
        """
        self.capacity = check_integer("capacity", capacity, 1, 10**9)
        self.alpha = check_real("alpha", alpha, 0, 10)
        self.epsilon = check_real("epsilon", epsilon, 0, 1e6)
        self.leaves = 1 << (capacity - 1).bit_length()
        self.tree = np.zeros(2 * self.leaves)
        self.largest = 1.0

    @property
    def total(self) -> float:
        """Sum of all priorities."""
        return float(self.tree[1])

    def add(self, indices: NDArray[np.int64]) -> None:
        """Give new transitions the largest priority so far, so that each is sampled soon."""
        self._set(indices, np.full(len(indices), self.largest))

    def update(self, indices: NDArray[np.int64], errors: NDArray[np.floating[Any]]) -> None:
        """Set priorities from absolute TD errors."""
        self.largest = max(self.largest, float(errors.max(initial=0)))
        self._set(indices, errors)

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sample indices by priority: stratified, one from each of `count` equal parts of the sum.

        Raises:
            ValueError: if there is nothing to sample.
        """
        if self.total <= 0:
            raise ValueError("nothing to sample: no transition has been added")
        targets = (np.arange(count) + rng.random(count)) * (self.total / count)
        indices = np.zeros(count, np.int64)
        make_find()(self.tree, targets, indices)
        return indices

    def weights(self, indices: NDArray[np.int64], size: int, beta: float) -> NDArray[np.float32]:
        """Return importance-sampling weights `(size * P(index)) ** -beta`, with maximum 1.

        Args:
            indices: sampled indices.
            size: number of transitions in the buffer.
            beta: exponent; 1: full correction of the sampling bias.
        """
        probs = self.tree[self.leaves + indices] / self.total
        weights = (size * probs) ** -beta
        scaled: NDArray[np.float32] = (weights / weights.max()).astype(np.float32)
        return scaled

    def _set(self, indices: NDArray[np.int64], errors: NDArray[np.floating[Any]]) -> None:
        """Set the priorities of indices `[N]` from absolute errors `[N]`."""
        priorities = (np.asarray(errors, np.float64) + self.epsilon) ** self.alpha
        make_set()(self.tree, indices, priorities)

    def state(self) -> dict[str, Any]:
        """Return the state as arrays, for `restore`."""
        return {"tree": self.tree, "largest": np.array(self.largest)}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from `state`.

        Raises:
            ValueError: if the state has another size.
        """
        if state["tree"].shape != self.tree.shape:
            raise ValueError(f"expected {self.tree.shape} nodes, got {state['tree'].shape}")
        self.tree[:] = state["tree"]
        self.largest = float(state["largest"])


@factory()
def make_set() -> Any:
    """Return `set_all(tree, indices, priorities)`: sets N priorities, and the sums above them."""

    @compiled
    def set_all(tree: Any, indices: Any, priorities: Any) -> None:
        leaves = len(tree) // 2
        for k in range(len(indices)):
            node = leaves + indices[k]
            tree[node] = priorities[k]
            node //= 2
            # Sums instead of differences, so that rounding errors do not accumulate.
            while node >= 1:
                tree[node] = tree[2 * node] + tree[2 * node + 1]
                node //= 2

    return set_all


@factory()
def make_find() -> Any:
    """Return `find_all(tree, targets, indices)`: finds N indices by cumulative sum, see `find`."""

    @compiled
    def find_all(tree: Any, targets: Any, indices: Any) -> None:
        for k in range(len(targets)):
            indices[k] = find(tree, targets[k])

    return find_all


@kernel
def find(tree: Any, target: float) -> int:
    """Return the first index at which the cumulative sum of priorities exceeds `target`."""
    leaves = len(tree) // 2
    node = 1
    while node < leaves:
        left = 2 * node
        # By rounding, `target` may exceed the total slightly: never descend to an empty subtree.
        if target < tree[left] or tree[left + 1] <= 0:
            node = left
        else:
            target -= tree[left]
            node = left + 1
    return node - leaves
