"""Batched inference server of all self-play actors, as a Ray actor.

Actors send positions and wait. Requests that arrive while a batch is evaluated form the next batch,
so that batches grow with the number of actors.
"""

import asyncio
import hashlib
import uuid
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from ludoteca.agents.networks.runner import Precision, Runner

# Networks kept, the most recently used ones: actors may still play with older weights.
MAX_NETWORKS = 8
MAX_REQUESTS = 1000  # maximum number of requests that wait at the same time


class InferenceServer:
    """Inference server of several networks; its methods run in one event loop."""

    def __init__(self, scale: float, device: str, precision: Precision):
        """Make a server without networks; see `Runner` for the arguments."""
        self._settings = (scale, device, precision)
        self._runners: OrderedDict[str, Runner] = OrderedDict()
        # Requests: key of the network, planes, and the future of the outputs.
        self._waiting: list[tuple[str, NDArray[np.int8], asyncio.Future[NDArray[np.float32]]]] = []
        self._serving: asyncio.Task[None] | None = None
        self._counts = {"requests": 0, "batches": 0, "positions": 0}

    async def load(self, key: str, network: nn.Module) -> None:
        """Add a network; drop the least recently used one beyond `MAX_NETWORKS`.

        Args:
            key: hash of its weights.
            network: the network.
        """
        if key not in self._runners:
            self._runners[key] = Runner(network, *self._settings)
            while len(self._runners) > MAX_NETWORKS:
                self._runners.popitem(last=False)

    async def evaluate(self, key: str, planes: NDArray[np.int8]) -> NDArray[np.float32] | None:
        """Return a network's outputs `[K, ...]` for planes `[K, planes, rows, columns]`.

        Return None if there is no network with this key.
        """
        if key not in self._runners:
            return None
        self._runners.move_to_end(key)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[NDArray[np.float32]] = loop.create_future()
        self._waiting.append((key, planes, future))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        return await future

    async def counts(self) -> dict[str, int]:
        """Return the numbers of requests, batches and positions so far."""
        return dict(self._counts)

    async def _serve(self) -> None:
        """Evaluate all waiting requests, batch by batch."""
        while self._waiting:
            await asyncio.sleep(0)  # lets requests that have arrived join the batch
            key = self._waiting[0][0]
            batch = [request for request in self._waiting if request[0] == key]
            self._waiting = [request for request in self._waiting if request[0] != key]
            try:
                runner = self._runners.get(key)
                if runner is None:
                    raise KeyError(f"no network {key}: more than {MAX_NETWORKS} are in use")
                outputs = runner(np.concatenate([planes for _, planes, _ in batch]))
            except Exception as error:
                for _, _, future in batch:
                    future.set_exception(error)
                continue
            ends = np.cumsum([len(planes) for _, planes, _ in batch])
            for (_, _, future), values in zip(batch, np.split(outputs, ends[:-1]), strict=True):
                if not future.cancelled():
                    future.set_result(values)
            self._counts["requests"] += len(batch)
            self._counts["batches"] += 1
            self._counts["positions"] += int(ends[-1])


class RemoteRunner:
    """Network that runs on an inference server, with the interface of `Runner`."""

    def __init__(self, server: str):
        """Connect to the server with this name in the cluster."""
        import ray

        self._get, self._server = ray.get, ray.get_actor(server)
        self._network: nn.Module | None = None
        self._key = ""

    def load(self, network: nn.Module) -> None:
        """Use the weights of a network, which must not change until the next call of `load`."""
        digest = hashlib.sha256()
        for name, tensor in network.state_dict().items():
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        self._key, self._network = digest.hexdigest(), network

    def __call__(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the outputs, float32 `[K, ...]`, for planes `[K, planes, rows, columns]`."""
        while True:
            outputs = self._get(self._server.evaluate.remote(self._key, planes))
            if outputs is not None:
                return np.array(outputs)
            # The server has no such network, or was restarted.
            self._get(self._server.load.remote(self._key, self._network))


def start_inference(scale: float, device: str, precision: Precision) -> tuple[str, Any]:
    """Start an inference server on the cluster that this process is connected to.

    The server reserves a GPU if `device` is one, and is restarted if it or its machine dies.

    Returns:
        Name and handle of the server, which ends when the handle is deleted.
    """
    import ray

    name = f"ludoteca-inference-{uuid.uuid4().hex}"
    options: dict[str, Any] = {
        "name": name,
        "num_cpus": 0,
        "num_gpus": int(device.startswith("cuda")),
        "max_concurrency": MAX_REQUESTS,
        "max_restarts": -1,  # no limit
        "max_task_retries": -1,
    }
    handle = ray.remote(**options)(InferenceServer).remote(scale, device, precision)
    return name, handle
