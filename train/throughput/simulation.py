"""Discrete-event simulation of a learner and its self-play actors, with measured costs.

The simulation follows `ludoteca.train.actors`. A rollout has as many parts as there are actors. The
driver's process sends parts to idle actors, within the bound of staleness, collects finished parts,
and learns; between two updates it serves actors first. Each machine receives each version
of the weights once, from the driver's machine, whose network is one server for each direction.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

import numpy as np

WARM_UP_FRACTION = 0.2  # fraction of the rollouts that are simulated before throughput is measured


@dataclass(frozen=True)
class Costs:
    """Costs of playing, learning and messages, in seconds and bytes.

    Attributes:
        part_seconds: seconds of an actor for a part, sampled from these values.
        receive_seconds: seconds of an actor to unpickle new weights.
        put_seconds: seconds of the driver to publish a version of the weights.
        dispatch_seconds: seconds of the driver to send a part to an actor.
        collect_seconds: seconds of the driver to receive a part.
        latency_seconds: remaining seconds between sending and receiving a part, with both idle.
        keep_seconds: seconds of the learner to add a part to the replay buffer, which keeps it.
        update_seconds: seconds of an update.
        updates_per_part: updates for each part.
        weights_bytes: size of the weights.
        part_bytes: size of a part.
        games_per_part: games in a part.
        positions_per_part: training positions in a part.
        position_bytes: size of a position in the replay buffer.
    """

    part_seconds: tuple[float, ...]
    receive_seconds: float = 0.0
    put_seconds: float = 0.0
    dispatch_seconds: float = 0.0
    collect_seconds: float = 0.0
    latency_seconds: float = 0.0
    keep_seconds: float = 0.0
    update_seconds: float = 0.0
    updates_per_part: float = 0.0
    weights_bytes: int = 0
    part_bytes: int = 0
    games_per_part: int = 1
    positions_per_part: float = 0.0
    position_bytes: int = 0


@dataclass(frozen=True)
class Cluster:
    """Number of actors, and the hardware of driver and learner.

    Attributes:
        actors: number of actors.
        max_staleness: maximum number of iterations between the network that an actor plays and the
            latest one.
        actors_per_node: number of actors on each machine.
        bandwidth: bytes per second of the driver's network, in each direction.
        store: size of the driver's object store in bytes.
        buffer: capacity of the replay buffer in positions.
    """

    actors: int
    max_staleness: int = 0
    actors_per_node: int = 16
    bandwidth: float = inf
    store: float = inf
    buffer: float = inf


@dataclass(frozen=True)
class SimulationResult:
    """Throughput of a simulated run, and its bottleneck.

    Attributes:
        games_per_second: games learned from per second.
        updates_per_second: updates per second.
        actors_busy: fraction of the time in which actors play, mean of all actors.
        driver_busy: fraction of the time in which the driver works or learns.
        learner_busy: fraction of the time in which the driver learns.
        network_busy: fraction of the time in which the driver's network is busy, in the busier
            direction.
        staleness: mean staleness of parts, in rollouts.
        store_peak: largest fraction of the object store that is in use.
        buffer_share: fraction of the replay buffer that one rollout fills.
        limit: resource that is nearest to its limit: `"actors"`, `"learner"`, `"driver"` (its work
            for actors), `"network"`, `"object store"` or `"buffer"`.
    """

    games_per_second: float
    updates_per_second: float
    actors_busy: float
    driver_busy: float
    learner_busy: float
    network_busy: float
    staleness: float
    store_peak: float
    buffer_share: float
    limit: str


@dataclass
class _Server:
    """Server of one job at a time: the driver's process, or its network in one direction.

    Attributes:
        busy: seconds of all jobs so far.
        working: whether a job is running.
        queues: waiting jobs, each with its seconds and the function to call at its end; jobs of the
            first queue are served before those of the second.
    """

    busy: float = 0.0
    working: bool = False
    queues: tuple[deque[tuple[float, Callable[[], None]]], ...] = field(
        default_factory=lambda: (deque(), deque())
    )


class Simulation:
    """Simulated run of a number of rollouts."""

    def __init__(self, costs: Costs, cluster: Cluster, iterations: int, seed: int = 0):
        """Prepare a run.

        Args:
            costs: costs of playing, learning and messages.
            cluster: number of actors, and hardware.
            iterations: number of rollouts.
            seed: seed of the sampled durations of parts.
        """
        self._costs, self._cluster, self._iterations = costs, cluster, iterations
        self._now, self._order = 0.0, itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        sampled = np.random.default_rng(seed).choice(
            costs.part_seconds, iterations * cluster.actors
        )
        self._seconds = iter(sampled.tolist())  # durations of the parts
        # The driver's process, and its network to and from the actors.
        self._driver, self._out, self._in = _Server(), _Server(), _Server()
        self._version = self._started = 0  # latest version of the weights; number of parts sent
        self._collected = [0] * iterations  # collected parts of each rollout
        self._learning = False
        self._idle = deque(range(cluster.actors))  # idle actors
        self._versions = [-1] * cluster.actors  # version of each actor's weights
        # By machine and version: functions to call when the weights arrive there; None: arrived.
        self._on_node: dict[tuple[int, int], list[Callable[[], None]] | None] = {}
        self._stale: list[int] = []  # staleness of each part
        self._learned: list[float] = []  # end of the updates from each rollout
        self._played = self._learner_seconds = 0.0  # seconds of all actors, and of the learner
        self._stored = self._store_peak = 0  # bytes in the object store, and their maximum

    def run(self) -> SimulationResult:
        """Simulate the run, and return its throughput."""
        self._dispatch()
        while self._events:
            self._now, _, event = heapq.heappop(self._events)
            event()
        assert len(self._learned) == self._iterations
        return self._result()

    def _after(self, seconds: float, event: Callable[[], None]) -> None:
        """Schedule an event."""
        heapq.heappush(self._events, (self._now + seconds, next(self._order), event))

    def _serve(
        self, server: _Server, seconds: float, then: Callable[[], None], last: bool = False
    ) -> None:
        """Queue a job at a server.

        Args:
            server: the server.
            seconds: duration of the job.
            then: function that is called at its end.
            last: whether it is served only when no other job waits.
        """
        server.queues[last].append((seconds, then))
        self._work(server)

    def _work(self, server: _Server) -> None:
        """Start the next job of a server, unless it is working or no job waits."""
        queue = next((queue for queue in server.queues if queue), None)
        if server.working or queue is None:
            return
        seconds, then = queue.popleft()
        server.working = True
        server.busy += seconds

        def done() -> None:
            server.working = False
            then()
            self._work(server)

        self._after(seconds, done)

    def _dispatch(self) -> None:
        """Send parts to idle actors, within the bound of staleness."""
        cluster = self._cluster
        while self._idle and self._started < self._iterations * cluster.actors:
            rollout = self._started // cluster.actors
            if rollout - self._version > cluster.max_staleness:
                return
            actor, version = self._idle.popleft(), self._version
            self._started += 1
            self._stale.append(rollout - version)
            self._serve(
                self._driver,
                self._costs.dispatch_seconds,
                lambda a=actor, v=version, r=rollout: self._fetch(a, v, r),  # type: ignore[misc]
            )

    def _fetch(self, actor: int, version: int, rollout: int) -> None:
        """Send weights of a version to an actor's machine, unless it has them; let the actor play.

        Args:
            actor: number of the actor.
            version: version of the weights.
            rollout: number of the rollout of its next part.
        """
        costs, node = self._costs, actor // self._cluster.actors_per_node

        def play() -> None:
            received = costs.receive_seconds if self._versions[actor] != version else 0.0
            self._versions[actor] = version
            seconds = received + next(self._seconds)
            self._played += seconds
            self._after(seconds + costs.latency_seconds, lambda: self._return(actor, rollout))

        key = (node, version)
        if key not in self._on_node:
            waiting = self._on_node[key] = [play]

            def arrived() -> None:
                self._on_node[key] = None
                for start_playing in waiting:
                    start_playing()

            self._serve(self._out, costs.weights_bytes / self._cluster.bandwidth, arrived)
        elif (waiting_here := self._on_node[key]) is not None:
            waiting_here.append(play)
        else:
            play()

    def _return(self, actor: int, rollout: int) -> None:
        """Send an actor's part of a rollout to the driver."""
        costs = self._costs

        def arrived() -> None:
            self._stored += costs.part_bytes
            self._store_peak = max(self._store_peak, self._stored)
            self._serve(self._driver, costs.collect_seconds, collected)

        def collected() -> None:
            self._stored -= costs.part_bytes
            self._collected[rollout] += 1
            self._idle.append(actor)
            self._dispatch()
            self._learn()

        self._serve(self._in, costs.part_bytes / self._cluster.bandwidth, arrived)

    def _learn(self) -> None:
        """Learn from the next rollout, if all its parts are collected and the learner is idle."""
        r, actors, costs = len(self._learned), self._cluster.actors, self._costs
        if self._learning or r == self._iterations or self._collected[r] < actors:
            return
        self._learning = True
        updates = round((r + 1) * actors * costs.updates_per_part) - round(
            r * actors * costs.updates_per_part
        )
        remaining = iter(
            [actors * costs.keep_seconds] + [costs.update_seconds] * updates + [costs.put_seconds]
        )

        def resume() -> None:
            seconds = next(remaining, None)
            if seconds is not None:
                self._learner_seconds += seconds
                self._serve(self._driver, seconds, resume, last=True)
                return
            self._learned.append(self._now)
            self._learning = False
            self._version += 1
            self._dispatch()
            self._learn()

        resume()

    def _result(self) -> SimulationResult:
        """Return the throughput and the bottleneck of the finished run."""
        costs, cluster, learned = self._costs, self._cluster, self._learned
        skipped = min(int(WARM_UP_FRACTION * self._iterations), self._iterations - 1)
        start = learned[skipped - 1] if skipped > 0 else 0.0
        counted = self._iterations - skipped
        rate = counted * cluster.actors / (learned[-1] - start)  # parts per second
        learner = self._learner_seconds / self._now
        driver = self._driver.busy / self._now
        # The driver works for actors and learns; its load is named after the larger part.
        name = "learner" if learner >= driver - learner else "driver"
        busy = {
            "actors": self._played / cluster.actors / self._now,
            name: driver,
            "network": max(self._out.busy, self._in.busy) / self._now,
            "object store": self._store_peak / cluster.store,
            "buffer": cluster.actors * costs.positions_per_part / cluster.buffer,
        }
        return SimulationResult(
            games_per_second=rate * costs.games_per_part,
            updates_per_second=rate * costs.updates_per_part,
            actors_busy=busy["actors"],
            driver_busy=driver,
            learner_busy=learner,
            network_busy=busy["network"],
            staleness=float(np.mean(self._stale)),
            store_peak=busy["object store"],
            buffer_share=busy["buffer"],
            limit=max(busy, key=lambda name: busy[name]),
        )


def simulate(
    costs: Costs, cluster: Cluster, iterations: int = 50, seed: int = 0
) -> SimulationResult:
    """Simulate a run of `iterations` rollouts; see `Simulation` for the arguments."""
    return Simulation(costs, cluster, iterations, seed).run()
