"""Measurement of the costs and the throughput of self-play actors and their learner."""

import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from ludoteca.executor import LOCAL, Executor, make_executor
from ludoteca.local_executor import LocalExecutor
from ludoteca.shared import Shared
from ludoteca.train.algorithms import find_algorithm
from ludoteca.train.loop import RLTraining
from ludoteca.train.minibatches import ReplayMinibatches
from ludoteca.train.replay import RingBuffer
from ludoteca.train.settings import RLConfig
from ludoteca.train.throughput.simulation import Cluster, Costs, simulate

MESSAGE_REPEATS = 20  # times that each message is sent


def bench_config(algorithm: str, game: str, games_per_part: int) -> RLConfig:
    """Return the settings of the measured run, whose number of games is practically unlimited.

    Args:
        algorithm: a name in `ludoteca.train.algorithms.ALGORITHMS`.
        game: spec string.
        games_per_part: games of each actor in each rollout.
    """
    config: RLConfig = find_algorithm(algorithm).config_class()
    changes = {"game": game, "games": 10**6, "games_per_iteration": games_per_part, "threads": 1}
    if hasattr(config, "learning_starts"):
        changes["learning_starts"] = 0
    return replace(config, **changes)  # type: ignore[arg-type]


def measure_costs(
    algorithm: str, config: RLConfig, executor: str, parts: int
) -> tuple[Costs, dict[str, Any]]:
    """Measure the costs of playing, learning and messages on this machine, one after the other.

    Actors and learner are measured in CPU seconds, which other programs do not affect. The costs of
    messages to one worker and back are medians of wall-clock seconds.

    Args:
        algorithm: a name in `ludoteca.train.algorithms.ALGORITHMS`.
        config: settings of the run.
        executor: spec string, see `make_executor`.
        parts: number of rollout parts to play and learn from.

    Returns:
        The costs, and details of the messages and the replay buffer, JSON-serializable.
    """
    with _training(replace(config, num_actors=1, executor="local")) as training:
        # Seconds of each part: playing, adding it to the replay buffer, and updates.
        playing, keeping, learning = list[float](), list[float](), list[float]()
        games = positions = updates = 0
        for k in range(parts + 1):  # the first one compiles
            training.actor.load(training.network)
            rollout, seconds = _timed(lambda games=games: training.play(games))  # type: ignore[misc]
            _, add_seconds = _timed(lambda rollout=rollout: training.add_rollout(rollout))  # type: ignore[misc]
            num_updates, start = 0, time.process_time()
            while training.num_pending_updates > 0:
                training.update()
                num_updates += 1
            if k > 0:
                playing.append(seconds)
                keeping.append(add_seconds)
                learning.append(time.process_time() - start)
                positions += _positions(rollout)
                updates += num_updates
            training.finish_rollout()
            games += len(rollout.lengths)
        weights = {
            name: tensor.cpu().numpy() for name, tensor in training.network.state_dict().items()
        }
        part = pickle.dumps(rollout)
        buffer = _replay_buffer(training)
    with LocalExecutor(1) if executor == LOCAL else make_executor(executor, 1) as workers:
        messages: dict[str, Any] = _messages(workers, weights, part)
    costs = Costs(
        part_seconds=tuple(playing),
        receive_seconds=messages["receive_seconds"],
        put_seconds=messages["put_seconds"],
        # The driver's time for an empty task, assumed to be half for sending, half for receiving.
        dispatch_seconds=messages["driver_seconds"] / 2,
        collect_seconds=messages["driver_seconds"] / 2 + messages["unpickle_seconds"],
        latency_seconds=max(messages["task_seconds"] - messages["driver_seconds"], 0.0),
        keep_seconds=sum(keeping) / len(keeping),
        update_seconds=sum(learning) / max(updates, 1),
        updates_per_part=updates / parts,
        weights_bytes=len(pickle.dumps(weights)),
        part_bytes=len(part),
        games_per_part=config.games_per_iteration,
        positions_per_part=positions / parts,
        position_bytes=buffer.records.itemsize if buffer is not None else 0,
    )
    return costs, messages | {"buffer_positions": buffer.capacity if buffer is not None else None}


def measure_throughput(
    algorithm: str, config: RLConfig, executor: str, actors: int, staleness: int, iterations: int
) -> dict[str, Any]:
    """Measure the throughput of actors and a learner, and simulate the same run.

    The simulation uses the wall-clock seconds of parts, updates and replay buffer in this run, so
    that other programs slow down both.

    Args:
        algorithm: a name in `ludoteca.train.algorithms.ALGORITHMS`.
        config: settings of the run; `games_per_iteration` is that of each actor.
        executor: spec string, see `make_executor`.
        actors: number of actors.
        staleness: maximum staleness, see `RLConfig.max_staleness`.
        iterations: number of measured iterations.

    Returns:
        Games per second, measured and simulated; times of parts; the learner's load; staleness.
    """
    settings = replace(
        config,
        num_actors=actors,
        executor=executor,
        games_per_iteration=config.games_per_iteration * actors,
        max_staleness=staleness,
        overlap_actor_learner=False,
    )
    with _training(settings) as training:
        # Ends of iterations; seconds of updates, and of additions to the replay buffer.
        ends, updates, learning, keeping = list[float](), 0, 0.0, 0.0
        games = 0
        skipped = 2 + staleness  # rollouts that workers need to begin and compile
        for k in range(iterations + skipped):
            if k == skipped:
                training.multiprocess_actor.part_seconds.clear()
                updates, learning, keeping = 0, 0.0, 0.0
            training.actor.load(training.network)
            rollout = training.play(games)
            start = time.perf_counter()
            training.add_rollout(rollout)
            added = time.perf_counter()
            while training.num_pending_updates > 0:
                training.update()
                updates += 1
            training.finish_rollout()
            ends.append(time.perf_counter())
            keeping += added - start
            learning += ends[-1] - added
            games += len(rollout.lengths)
        walls = [wall for wall, _ in training.multiprocess_actor.part_seconds]
        cpu_seconds = [cpu for _, cpu in training.multiprocess_actor.part_seconds]
        staleness_metrics = training.multiprocess_actor.summary()
    games_counted = iterations * settings.games_per_iteration
    seconds = ends[-1] - ends[skipped - 1]
    parts = iterations * actors
    costs = Costs(
        part_seconds=tuple(walls),
        keep_seconds=keeping / parts,
        update_seconds=learning / max(updates, 1),
        updates_per_part=updates / parts,
        games_per_part=config.games_per_iteration,
    )
    # At least 50 iterations, so that the sampled durations of parts hardly matter.
    simulated = simulate(costs, Cluster(actors, staleness), max(iterations, 50))
    return {
        "actors": actors,
        "max_staleness": staleness,
        "games_per_second": games_counted / seconds,
        "simulated_games_per_second": simulated.games_per_second,
        "part_seconds": median(walls),
        "part_processor_seconds": median(cpu_seconds),
        "learner_busy": (learning + keeping) / seconds,
        "staleness": staleness_metrics.get("staleness", 0.0),
        "iterations": iterations,
    }


def _messages(workers: Executor, weights: dict[str, Any], part: bytes) -> dict[str, float]:
    """Measure the costs of messages between the driver (this process) and a worker, in seconds.

    Args:
        workers: executor with one worker.
        weights: weights of the network, as arrays.
        part: a part of a rollout, pickled.
    """

    def send(task: Callable[[], Any]) -> float:
        start = time.perf_counter()
        list(workers.run([task]))
        return time.perf_counter() - start

    for _ in range(3):  # not measured: the worker starts
        send(partial(pow, 2, 3))
    cpu_start = time.process_time()
    empty = median(send(partial(pow, 2, 3)) for _ in range(MESSAGE_REPEATS))
    driver = (time.process_time() - cpu_start) / MESSAGE_REPEATS
    put, received, returned = list[float](), list[float](), list[float]()
    for _ in range(MESSAGE_REPEATS):
        start = time.perf_counter()
        shared = workers.put(weights)
        put.append(time.perf_counter() - start)
        received.append(send(partial(_receive, shared)))
        returned.append(send(partial(_make_bytes, len(part))))
    start = time.perf_counter()
    for _ in range(MESSAGE_REPEATS):
        pickle.loads(part)
    return {
        "task_seconds": empty,
        "driver_seconds": driver,
        "put_seconds": median(put),
        "receive_seconds": max(median(received) - empty, 0.0),
        "part_transfer_seconds": max(median(returned) - empty, 0.0),
        "unpickle_seconds": (time.perf_counter() - start) / MESSAGE_REPEATS,
    }


def _receive(shared: Shared[Any]) -> int:
    """Receive weights in a worker; return only a number."""
    return len(shared.get())


def _make_bytes(size: int) -> bytes:
    """Return `size` bytes from a worker."""
    return bytes(size)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call, and the CPU seconds of this thread."""
    start = time.thread_time()
    return work(), time.thread_time() - start


def _positions(rollout: Any) -> int:
    """Return the number of training positions in a rollout."""
    if hasattr(rollout, "env_indices"):
        return len(rollout.env_indices)
    return int(rollout.lengths.sum())


def _replay_buffer(training: Any) -> RingBuffer | None:
    """Return the replay buffer of a run, if it has one."""
    source = training.minibatches
    return source.buffer if isinstance(source, ReplayMinibatches) else None


@contextmanager
def _training(config: RLConfig) -> Iterator[Any]:
    """Start a run in a temporary folder, which is deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        training = RLTraining(replace(config, run_dir=Path(folder) / "run"), tensorboard=False)
        try:
            yield training
        finally:
            training.metrics.close()
            if training.multiprocess_actor is not None:
                training.multiprocess_actor.close()
