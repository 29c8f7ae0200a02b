"""A stream of PyTorch's random numbers that can be saved: dropout draws from it in training."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.train.distributed import ranks

Arrays = dict[str, NDArray[Any]]


class TorchStream:
    """The state of PyTorch's global generators between two updates of a network.

    Everything else that draws from these generators in between leaves the updates as they are.
    Where several processes learn, each draws from a stream of its own, which it seeds for each
    update from the common one and its rank: so any number of processes can resume from the state.
    """

    def __init__(self, device: str):
        """Begin without a seed; `device` is where the network learns."""
        self._cuda = torch.device(device) if torch.device(device).type == "cuda" else None
        self._states: list[torch.Tensor] = []

    def seed(self, number: int) -> None:
        """Begin anew with a seed."""
        torch.manual_seed(number)
        self._take()

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Let the block draw the next numbers of the stream."""
        if self._states:
            torch.set_rng_state(self._states[0])
            if self._cuda is not None:
                torch.cuda.set_rng_state(self._states[1], self._cuda)
        together = ranks()
        if together.count > 1:
            seed = int(torch.randint(2**62, ()))
            self._take()
            torch.manual_seed(seed + together.rank)
            yield
            return
        yield
        self._take()

    def _take(self) -> None:
        self._states = [torch.get_rng_state()]
        if self._cuda is not None:
            self._states.append(torch.cuda.get_rng_state(self._cuda))

    def state(self) -> Arrays:
        """Return the state as arrays, for `restore`."""
        return {str(k): state.numpy().copy() for k, state in enumerate(self._states)}

    def restore(self, arrays: Arrays) -> None:
        """Restore a state."""
        states = [arrays[str(k)] for k in range(len(arrays))]
        self._states = [torch.from_numpy(np.array(state)) for state in states]
