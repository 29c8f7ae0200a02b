"""Values that many tasks need, such as weights: sent to each worker once, not with each task.

`Executor.put` makes a `Shared` value. Within a task that is sent to a worker, it is pickled as its
key; the executor sends the value itself beside the task, unless the worker has it already.
"""

import itertools
import os
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")
CACHE_SIZE = 8  # values that a worker keeps, those that were used last

_numbers = itertools.count()
_sending = threading.local()  # .found: the values that the task being pickled refers to, by key


class Shared(Generic[T]):
    """A value that tasks refer to.

    Attributes:
        key: its name, one of a kind among all processes.
    """

    def __init__(self, value: T, key: str = ""):
        """Wrap a value, which must not change any more."""
        self._value = value
        self.key = key or f"{os.getpid()}-{next(_numbers)}"

    def get(self) -> T:
        """Return the value."""
        return self._value

    def __repr__(self) -> str:
        return f"Shared({type(self._value).__name__})"

    def __reduce__(self) -> tuple[Callable[[str], "Shared[Any]"], tuple[str]]:
        found = getattr(_sending, "found", None)
        if found is None:
            raise TypeError("a Shared value can only be pickled within a task of its executor")
        found[self.key] = self
        return _received, (self.key,)


class ValueCache:
    """The values that a worker has, by key: the last `CACHE_SIZE` that were used.

    The executor and the worker each have one. Both see the same keys in the same order, so the
    executor knows which values the worker has.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._values: OrderedDict[str, Any] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def use(self, keys: list[str], new: Mapping[str, Any]) -> None:
        """Note that a task uses these keys, `new` ones among them; forget what is too old."""
        for key in keys:
            self._values[key] = new[key] if key in new else self._values[key]
            self._values.move_to_end(key)
        while len(self._values) > max(CACHE_SIZE, len(keys)):
            self._values.popitem(last=False)


_cache = ValueCache()  # those of this process, where it is a worker


def pickle_task(task: Any, dumps: Callable[[Any], bytes]) -> tuple[bytes, dict[str, Shared[Any]]]:
    """Return a task as bytes, and the shared values that it refers to, by key.

    What code of this process has registered, games and agents, goes with it.
    """
    from ludoteca.agents.register import registered_by_code

    found: dict[str, Shared[Any]] = {}
    _sending.found = found
    try:
        return pickle.dumps((registered_by_code(), dumps(task))), found
    finally:
        _sending.found = None


def unpickle_task(data: bytes, keys: list[str], new: Mapping[str, bytes]) -> Any:
    """Return a task that this worker has received.

    Args:
        data: the task.
        keys: of the shared values that it refers to.
        new: those of them that this worker may not have, pickled, by key.
    """
    from ludoteca.agents.register import adopt

    registered, task = pickle.loads(data)
    adopt(registered)  # first: values and tasks may hold games that it names
    values = {key: pickle.loads(new[key]) for key in keys if key not in _cache}
    _cache.use(keys, values)
    return pickle.loads(task)


def _received(key: str) -> Shared[Any]:
    return Shared(_cache[key], key)
