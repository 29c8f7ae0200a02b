"""Cache of network evaluations, for positions that searches and games revisit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from ludoteca.envs.jit import compiled_without_allocation, factory

Run = Callable[[NDArray[np.int8]], NDArray[np.float32]]
NO_SLOT = -1  # slot of a row that is not stored
# Multiplier (2**64 divided by the golden ratio) and shift of the hash function.
MULTIPLIER, U29 = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class EvaluationCache:
    """Network with a cache of its outputs: it is run only on positions that are not cached.

    Attributes:
        lookups: number of positions looked up.
        misses: number of positions that the network was run on.
    """

    def __init__(self, run: Run, shape: tuple[int, ...], outputs: int, capacity: int = 1 << 15):
        """Allocate the cache.

        Args:
            run: the network; planes `[K, *shape]` to float32 `[K, outputs]`.
            shape: shape of one observation.
            outputs: number of outputs per position.
            capacity: maximum number of cached positions, a power of two.
        """
        if capacity < 1 or capacity & (capacity - 1):
            raise ValueError(f"capacity must be a power of two, got {capacity}")
        self._run = run
        self._planes = np.zeros((capacity, int(np.prod(shape))), np.uint8)
        self._outputs = np.zeros((capacity, outputs), np.float32)
        # By slot: number of the last call that used it; 0: free.
        self._used = np.zeros(capacity, np.int64)
        self._calls = 0
        self.lookups = self.misses = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings and only the used slots, which are usually few."""
        used = np.flatnonzero(self._used)
        arrays = {key: getattr(self, key)[used] for key in ("_planes", "_outputs", "_used")}
        return vars(self) | arrays | {"_capacity": (used, len(self._used))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        used, capacity = state.pop("_capacity")
        vars(self).update(state)
        for key in ("_planes", "_outputs", "_used"):
            stored = state[key]
            array = np.zeros((capacity, *stored.shape[1:]), stored.dtype)
            array[used] = stored
            setattr(self, key, array)

    def clear(self) -> None:
        """Clear the cache, since the network has changed."""
        self._used[:] = 0

    def __call__(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the outputs, float32 `[K, outputs]`, for planes `[K, *shape]`."""
        self._calls += 1
        flat = np.ascontiguousarray(planes).reshape(len(planes), self._planes.shape[1])
        flat = flat.view(np.uint8)
        slots = np.empty(len(planes), np.int64)
        is_new = np.empty(len(planes), np.bool_)
        find = make_find()
        misses = int(find(flat, self._planes, self._used, self._calls, slots, is_new))
        self.lookups += len(planes)
        self.misses += misses
        if misses == 0:
            return self._outputs[slots]
        try:
            computed = self._run(planes if misses == len(planes) else planes[is_new])
        except BaseException:
            self.clear()  # new slots are marked as used but have no outputs
            raise
        new_slots = slots[is_new]
        is_stored = new_slots != NO_SLOT
        self._outputs[new_slots[is_stored]] = computed[is_stored]
        if misses == len(planes):
            return computed
        outputs = self._outputs[slots]
        outputs[is_new] = computed
        return outputs


class CachedRunner(EvaluationCache):
    """Evaluation cache of a network, whose weights can be replaced.

    The network is `run`, a `ludoteca.agents.networks.runner.Runner`.
    """

    def load(self, network: nn.Module) -> None:
        """Copy the weights of a network, and clear the cache."""
        runner: Any = self._run
        runner.load(network)
        self.clear()


@factory()
def make_find() -> Any:
    """Return the compiled function `find(planes, known, used, call, slots, is_new)`.

    It looks up each row of `planes`, uint8 `[K, n]`, in the cache `known`, uint8 `[capacity, n]`,
    and writes its slot to `slots`, int64 `[K]`, and to `is_new`, bool `[K]`, whether it was not
    cached. New rows overwrite their slot, unless another row of the same call has it: then the slot
    is `NO_SLOT`. `used`, int64 `[capacity]`, has the number of the last `call` that used each slot.
    It returns the number of rows that were not cached.
    """

    @compiled_without_allocation
    def find(planes: Any, known: Any, used: Any, call: int, slots: Any, is_new: Any) -> int:
        mask, width, misses = len(known) - 1, planes.shape[1], 0
        for k in range(len(planes)):
            key = MULTIPLIER
            for i in range(width):
                key = (key ^ np.uint64(planes[k, i])) * MULTIPLIER
                key ^= key >> U29
            slot = int(np.int64(key & np.uint64(mask)))
            is_known = used[slot] != 0
            if is_known:
                for i in range(width):
                    if known[slot, i] != planes[k, i]:
                        is_known = False
                        break
            slots[k], is_new[k] = slot, not is_known
            if not is_known:
                misses += 1
                if used[slot] == call:
                    slots[k] = NO_SLOT
                else:
                    for i in range(width):
                        known[slot, i] = planes[k, i]
            if slots[k] != NO_SLOT:
                used[slot] = call
        return misses

    return find
