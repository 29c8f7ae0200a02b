"""Cache of network evaluations, since searches and games revisit positions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled_without_allocation, factory

Run = Callable[[NDArray[np.int8]], NDArray[np.float32]]
NOWHERE = -1
PRIME, U29 = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class EvaluationCache:
    """A network with a cache: it is run only on positions that are not in the cache.

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
        self._used = np.zeros(capacity, np.int64)  # the call that filled the slot; 0: free
        self._calls = 0
        self.lookups = self.misses = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings and the slots in use, which are few in most cases."""
        used = np.flatnonzero(self._used)
        arrays = {key: getattr(self, key)[used] for key in ("_planes", "_outputs", "_used")}
        return vars(self) | arrays | {"_capacity": (used, len(self._used))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        used, capacity = state.pop("_capacity")
        vars(self).update(state)
        for key in ("_planes", "_outputs", "_used"):
            stored = state[key]
            whole = np.zeros((capacity, *stored.shape[1:]), stored.dtype)
            whole[used] = stored
            setattr(self, key, whole)

    def clear(self) -> None:
        """Clear the cache, since the network has changed."""
        self._used[:] = 0

    def __call__(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the outputs, float32 `[K, outputs]`, for planes `[K, *shape]`."""
        self._calls += 1
        flat = np.ascontiguousarray(planes).reshape(len(planes), self._planes.shape[1])
        flat = flat.view(np.uint8)
        places = np.empty(len(planes), np.int64)
        new = np.empty(len(planes), np.bool_)
        make_find()(flat, self._planes, self._used, self._calls, places, new)
        self.lookups += len(planes)
        self.misses += int(new.sum())
        if not new.any():
            return self._outputs[places]
        try:
            computed = self._run(planes[new])
        except BaseException:
            self.clear()  # slots are marked as used without outputs
            raise
        is_stored = places[new] != NOWHERE
        self._outputs[places[new][is_stored]] = computed[is_stored]
        outputs = self._outputs[places]
        outputs[new] = computed
        return outputs


@factory()
def make_find() -> Any:
    """Return the compiled function `find(planes, known, used, call, places, new)`.

    For each row of `planes`, uint8 `[K, n]`, it writes its slot in `known`, uint8
    `[capacity, n]`, to `places`, and to `new` whether it was not there before. A row whose slot
    was filled in the same call, by `used`, gets `NOWHERE`.
    """

    @compiled_without_allocation
    def find(planes: Any, known: Any, used: Any, call: int, places: Any, new: Any) -> None:
        last, width = len(known) - 1, planes.shape[1]
        for k in range(len(planes)):
            mixed = PRIME
            for i in range(width):
                mixed = (mixed ^ np.uint64(planes[k, i])) * PRIME
                mixed ^= mixed >> U29
            place = int(np.int64(mixed & np.uint64(last)))
            same = used[place] != 0
            if same:
                for i in range(width):
                    if known[place, i] != planes[k, i]:
                        same = False
                        break
            places[k], new[k] = place, not same
            if not same:
                if used[place] == call:
                    places[k] = NOWHERE
                else:
                    for i in range(width):
                        known[place, i] = planes[k, i]
            if places[k] != NOWHERE:
                used[place] = call

    return find
