"""Random number stream of PyTorch with a state that can be saved, for dropout in training."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.train.distributed import ranks

Arrays = dict[str, NDArray[Any]]


class TorchStream:
    """State of PyTorch's global generators between two updates of a network.

    Other uses of these generators between two updates do not change the updates. In data-parallel
    training, each process samples from its own stream, which is seeded for each update from a
    stream that is the same in all processes, and from its rank. So any number of processes can
    resume from the state.
    """

    def __init__(self, device: str):
        """Make a stream without a seed; `device` is the PyTorch device of the network."""
        self._cuda = torch.device(device) if torch.device(device).type == "cuda" else None
        self._states: list[torch.Tensor] = []

    def seed(self, seed: int) -> None:
        """Seed the stream."""
        torch.manual_seed(seed)
        self._copy_state()

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Sample from the stream inside a `with` block."""
        if self._states:
            torch.set_rng_state(self._states[0])
            if self._cuda is not None:
                torch.cuda.set_rng_state(self._states[1], self._cuda)
        processes = ranks()
        if processes.count > 1:
            seed = int(torch.randint(2**62, ()))
            self._copy_state()
            torch.manual_seed(seed + processes.rank)
            yield
            return
        yield
        self._copy_state()

    def _copy_state(self) -> None:
        """Copy the state of the global generators."""
        self._states = [torch.get_rng_state()]
        if self._cuda is not None:
            self._states.append(torch.cuda.get_rng_state(self._cuda))

    def state(self) -> Arrays:
        """Return the state as arrays, for `restore`."""
        return {str(k): state.numpy().copy() for k, state in enumerate(self._states)}

    def restore(self, arrays: Arrays) -> None:
        """Restore a state returned by `state`."""
        states = [arrays[str(k)] for k in range(len(arrays))]
        self._states = [torch.from_numpy(np.array(state)) for state in states]
