"""Executor on a Ray cluster: every worker is a Ray actor, on any node with free resources.

A worker that dies, by itself or with its node, is replaced by another one, which starts when the
cluster has resources for it. Meanwhile tasks run on the workers that are ready.
"""

import logging
import math
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
from ludoteca.worker import TaskStatus, run_task, unpickle_result
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
STORE_BYTES = 512 * 2**20  # size of the object store of a cluster that is started here
CONNECT_TIMEOUT = 10.0  # seconds in which a cluster must answer
WARN_AFTER = 30.0  # seconds without any worker before a warning
log = logging.getLogger("ludoteca")


class RayActor:
    """Worker: an object in a process of its own, on some node of the cluster."""

    def set_up(self, folder: str, path: list[str]) -> dict[str, Any]:
        """Set up this process; return its `location` and the `fingerprint` of its installation.

        Args:
            folder: the driver's working directory; this process enters it if it exists here.
            path: the driver's `sys.path`, appended to that of this process.
        """
        if os.path.isdir(folder):
            os.chdir(folder)
        sys.path += [folder for folder in path if folder not in sys.path and os.path.exists(folder)]
        node = f"{ray.util.get_node_ip_address()} ({socket.gethostname()})"
        workers.location = f"node {node}, process {os.getpid()}"
        return {"location": workers.location, "fingerprint": fingerprint()}

    def run(self, data: bytes, keys: list[str], *values: Any) -> bytes:
        """Run a task; return its status and result, pickled, see `ludoteca.worker.run_task`."""
        return run_task(data, keys, dict(zip(keys, values, strict=True)))


class RayWorker:
    """State of a worker in the driver, which is this process.

    Attributes:
        handle: handle of the Ray actor.
        reply: reference to the reply to the last call of the actor.
        location: description of its node and process, once known.
    """

    def __init__(self, handle: Any):
        """Request the fingerprint of the actor's installation."""
        self.handle = handle
        self.reply: Any = handle.set_up.remote(os.getcwd(), [os.path.abspath(p) for p in sys.path])
        self.location = "a worker that had not started"


class RayExecutor(WorkerPool[RayWorker]):
    """Ray actors as workers."""

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

        If this process is connected to a cluster already, that cluster is used, and stays open.

        Args:
            address: address for `ray.init`; "" starts a cluster.
            num_workers: number of workers; by default as many as the cluster has resources for.
            num_tasks: number of tasks, if known; more workers than that are not started.
            num_cpus: processors that each worker reserves.
            num_gpus: GPUs that each worker reserves, or the fraction of one.

        Raises:
            ConnectionError: if there is no cluster at this address.
        """
        self._resources = {"num_cpus": num_cpus, "num_gpus": num_gpus}
        self._owns_cluster = not ray.is_initialized()
        self._warn_at = time.monotonic() + WARN_AFTER
        if self._owns_cluster:
            _connect(address, num_workers, num_cpus)
        count = num_workers or _max_workers(num_cpus, num_gpus)
        super().__init__(count if num_tasks is None else max(min(count, num_tasks), 1))
        self._type = ray.remote(**self._resources, scheduling_strategy="SPREAD")(RayActor)
        self._object_refs: WeakKeyDictionary[Shared[Any], Any] = WeakKeyDictionary()
        self.start_missing()

    def put(self, value: T) -> Shared[T]:
        """Return a reference to a value in the object store; each node copies it once."""
        shared = Shared(value)
        self._object_ref(shared)
        return shared

    def start(self, number: int) -> tuple[RayWorker, bool]:
        """Request a worker from the cluster, see `WorkerPool.start`.

        The second value is False: it can receive tasks only when it has sent its fingerprint.
        """
        return RayWorker(self._type.remote()), False

    def stop(self, workers: list[RayWorker]) -> None:
        """End workers, busy ones included."""
        for worker in workers:
            ray.kill(worker.handle)

    def send(self, worker: RayWorker, job: Job) -> bool:
        """Send a task to an idle worker; return True, see `WorkerPool.send`.

        Ray accepts calls of a dead actor; its death is known from the reply, see `wait`.
        """
        values = [self._object_ref(shared) for shared in job.shared.values()]
        worker.reply = worker.handle.run.remote(job.data, [*job.shared], *values)
        return True

    def wait(self, timeout: float | None) -> list[tuple[int, TaskStatus, Any]]:
        """Wait until workers answer, are ready, or die; see `WorkerPool.wait`."""
        numbers = {
            slot.worker.reply: number
            for number, slot in enumerate(self.slots)
            if slot.state in ("busy", "starting") and slot.worker is not None
        }
        refs = list(numbers)
        deadline = None if timeout is None else time.monotonic() + timeout
        while not ray.wait(refs, timeout=_poll_seconds(deadline))[0]:
            self._warn_if_no_worker()
            if deadline is not None and time.monotonic() >= deadline:
                return []
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        return [(numbers[ref], *self._answer(numbers[ref], ref)) for ref in ready]

    def close(self) -> None:
        """End the workers, and the cluster if it was started here."""
        if ray.is_initialized():
            super().close()
        self._object_refs.clear()
        if self._owns_cluster:
            ray.shutdown()

    def _answer(self, number: int, ref: Any) -> tuple[TaskStatus, Any]:
        """Return the status and result in a worker's reply.

        Args:
            number: number of the worker's slot.
            ref: reference to the reply, which is ready.
        """
        slot = self.slots[number]
        worker = slot.worker
        assert worker is not None
        try:
            answer = ray.get(ref)
        except RayError as error:
            # The actor or its node died, or a result was lost: the task runs again. But an error in
            # this package means that the worker lacks the package, or has another version of it.
            text = str(error).strip()
            if isinstance(error, RayTaskError) or "failed to import on the worker" in text:
                self.close()
                raise RuntimeError(
                    "a worker cannot run; every node needs the same version of ludoteca as this "
                    f"one: {text.splitlines()[-1]}"
                ) from error
            return (
                "died",
                f"{worker.location}: {type(error).__name__}: {' '.join(text.split()):.400}",
            )
        if slot.state == "busy":
            return unpickle_result(answer)
        worker.location = answer["location"]
        difference = differences(fingerprint(), answer["fingerprint"])
        if difference:
            self.close()
            raise RuntimeError(
                f"{worker.location} has another installation, so its games may differ: "
                f"{difference}; install the same versions on every node"
            )
        return "ready", None

    def _object_ref(self, shared: Shared[Any]) -> Any:
        """Return a reference to a shared value, pickled, in the object store."""
        if shared not in self._object_refs:
            # As an array, which workers read without a copy.
            data = np.frombuffer(pickle.dumps(shared.get()), np.uint8)
            self._object_refs[shared] = ray.put(data)
        return self._object_refs[shared]

    def _warn_if_no_worker(self) -> None:
        """Log a warning every `WARN_AFTER` seconds while no worker is ready."""
        now = time.monotonic()
        if any(slot.state != "starting" for slot in self.slots):
            self._warn_at = now + WARN_AFTER
        elif now >= self._warn_at:
            log.warning("no worker is ready; %s", self._resources_text())
            self._warn_at = now + WARN_AFTER

    def _resources_text(self) -> str:
        """Return the resources of the cluster, and those that the workers request, as text."""
        total = {name: ray.cluster_resources().get(name, 0) for name in ("CPU", "GPU")}
        free = {name: ray.available_resources().get(name, 0) for name in total}
        return (
            f"the cluster has {total['CPU']:g} CPUs and {total['GPU']:g} GPUs, of which "
            f"{free['CPU']:g} and {free['GPU']:g} are free; {self.num_workers} workers request "
            f"{self._resources['num_cpus']:g} and {self._resources['num_gpus']:g} each"
        )


def _connect(address: str, num_workers: int | None, num_cpus: float) -> None:
    """Connect this process to a cluster, or start one that ends with it.

    The arguments are those of `RayExecutor`; a cluster that is started has processors for all
    workers.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if not address:
        num_cores = cores() if num_workers is None else math.ceil(num_workers * num_cpus)
        options |= {"num_cpus": int(num_cores), "object_store_memory": STORE_BYTES}
        options |= {"include_dashboard": False}
    else:
        _check_reachable(address)
    try:
        with _outside_working_directory():
            ray.init(address or "local", **options)
    except Exception as error:  # Ray raises plain exceptions, too
        problem = f"no Ray cluster at {address}" if address else "Ray cannot start a cluster here"
        raise ConnectionError(f"{problem}: {error}") from error


def _check_reachable(address: str) -> None:
    """Raise ConnectionError if nothing answers at an address; Ray would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT).close()
        except OSError as error:
            raise ConnectionError(f"no Ray cluster at {address}: {error}") from None


@contextmanager
def _outside_working_directory() -> Iterator[None]:
    """Leave the working directory within the block.

    Ray workers import modules first from the driver's working directory, and a checkout of this
    package has a folder `ludoteca` that is not the whole package.
    """
    previous = os.getcwd()
    os.chdir(tempfile.gettempdir())
    try:
        yield
    finally:
        os.chdir(previous)


def _max_workers(num_cpus: float, num_gpus: float) -> int:
    """Return the number of workers that the cluster has resources for, at least 1."""
    resources = ray.cluster_resources()
    counts = [resources.get("CPU", 0) // num_cpus] if num_cpus else []
    counts += [resources.get("GPU", 0) // num_gpus] if num_gpus else []
    return max(int(min(counts, default=1)), 1)


def _poll_seconds(deadline: float | None) -> float:
    """Return the seconds to wait before the next check; `deadline` is by `time.monotonic`."""
    return (
        WARN_AFTER if deadline is None else min(max(deadline - time.monotonic(), 0.0), WARN_AFTER)
    )
