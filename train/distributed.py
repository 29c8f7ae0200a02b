"""Data-parallel learning in the processes that torchrun has started (PyTorch DDP).

Every process, or rank, holds the same network, optimizer and replay buffer, and draws the same
batches. It computes the gradient of its part of each batch; DDP averages the gradients. Rank 0
alone plays, evaluates and writes the run folder; the others receive its results.
"""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.train.joint_norm import JointBatchNorm2d, join_norms
from ludoteca.train.monitor import Monitor, Stopped

T = TypeVar("T")
TIMEOUT = timedelta(days=7)  # other ranks wait while rank 0 plays and evaluates


class PeerLostError(RuntimeError):
    """Error of a lost connection to another rank."""


@dataclass(frozen=True)
class Part:
    """Part of a batch that one rank learns from.

    Attributes:
        rows: rows of the batch.
        weight: weight of the part's mean in the mean over the batch.
    """

    rows: slice
    weight: float


class Ranks:
    """Processes of a run, and their communication. This class is for a run in a single process.

    Attributes:
        rank: rank of this process, from 0.
        count: number of processes (world size).
        received: last exception of rank 0 that `broadcast` raised in this process.
    """

    rank = 0
    count = 1
    received: Exception | None = None

    @property
    def is_main_process(self) -> bool:
        """Whether this process is rank 0, which plays, evaluates and writes."""
        return self.rank == 0

    def broadcast(self, make: Callable[[], T], playing: bool = False) -> T:
        """Return what `make` returns in rank 0, or raise what it raises there; other ranks wait.

        Args:
            make: called in rank 0 only.
            playing: whether the caller is the self-play thread, not the learner thread.
        """
        return make()

    def check(self, monitor: Monitor) -> None:
        """Check whether the run continues in every rank.

        Raises:
            Stopped: if the run is to stop in any rank.
        """
        monitor.check()

    def step(self, monitor: Monitor, done: int) -> None:
        """Report `done` updates, and check whether the run continues in every rank.

        Raises:
            Stopped: if the run is to stop in any rank.
        """
        monitor.step("learning", done)

    def part(self, size: int) -> Part:
        """Return this rank's part of a batch.

        Parts differ by at most one row. With fewer rows than ranks, each rank gets all rows.
        """
        return Part(slice(0, size), 1.0)

    def means(self, values: Sequence[Tensor], part: Part) -> list[float]:
        """Return batch means of scalars that are means over each rank's part.

        Args:
            values: scalar tensors of this rank.
            part: this rank's part of the batch.
        """
        return [value.item() for value in values]

    def all_gather(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """Return an array over a batch of `size` rows, given the rows of this rank's part."""
        return array

    def wrap(self, network: nn.Module, device: torch.device) -> nn.Module:
        """Return the module for forward passes: the network, with gradients averaged over ranks."""
        return network

    def scale_loss(self, loss: Tensor, part: Part) -> Tensor:
        """Return a loss whose gradient, averaged over ranks, is that of the mean over the batch.

        Args:
            loss: mean loss over this rank's part.
            part: this rank's part of the batch.
        """
        return loss


class TorchrunRanks(Ranks):
    """Several processes, joined by `torch.distributed`.

    Communication other than gradients uses gloo, in a group for the learner thread (group 0) and
    one for the self-play thread (group 1), as both communicate at the same time.
    """

    def __init__(self) -> None:
        """Join the process group that torchrun's environment variables describe."""
        cuda = torch.cuda.is_available()
        if cuda:
            self._local_rank = int(os.environ["LOCAL_RANK"])
            # The default CUDA device.
            torch.cuda.set_device(self._local_rank % torch.cuda.device_count())
        dist.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo")
        self.rank, self.count = dist.get_rank(), dist.get_world_size()
        self._groups = [dist.new_group(backend="gloo", timeout=TIMEOUT) for _ in range(2)]

    def broadcast(self, make: Callable[[], T], playing: bool = False) -> T:
        """See `Ranks.broadcast`."""
        outcome: list[Any] = [None]
        if self.is_main_process:
            try:
                outcome = [(True, make())]
            except Exception as error:
                outcome = [(False, _picklable(error))]
        dist.broadcast_object_list(outcome, src=0, group=self._groups[playing])
        succeeded, result = outcome[0]
        if not succeeded:
            self.received = None if self.is_main_process else result
            raise result
        return result  # type: ignore[no-any-return]

    def check(self, monitor: Monitor) -> None:
        """See `Ranks.check`."""
        try:
            monitor.check()
            stopping = torch.zeros(1)
        except Stopped:
            stopping = torch.ones(1)
        dist.all_reduce(stopping, dist.ReduceOp.MAX, group=self._groups[0])
        if stopping.item() > 0:
            # The self-play thread of this rank must stop, too.
            monitor.stop(monitor.stop_reason or "another process")
            raise Stopped

    def step(self, monitor: Monitor, done: int) -> None:
        """See `Ranks.step`."""
        work = monitor.phases["learning"]
        work.done, work.steps = done, work.steps + 1
        self.check(monitor)

    def part(self, size: int) -> Part:
        """See `Ranks.part`."""
        # Batch normalization must not count rows that several ranks have as several rows.
        JointBatchNorm2d.copies = self.count if size < self.count else 1
        if size < self.count:
            return Part(slice(0, size), 1 / self.count)
        first, end = (size * rank // self.count for rank in (self.rank, self.rank + 1))
        return Part(slice(first, end), (end - first) / size)

    def means(self, values: Sequence[Tensor], part: Part) -> list[float]:
        """See `Ranks.means`."""
        weighted = torch.stack([value.detach().double() * part.weight for value in values]).cpu()
        dist.all_reduce(weighted, group=self._groups[0])
        return weighted.tolist()

    def all_gather(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """See `Ranks.all_gather`."""
        if size < self.count:
            return array
        parts: list[Any] = [None] * self.count
        dist.all_gather_object(parts, array, group=self._groups[0])
        return np.concatenate(parts)

    def wrap(self, network: nn.Module, device: torch.device) -> nn.Module:
        """See `Ranks.wrap`.

        Raises:
            ValueError: if two ranks would share a GPU.
        """
        on_gpu = device.type == "cuda"
        if on_gpu and device.index not in (None, torch.cuda.current_device()):
            raise ValueError(
                f"expected device=cuda, the GPU of each process's local rank, got device={device}"
            )
        if on_gpu and self._local_rank >= torch.cuda.device_count():
            raise ValueError(
                f"expected at most {torch.cuda.device_count()} processes on this machine, one for "
                f"each GPU, got local rank {self._local_rank}: lower --nproc-per-node"
            )
        join_norms(network)
        # DDP gives all ranks the weights of rank 0.
        return nn.parallel.DistributedDataParallel(network, [device] if on_gpu else None)

    def scale_loss(self, loss: Tensor, part: Part) -> Tensor:
        """See `Ranks.scale_loss`."""
        return loss * (part.weight * self.count)


SINGLE_PROCESS = Ranks()
_joined: Ranks = SINGLE_PROCESS


def ranks() -> Ranks:
    """Return the processes of this run."""
    return _joined


def require_process_group() -> None:
    """Check that this process has joined the process group, if torchrun started several.

    Raises:
        ValueError: if it has not, as each would train on its own.
    """
    if _started_by_torchrun() and _joined is SINGLE_PROCESS:
        raise ValueError(
            f"torchrun has started {os.environ['WORLD_SIZE']} processes, but this program trains "
            "in one: run `torchrun ... -m ludoteca.train.ALGORITHM`, or train within "
            "`with ludoteca.train.distributed.joined():`"
        )


def _started_by_torchrun() -> bool:
    """Return whether torchrun has started this process and others."""
    return dist.is_torchelastic_launched() and int(os.environ["WORLD_SIZE"]) > 1


@contextmanager
def joined() -> Iterator[Ranks]:
    """Join the process group of torchrun, if there is one, within the block.

    Raises:
        PeerLostError: if another process dies.
    """
    global _joined
    if not _started_by_torchrun():
        yield SINGLE_PROCESS
        return
    _joined = TorchrunRanks()
    try:
        yield _joined
        dist.destroy_process_group()
    except RuntimeError as error:
        if not _is_connection_error(error):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise PeerLostError(
            f"process {_joined.rank} of {_joined.count} lost the connection to another one, which "
            "was killed or has failed, so all processes end. The same command resumes from the "
            f"last checkpoint, if there is one ({reason})"
        ) from error
    finally:
        _joined = SINGLE_PROCESS


def _is_connection_error(error: RuntimeError) -> bool:
    """Return whether an error is about the connection to another process."""
    message = str(error).lower()  # gloo has no separate error class
    return isinstance(error, dist.DistError) or "gloo" in message or "connection" in message


def _picklable(error: Exception) -> Exception:
    """Return the error, or one with the same text if pickle cannot send it to other ranks."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
