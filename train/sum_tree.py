"""Prioritized replay: transitions that surprised most are learned from more often.

Schaul, Quan, Antonoglou and Silver, "Prioritized experience replay" (2016), section 3.3, the
proportional variant with importance-sampling weights.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.params import integer, real


class SumTree:
    """A priority for each place of a replay buffer, in a sum tree.

    A node holds the sum of its two children, 2 k and 2 k + 1; node 1 is the root, and the leaves
    are the places. Drawing and changing one takes log2(capacity) steps.

    Attributes:
        alpha: priorities are (error + `epsilon`) ** alpha; 0: all alike.
        tree: the nodes. Shape `[2 * leaves]`.
    """

    def __init__(self, capacity: int, alpha: float = 0.6, epsilon: float = 1e-3):
        """Make priorities of zero, which are never drawn.

        Args:
            capacity: number of places.
            alpha: how much priorities matter.
            epsilon: added to errors, so that no transition is forgotten altogether.
        """
        self.capacity = integer("capacity", capacity, 1, 10**9)
        self.alpha = real("alpha", alpha, 0, 10)
        self.epsilon = real("epsilon", epsilon, 0, 1e6)
        self.leaves = 1 << (capacity - 1).bit_length()
        self.tree = np.zeros(2 * self.leaves)
        self.largest = 1.0  # error seen so far; new transitions get it

    @property
    def total(self) -> float:
        """Sum of all priorities."""
        return float(self.tree[1])

    def add(self, places: NDArray[np.int64]) -> None:
        """Give new transitions the largest priority so far: each is to be seen soon."""
        self._set(places, np.full(len(places), self.largest))

    def update(self, places: NDArray[np.int64], errors: NDArray[np.floating[Any]]) -> None:
        """Set priorities by the absolute errors of the last estimates."""
        self.largest = max(self.largest, float(errors.max(initial=0)))
        self._set(places, errors)

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw places by priority, one from each of `count` equal shares of the sum.

        Raises:
            ValueError: if there is nothing to draw.
        """
        if self.total <= 0:
            raise ValueError("nothing to draw: no transition has been added")
        wanted = (np.arange(count) + rng.random(count)) * (self.total / count)
        places = np.zeros(count, np.int64)
        make_find()(self.tree, wanted, places)
        return places

    def weights(self, places: NDArray[np.int64], size: int, beta: float) -> NDArray[np.float32]:
        """Return importance weights `(size * P(place)) ** -beta`, the largest scaled to 1.

        Args:
            places: what was drawn.
            size: how many transitions there are.
            beta: how much of the bias is taken back; 1: all.
        """
        share = self.tree[self.leaves + places] / self.total
        weights = (size * share) ** -beta
        scaled: NDArray[np.float32] = (weights / weights.max()).astype(np.float32)
        return scaled

    def _set(self, places: NDArray[np.int64], errors: NDArray[np.floating[Any]]) -> None:
        priorities = (np.asarray(errors, np.float64) + self.epsilon) ** self.alpha
        make_set()(self.tree, places, priorities)

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on from here, as arrays."""
        return {"tree": self.tree, "largest": np.array(self.largest)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from where `state` was taken.

        Raises:
            ValueError: if it is of another size.
        """
        if state["tree"].shape != self.tree.shape:
            raise ValueError(f"expected {self.tree.shape} nodes, got {state['tree'].shape}")
        self.tree[:] = state["tree"]
        self.largest = float(state["largest"])


@factory()
def make_set() -> Any:
    """Return `set_all(tree, places, priorities)`."""

    @compiled
    def set_all(tree: Any, places: Any, priorities: Any) -> None:
        leaves = len(tree) // 2
        for k in range(len(places)):
            node = leaves + places[k]
            tree[node] = priorities[k]
            node //= 2
            while node >= 1:  # sums, not differences: rounding errors do not pile up
                tree[node] = tree[2 * node] + tree[2 * node + 1]
                node //= 2

    return set_all


@factory()
def make_find() -> Any:
    """Return `find_all(tree, wanted, places)`."""

    @compiled
    def find_all(tree: Any, wanted: Any, places: Any) -> None:
        for k in range(len(wanted)):
            places[k] = find(tree, wanted[k])

    return find_all


@kernel
def find(tree: Any, wanted: float) -> int:
    """Return the place where the sum of priorities from the left first exceeds `wanted`."""
    leaves = len(tree) // 2
    node = 1
    while node < leaves:
        left = 2 * node
        # Rounding may leave `wanted` just above the whole sum: never go where there is nothing.
        if wanted < tree[left] or tree[left + 1] <= 0:
            node = left
        else:
            wanted -= tree[left]
            node = left + 1
    return node - leaves
