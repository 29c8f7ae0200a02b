"""Shared values of tasks, such as weights, which are sent to each worker once.

`Executor.put` makes a `Shared` value. Within a task that is sent to a worker, it is pickled as its
key; the executor sends the value with the task, unless the worker has it already.
"""

import itertools
import os
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")
CACHE_SIZE = 8  # number of shared values that a worker keeps

_ids = itertools.count()
# Attribute `shared_values`: the shared values of the task that this thread is pickling, by key.
_pickling = threading.local()


class Shared(Generic[T]):
    """Reference to a value that tasks share.

    Attributes:
        key: identifier, unique among all processes.
    """

    def __init__(self, value: T, key: str = ""):
        """Make a reference to a value, which must not change afterwards; "" makes a new key."""
        self._value = value
        self.key = key or f"{os.getpid()}-{next(_ids)}"

    def get(self) -> T:
        """Return the value."""
        return self._value

    def __repr__(self) -> str:
        return f"Shared({type(self._value).__name__})"

    def __reduce__(self) -> tuple[Callable[[str], "Shared[Any]"], tuple[str]]:
        shared_values = getattr(_pickling, "shared_values", None)
        if shared_values is None:
            raise TypeError("a Shared value can only be pickled within a task of its executor")
        shared_values[self.key] = self
        return _from_cache, (self.key,)


class ValueCache:
    """Least-recently-used (LRU) cache of shared values in a worker, of size `CACHE_SIZE`, by key.

    The executor and the worker each have one. Both see the same keys in the same order, so the
    executor knows which values the worker has.
    """

    def __init__(self) -> None:
        """Make an empty cache."""
        self._values: OrderedDict[str, Any] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def use(self, keys: list[str], new: Mapping[str, Any]) -> None:
        """Mark keys as most recently used, add the values of `new` keys, and evict the oldest."""
        for key in keys:
            self._values[key] = new[key] if key in new else self._values[key]
            self._values.move_to_end(key)
        while len(self._values) > max(CACHE_SIZE, len(keys)):
            self._values.popitem(last=False)


_cache = ValueCache()  # of this process, if it is a worker


def pickle_task(task: Any, dumps: Callable[[Any], bytes]) -> tuple[bytes, dict[str, Shared[Any]]]:
    """Return a pickled task, and the shared values that it refers to, by key.

    Registrations of games and agents by code of this process are pickled with the task.

    Args:
        task: the task.
        dumps: function that pickles it, such as `pickle.dumps`.
    """
    from ludoteca.agents.register import code_registrations

    shared_values: dict[str, Shared[Any]] = {}
    _pickling.shared_values = shared_values
    try:
        return pickle.dumps((code_registrations(), dumps(task))), shared_values
    finally:
        _pickling.shared_values = None


def unpickle_task(data: bytes, keys: list[str], new: Mapping[str, bytes]) -> Any:
    """Return the task in bytes that this worker has received.

    Args:
        data: the pickled task.
        keys: keys of the shared values that it refers to.
        new: the pickled values that the worker may lack, by key.
    """
    from ludoteca.agents.register import restore_registrations

    registered, task = pickle.loads(data)
    restore_registrations(registered)  # first, as values and tasks may need registered games
    values = {key: pickle.loads(new[key]) for key in keys if key not in _cache}
    _cache.use(keys, values)
    return pickle.loads(task)


def _from_cache(key: str) -> Shared[Any]:
    """Return the reference with this key in a worker, which has received the value."""
    return Shared(_cache[key], key)
