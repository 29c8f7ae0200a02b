"""Self-play actors in worker processes, which share the games of a rollout.

Weights are sent to the workers as one `Shared` value per version (in Ray's object store, on a
cluster), and rollouts are returned in parts, one per worker. With `max_staleness` 0, a rollout is
played by the latest network, on any executor. Above 0, actors play later rollouts while the network
learns.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.runner import Runner
from ludoteca.envs.registry import make_game
from ludoteca.executor import LOCAL, Executor, make_executor, parse_executor
from ludoteca.shared import Shared
from ludoteca.train.algorithm import Algorithm
from ludoteca.train.algorithms import find_algorithm
from ludoteca.train.async_rollouts import AsyncRollouts
from ludoteca.train.distributed import ranks
from ludoteca.train.inference import RemoteRunner, start_inference
from ludoteca.train.monitor import Monitor
from ludoteca.train.run_directory import Arrays
from ludoteca.train.settings import RLConfig

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Weights = dict[str, NDArray[Any]]
AnyRunner = Runner | RemoteRunner
MAX_TIMED_PARTS = 1000  # number of last parts whose times are recorded


class ActorWorker(Protocol[R_co]):
    """Self-play actor in a worker; keeps networks, games and search trees between parts."""

    def play(self, weights: Sequence[Weights], rng: np.random.Generator, games: int) -> R_co:
        """Play a part of a rollout.

        Args:
            weights: weights of the network, then of past networks in the opponent pool.
            rng: random stream of the part.
            games: number of games of the run before the rollout.
        """


# Makes an actor from the settings of a part and the name of an inference server, or "".
MakeActor = Callable[[Any, str], ActorWorker[R]]


class MultiprocessActor(Generic[R]):
    """Self-play in the workers of an executor; loads weights and collects rollouts.

    Rollouts depend on the number of workers, but not on where they run or how fast they are, unless
    `max_staleness` is above 0. With one worker, they are those that this process would play.

    Attributes:
        executor: runs the workers; started on first use.
        part_seconds: wall and CPU seconds of the last parts in their workers.
    """

    def __init__(
        self,
        config: RLConfig,
        make_actor: MakeActor[R],
        scale: float,
        monitor: Monitor | None = None,
        executor: Executor | None = None,
    ):
        """Make the actor; no worker is started yet.

        Args:
            config: settings of the run; its `precision` is not auto.
            make_actor: makes an actor in a worker; a module-level class or function.
            scale: scale factor of the input planes, for an inference server.
            monitor: receives the progress, and may stop the run.
            executor: executor to use instead of the one of the settings.
        """
        self._config, self._make_actor, self._scale = config, make_actor, scale
        self._monitor = monitor or Monitor()
        self._given_executor = self._executor = executor
        self._shared: tuple[Shared[Weights], ...] = ()
        # Number of times weights were loaded, minus 1; 0 again when playing ahead begins.
        self._version = -1
        self._ahead: AsyncRollouts[R] | None = None
        self._server: tuple[str, Any] = ("", None)  # name and Ray handle of the inference server
        # Staleness of the parts since the last summary, in loads of weights.
        self._stale: list[int] = []
        self.part_seconds: deque[tuple[float, float]] = deque(maxlen=MAX_TIMED_PARTS)

    @property
    def executor(self) -> Executor:
        """The executor, with its workers."""
        if self._executor is None:
            self._executor = make_executor(self._config.executor, self._config.num_actors)
        return self._executor

    @property
    def server(self) -> Any:
        """The handle of the inference server, or None."""
        return self._server[1]

    def put(self, weights: Mapping[str, Tensor]) -> Shared[Weights]:
        """Return weights as a shared value, which each worker receives once."""
        return self.executor.put(
            {name: tensor.cpu().numpy().copy() for name, tensor in weights.items()}
        )

    def load(self, network: nn.Module, *past: Shared[Weights]) -> None:
        """Set the weights of the network, and of past networks, for rollouts from now on."""
        if not ranks().is_main_process:
            return  # rank 0 plays
        self._version += 1
        self._shared = (self.put(network.state_dict()), *past)
        if self._ahead is not None:
            self._ahead.load(self._version, self._shared)

    def play(self, rng: np.random.Generator, games: int = 0) -> R:
        """Collect a rollout, or return one that was played while the network learned.

        Args:
            rng: random stream of the rollout.
            games: number of games of the run before the rollout.

        Raises:
            Stopped: if the run is to stop; unfinished parts are dropped.
        """
        if self._config.max_staleness > 0:
            return concatenate_rollouts(self._play_ahead(rng, games))
        workers, monitor = self._config.num_actors, self._monitor
        if workers == 1:  # the same random numbers as for self-play in this process
            rngs = [rng]
        else:
            seeds = rng.integers(2**63, size=workers)
            rngs = [np.random.default_rng(int(seed)) for seed in seeds]
        task = self._task()
        tasks = (partial(task, self._shared, part_rng, games) for part_rng in rngs)
        parts: list[R] = []
        monitor.begin("playing", workers, "part")
        for part, rng_state, seconds in self.executor.run(tasks, monitor.check):
            parts.append(part)
            self.part_seconds.append(seconds)
            monitor.step("playing", len(parts))
            if workers == 1:
                rng.bit_generator.state = rng_state
        self._stale += [0] * len(parts)
        return concatenate_rollouts(parts)

    def _play_ahead(self, rng: np.random.Generator, games: int) -> list[R]:
        """Return the parts of a rollout that was played while the network learned; see `play`."""
        config, monitor = self._config, self._monitor
        if self._ahead is None:
            rollouts_left = -(-(config.games - games) // config.games_per_iteration)
            self._ahead = AsyncRollouts(
                self.executor, self._task(), config, games, rollouts_left, int(rng.integers(2**63))
            )
            self._version = 0
            self._ahead.load(0, self._shared)
        monitor.begin("playing", config.num_actors, "part")
        try:
            parts = self._ahead.take(lambda done: monitor.step("playing", done))
        except BaseException:
            self._drop()
            raise
        self._stale += [self._version - version for version, _, _ in parts]
        self.part_seconds.extend(seconds for _, _, seconds in parts)
        return [part for _, part, _ in parts]

    def _task(self) -> Callable[..., Any]:
        """Return `play_part` with all but weights, generator and number of games bound."""
        config = self._config
        device = config.device
        if config.executor != LOCAL and not parse_executor(config.executor)[1].get("num_gpus"):
            device = "cpu"  # Ray hides GPUs from workers that reserve none
        if config.inference == "central" and not self._server[0]:
            _ = self.executor  # connects to the cluster
            self._server = start_inference(self._scale, config.device, config.precision)
        part_config = replace(
            config,
            games_per_iteration=config.games_per_iteration // config.num_actors,
            device=device,
        )
        return partial(play_part, self._make_actor, part_config, self._server[0])

    def summary(self) -> dict[str, float | int | None]:
        """Return mean and maximum staleness since the last summary, if `max_staleness` is not 0."""
        stale, self._stale = self._stale, []
        if self._config.max_staleness == 0:
            return {}
        return {
            "staleness": float(np.mean(stale)) if stale else None,
            "staleness_max": max(stale, default=None),
        }

    reload = load  # they differ in wrappers: `Gatekeeper.load` plays a match, its `reload` does not

    def metrics(self) -> dict[str, float | int | None]:
        """Return metrics of the actor: none."""
        return {}

    def state(self) -> Arrays:
        """Return the state, for `restore`: none."""
        return {}

    def restore(self, arrays: Arrays, network: nn.Module) -> None:
        """Resume from `state`."""

    def close(self) -> None:
        """Stop the workers; they start again on demand."""
        self._drop()
        self._server = ("", None)
        if self._executor is not None and self._given_executor is None:
            self._executor.close()
            self._executor = None

    def _drop(self) -> None:
        """Drop the rollouts that are being played ahead."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None


class LocalActor:
    """Self-play of an algorithm in this process, with a copy of its network."""

    def __init__(self, algorithm: Algorithm[Any], server: str = ""):
        """Make the actor.

        Args:
            algorithm: algorithm that collects the rollouts.
            server: name of the inference server, or "" for inference in this process.
        """
        self.algorithm = algorithm
        scale, config = algorithm.encoder.scale, algorithm.config
        self._inference = algorithm.make_inference(
            make_runner(algorithm.network, scale, config, server)
        )

    def load(self, network: nn.Module) -> None:
        """Load the weights of a network."""
        self._inference.load(network)

    reload = load  # they differ in wrappers: `Gatekeeper.load` plays a match, its `reload` does not

    def play(self, rng: np.random.Generator, games: int = 0) -> Any:
        """Collect a rollout after `games` games of the run, with the random stream `rng`.

        Raises:
            Stopped: if the run is to stop.
        """
        return self.algorithm.collect(self._inference, rng, games)

    def metrics(self) -> dict[str, float | int | None]:
        """Return metrics of the actor: none."""
        return {}

    def state(self) -> Arrays:
        """Return the state, for `restore`: none."""
        return {}

    def restore(self, arrays: Arrays, network: nn.Module) -> None:
        """Resume from `state`."""


class AlgorithmWorker:
    """Self-play of an algorithm in a worker, for a part of each rollout."""

    def __init__(self, config: RLConfig, server: str):
        """Make the algorithm that the settings name; `server` as for `LocalActor`."""
        game = make_game(config.game)
        algorithm = find_algorithm(config.algorithm)
        self._network = algorithm.make_network(config.network, game)
        self._algorithm = algorithm(config, game, self._network)
        self._actor = LocalActor(self._algorithm, server)

    def play(self, weights: Sequence[Weights], rng: np.random.Generator, games: int) -> Any:
        """Play a part of a rollout, see `ActorWorker.play`."""
        past = [as_state_dict(past_weights) for past_weights in weights[1:]]
        self._algorithm.load_past(past)
        set_weights(self._network, weights[0])
        self._actor.load(self._network)
        return self._actor.play(rng, games)


def make_self_play_actor(algorithm: Algorithm[Any]) -> tuple[Any, MultiprocessActor[Any] | None]:
    """Return the self-play actor of an algorithm, and the `MultiprocessActor` in it, or None.

    The first is an actor, or a wrapper of one, such as `Gatekeeper`.
    """
    config, scale = algorithm.config, algorithm.encoder.scale
    if not config.has_actors:
        return algorithm.wrap_actor(LocalActor(algorithm)), None
    actor = MultiprocessActor[Any](config, AlgorithmWorker, scale, algorithm.monitor)
    return algorithm.wrap_actor(actor), actor


def play_part(
    make_actor: MakeActor[R],
    config: Any,
    server: str,
    shared: Sequence[Shared[Weights]],
    rng: np.random.Generator,
    games: int,
) -> tuple[R, Any, tuple[float, float]]:
    """Play a part of a rollout in a worker.

    Args:
        make_actor: makes the actor, on the first call in this worker.
        config: settings of the run, with `games_per_iteration` of the part.
        server: name of the inference server, or "" for inference in the worker.
        shared: weights of the network, then of past networks in the opponent pool.
        rng: random stream of the part.
        games: number of games of the run before the rollout.

    Returns:
        The part, the state of the generator after it, and its wall and CPU seconds.
    """
    actor = _cached_actor(make_actor, config, server)
    wall_start, cpu_start = time.perf_counter(), time.thread_time()
    rollout = actor.play([value.get() for value in shared], rng, games)
    seconds = (time.perf_counter() - wall_start, time.thread_time() - cpu_start)
    return rollout, rng.bit_generator.state, seconds


@cache
def _cached_actor(make_actor: MakeActor[R], config: Any, server: str) -> ActorWorker[R]:
    """Return the actor of this worker; several workers use one thread each."""
    torch.set_num_threads(config.threads if config.num_actors == 1 else 1)
    return make_actor(config, server)


def make_runner(network: nn.Module, scale: float, config: RLConfig, server: str) -> AnyRunner:
    """Return a runner of the self-play network, here or on an inference server.

    Args:
        network: the network.
        scale: scale factor of the input planes.
        config: settings, for the device and the precision.
        server: name of the inference server, or "" for inference here.
    """
    if server:
        return RemoteRunner(server)
    return Runner(network, scale, config.device, config.precision)


def set_weights(network: nn.Module, weights: Weights) -> None:
    """Load received weights into a network."""
    network.load_state_dict(as_state_dict(weights))


def as_state_dict(weights: Weights) -> dict[str, Tensor]:
    """Return received weights as tensors."""
    # Copies: PyTorch warns of read-only arrays, such as received ones.
    return {name: torch.tensor(array) for name, array in weights.items()}


def concatenate_rollouts(parts: Sequence[R]) -> R:
    """Concatenate the parts of a rollout, which are dataclasses of arrays.

    A field `env_indices` is offset by the number of games in earlier parts.
    """
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, list[Any]] = {
        field.name: [getattr(part, field.name) for part in parts]
        for field in fields(parts[0])  # type: ignore[arg-type]
    }
    if "env_indices" in columns:
        sizes = [len(lengths) for lengths in columns["lengths"]]
        offsets = np.cumsum([0, *sizes[:-1]])
        columns["env_indices"] = [
            (indices + offset).astype(indices.dtype)
            for indices, offset in zip(columns["env_indices"], offsets, strict=True)
        ]
    return type(parts[0])(**{name: np.concatenate(arrays) for name, arrays in columns.items()})
