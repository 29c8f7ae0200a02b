"""The executor of a Ray cluster: every worker is a Ray actor, on whichever machine has room.

A worker that dies, by itself or with its machine, is replaced by another one, which waits until the
cluster has room for it. Nobody waits for it: tasks are given to workers that are ready.
"""

import logging
import os
import pickle
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ludoteca import worker as workers
from ludoteca.fingerprint import differences, fingerprint
from ludoteca.local_executor import cores
from ludoteca.shared import Shared
from ludoteca.worker import TaskStatus, read_answer, run_task
from ludoteca.worker_pool import Job, WorkerPool

try:
    import ray
    from ray import cloudpickle
    from ray.exceptions import RayError, RayTaskError
except ModuleNotFoundError as error:
    if error.name != "ray":
        raise
    raise ImportError('the executor ray needs Ray: pip install "ludoteca[ray]"') from None

T = TypeVar("T")
STORE = 512 * 2**20  # bytes of the object store of a cluster that we start: weights, and results
REACH = 10.0  # seconds in which a cluster answers
PATIENCE = 30.0  # seconds without any worker before a warning
log = logging.getLogger("ludoteca")


class RayActor:
    """A worker: an object in a process of its own, on some machine of the cluster."""

    def hello(self, folder: str, path: list[str]) -> dict[str, Any]:
        """Begin; return where this is, and the fingerprint of the installation.

        Args:
            folder: the driver's current one, which becomes that of this process if it is there.
            path: where the driver looks for modules; so does this process, after its own places.
        """
        if os.path.isdir(folder):
            os.chdir(folder)
        sys.path += [place for place in path if place not in sys.path and os.path.exists(place)]
        node = f"{ray.util.get_node_ip_address()} ({socket.gethostname()})"
        workers.place = f"node {node}, process {os.getpid()}"
        return {"place": workers.place, "fingerprint": fingerprint()}

    def run(self, data: bytes, keys: list[str], *values: Any) -> bytes:
        """Run a task; return how it ended, pickled. See `ludoteca.worker.run_task`."""
        return run_task(data, keys, dict(zip(keys, values, strict=True)))


class RayWorker:
    """A worker as the driver sees it.

    Attributes:
        handle: of the actor.
        reply: what is awaited from it, or None.
        place: where it is, once it is known.
    """

    def __init__(self, handle: Any):
        """Begin by asking it for its fingerprint."""
        self.handle = handle
        self.reply: Any = handle.hello.remote(os.getcwd(), [os.path.abspath(p) for p in sys.path])
        self.place = "a worker that had not begun"


class RayExecutor(WorkerPool[RayWorker]):
    """Workers on a Ray cluster."""

    dumps = staticmethod(cloudpickle.dumps)

    def __init__(
        self,
        address: str = "",
        num_workers: int | None = None,
        num_tasks: int | None = None,
        num_cpus: float = 1.0,
        num_gpus: float = 0.0,
    ):
        """Connect to a cluster, or start one on this machine, and start workers there.

        If this process is connected to a cluster already, that one is used and is not closed.

        Args:
            address: as `ray.init` takes it; "" starts a cluster.
            num_workers: how many; by default as many as the cluster has resources for now.
            num_tasks: there are no more workers than this.
            num_cpus: processors that each of them reserves.
            num_gpus: GPUs that each of them reserves, or which share of one.

        Raises:
            ConnectionError: if there is no cluster at this address.
        """
        self._resources = {"num_cpus": num_cpus, "num_gpus": num_gpus}
        self._ours = not ray.is_initialized()
        self._warn_at = time.monotonic() + PATIENCE
        if self._ours:
            _connect(address, num_workers, num_cpus)
        count = num_workers or _room(num_cpus, num_gpus)
        super().__init__(count if num_tasks is None else max(min(count, num_tasks), 1))
        self._type = ray.remote(**self._resources, scheduling_strategy="SPREAD")(RayActor)
        self._refs: WeakKeyDictionary[Shared[Any], Any] = WeakKeyDictionary()
        self.start_missing()

    def put(self, value: T) -> Shared[T]:
        """Return a value that lies in the object store; each machine copies it once."""
        shared = Shared(value)
        self._ref(shared)
        return shared

    def start(self, number: int) -> tuple[RayWorker, bool]:
        """Ask the cluster for a worker, which is ready when it has sent its fingerprint."""
        return RayWorker(self._type.remote()), False

    def stop(self, workers: list[RayWorker]) -> None:
        """End workers, whatever they do."""
        for worker in workers:
            ray.kill(worker.handle)

    def give(self, worker: RayWorker, job: Job) -> bool:
        """Give an idle worker a task."""
        values = [self._ref(shared) for shared in job.shared.values()]
        worker.reply = worker.handle.run.remote(job.data, [*job.shared], *values)
        return True

    def wait(self, timeout: float | None) -> list[tuple[int, TaskStatus, Any]]:
        """Wait until workers answer, are ready, or die; see `WorkerPool.wait`."""
        awaited = {
            slot.worker.reply: number
            for number, slot in enumerate(self.slots)
            if slot.state in ("busy", "starting") and slot.worker is not None
        }
        refs = list(awaited)
        until = None if timeout is None else time.monotonic() + timeout
        while not ray.wait(refs, timeout=_chunk(until))[0]:
            self._warn_of_scarcity()
            if until is not None and time.monotonic() >= until:
                return []
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        return [(awaited[ref], *self._answer(awaited[ref], ref)) for ref in ready]

    def close(self) -> None:
        """End the workers, and the cluster if it was started here."""
        if ray.is_initialized():
            super().close()
        self._refs.clear()
        if self._ours:
            ray.shutdown()

    def _answer(self, number: int, ref: Any) -> tuple[TaskStatus, Any]:
        """Return what a worker answered."""
        slot = self.slots[number]
        worker = slot.worker
        assert worker is not None
        try:
            answer = ray.get(ref)
        except RayError as error:
            # Of the actor, of its node, or a result that was lost: it is asked for again. But our
            # own code must not fail, which it does where this package is missing or is another.
            text = str(error).strip()
            if isinstance(error, RayTaskError) or "failed to import on the worker" in text:
                self.close()
                raise RuntimeError(
                    "a worker cannot run; every node needs the same version of ludoteca as this "
                    f"one: {text.splitlines()[-1]}"
                ) from error
            return "died", f"{worker.place}: {type(error).__name__}: {' '.join(text.split()):.400}"
        if slot.state == "busy":
            return read_answer(answer)
        worker.place = answer["place"]
        found = differences(fingerprint(), answer["fingerprint"])
        if found:
            self.close()
            raise RuntimeError(
                f"{worker.place} has another installation, so that its games might be others: "
                f"{found}; install the same on every node"
            )
        return "ready", None

    def _ref(self, shared: Shared[Any]) -> Any:
        """Return a reference to a shared value, pickled, in the object store."""
        if shared not in self._refs:
            data = np.frombuffer(pickle.dumps(shared.get()), np.uint8)  # read there without a copy
            self._refs[shared] = ray.put(data)
        return self._refs[shared]

    def _warn_of_scarcity(self) -> None:
        """Tell the user every `PATIENCE` seconds that there is not one worker, if so."""
        now = time.monotonic()
        if any(slot.state != "starting" for slot in self.slots):
            self._warn_at = now + PATIENCE
        elif now >= self._warn_at:
            log.warning("no worker is ready; %s", self._scarcity())
            self._warn_at = now + PATIENCE

    def _scarcity(self) -> str:
        """Return what the cluster has and what we ask it for."""
        has = {name: ray.cluster_resources().get(name, 0) for name in ("CPU", "GPU")}
        free = {name: ray.available_resources().get(name, 0) for name in has}
        return (
            f"the cluster has {has['CPU']:g} CPUs and {has['GPU']:g} GPUs, of which "
            f"{free['CPU']:g} and {free['GPU']:g} are free; {self.num_workers} workers ask for "
            f"{self._resources['num_cpus']:g} and {self._resources['num_gpus']:g} each"
        )


def _connect(address: str, num_workers: int | None, num_cpus: float) -> None:
    """Connect this process to a cluster, or start one that ends with it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if not address:
        wanted = cores() if num_workers is None else -(-num_workers * num_cpus // 1)
        options |= {"num_cpus": int(wanted), "object_store_memory": STORE}
        options |= {"include_dashboard": False}
    else:
        _reach(address)
    try:
        with _elsewhere():
            ray.init(address or "local", **options)
    except Exception as error:  # Ray raises that, too
        what = f"no Ray cluster at {address}" if address else "Ray cannot start a cluster here"
        raise ConnectionError(f"{what}: {error}") from error


def _reach(address: str) -> None:
    """Raise ConnectionError at once if nothing answers at an address; Ray waits for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=REACH).close()
        except OSError as error:
            raise ConnectionError(f"no Ray cluster at {address}: {error}") from None


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Leave the current folder for a while.

    Ray lets workers look for modules first where this process is, and a checkout of this package
    has a folder `ludoteca` that is not the whole package.
    """
    before = os.getcwd()
    os.chdir(tempfile.gettempdir())
    try:
        yield
    finally:
        os.chdir(before)


def _room(num_cpus: float, num_gpus: float) -> int:
    """Return how many workers the cluster has resources for, 1 at least."""
    has = ray.cluster_resources()
    counts = [has.get("CPU", 0) // num_cpus] if num_cpus else []
    counts += [has.get("GPU", 0) // num_gpus] if num_gpus else []
    return max(int(min(counts, default=1)), 1)


def _chunk(until: float | None) -> float:
    """Return how long to wait before looking around."""
    return PATIENCE if until is None else min(max(until - time.monotonic(), 0.0), PATIENCE)
