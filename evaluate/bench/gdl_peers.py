"""Random games of rule sheets: this package, Sancho and GGP-Base in one run.

Sancho (https://github.com/SanchoGGP/ggp-base) is a General Game Playing program whose propositional
network is the fastest one in Java in gdl-perf (https://github.com/AlexLandau/gdl-perf). GGP-Base
(https://github.com/ggp-org/ggp-base) is the reference implementation, whose prover evaluates the
rules without compilation. `make gdl-peers` fetches and compiles both; `peers/*.java` drive them.

Rates are joint moves per CPU second of one thread. The workloads of a sheet alternate, round by
round, so that other load of the machine affects all of them.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from ludoteca.envs.engine.playouts import make_playouts
from ludoteca.envs.game import Game
from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.gdl.game import gdl, rules
from ludoteca.envs.records import batch_of_one
from ludoteca.evaluate.bench.rounds import ROUNDS, noise
from ludoteca.evaluate.bench.workloads import PeerFailedError, ProcessWorkload
from ludoteca.evaluate.gdl.coverage import play_batch

# Compiled classes by program: folders of `make gdl-peers` in the working directory.
CLASSES = {
    "SanchoSpeed": Path(".sancho", "classes"),
    "ProverSpeed": Path(".ggp-base", "peer-classes"),
}
JAVA = ("java", "-Xss64m", "-XX:+UseSerialGC", "-cp")
# CPU seconds of random games in Java before the measurement: of the prover, and twice as many of
# each of two loops of Sancho, of which the faster one is measured, see `peers/SanchoSpeed.java`.
WARM_UP_SECONDS = 1.0
PREPARE_TIMEOUT = 3600.0  # seconds in which Sancho must have made its propositional network
MIN_GAMES = 10  # finished games from which a mean length is shown
BATCH, SINGLE, SANCHO, PROVER = "batch", "single", "Sancho", "GGP-Base"
OURS = "Ludoteca"  # in failures


class GameSample(NamedTuple):
    """Random games of one round.

    Attributes:
        steps: number of joint moves.
        seconds: CPU seconds of them.
        games: number of finished games.
        plies: joint moves of the finished games; in a batch, of all games.
        goals: sum of the goals of each role over the finished games.
    """

    steps: int
    seconds: float
    games: int
    plies: int
    goals: Sequence[float]


@dataclass
class SheetSpeed:
    """Rates of a rule sheet.

    Attributes:
        name: name of the sheet.
        gates: number of gates of our propositional network, into which the sheet is compiled; 0 if
            it exceeds a limit of the compilation.
        load_seconds: CPU seconds in which the sheet became this network, without a cache.
        samples: samples of all rounds by workload: `BATCH`, `SINGLE`, `SANCHO`, `PROVER`.
        peers: by peer, what it reports about its preparation, such as `prepare_seconds`.
        failures: by peer, why it has no samples: a message that begins with the names of the peer
            and of the sheet, such as `"Sancho on hex ended with code 1 ..."`. By `OURS`, why the
            sheet was not measured.
    """

    name: str
    gates: int
    load_seconds: float
    samples: dict[str, list[GameSample]]
    peers: dict[str, dict[str, Any]]
    failures: dict[str, str]

    def rate(self, workload: str) -> float | None:
        """Return the median rate of a workload in joint moves per CPU second, or None."""
        samples = self.samples.get(workload)
        return median(sample.steps / sample.seconds for sample in samples) if samples else None

    def ratio(self, workload: str, peer: str) -> float | None:
        """Return the rate of a workload divided by that of a peer, or None."""
        ours, theirs = self.rate(workload), self.rate(peer)
        return ours / theirs if ours and theirs else None

    def mean_plies(self, workload: str) -> float | None:
        """Return the mean length of the games of a workload, or None if there are too few."""
        samples = self.samples.get(workload, [])
        games = sum(sample.games for sample in samples)
        return sum(sample.plies for sample in samples) / games if games >= MIN_GAMES else None

    def mean_goals(self, workload: str) -> list[float] | None:
        """Return the mean goal of each role, or None if there are too few games."""
        samples = self.samples.get(workload, [])
        games = sum(sample.games for sample in samples)
        if games < MIN_GAMES:
            return None
        totals = np.sum([sample.goals for sample in samples], axis=0)
        return [round(float(total) / games, 2) for total in totals]

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        return {
            "name": self.name,
            "gates": self.gates,
            "load_seconds": round(self.load_seconds, 2),
            "peers": self.peers,
            "failures": self.failures,
            "workloads": {
                workload: {
                    "steps_per_second": round(self.rate(workload) or 0, 1),
                    "noise": round(noise([s.steps / s.seconds for s in samples]), 3),
                    "mean_plies": self.mean_plies(workload),
                    "mean_goals": self.mean_goals(workload),
                    "rounds": [sample._asdict() for sample in samples],
                }
                for workload, samples in self.samples.items()
            },
            "batch_to_sancho": self.ratio(BATCH, SANCHO),
            "single_to_sancho": self.ratio(SINGLE, SANCHO),
            "batch_to_ggp_base": self.ratio(BATCH, PROVER),
        }


def find_java() -> dict[str, list[str]]:
    """Return the commands that run `SanchoSpeed` and `ProverSpeed`, without their arguments.

    Raises:
        ValueError: if Java is not installed, or `make gdl-peers` has not run here.
    """
    help_text = (
        "`make gdl-peers` compiles Sancho and GGP-Base in a checkout of this package; it needs git "
        "and a Java development kit (apt-get install openjdk-17-jdk-headless)"
    )
    if shutil.which(JAVA[0]) is None:
        raise ValueError(f"there is no program java: {help_text}")
    commands = {}
    for program, classes in CLASSES.items():
        if not (classes / f"{program}.class").exists():
            raise ValueError(f"{classes} has no {program}.class: {help_text}")
        libraries = sorted((classes.parent / "source").rglob("*.jar"))
        path = os.pathsep.join(map(str, [classes, *libraries]))
        commands[program] = [*JAVA, path, program]
    return commands


def measure_sheet(name: str, path: Path, seconds: float) -> SheetSpeed:
    """Measure the random games of a sheet in all implementations.

    A peer that fails has no samples. A sheet that exceeds a limit of our compilation is not
    measured.

    Args:
        name: name of the sheet.
        path: file of the sheet.
        seconds: CPU seconds of each workload, all rounds together.

    Raises:
        ValueError: if the peers are missing, or it is not a valid rule sheet.
    """
    commands = find_java()
    start = process_time()
    try:
        compile_sheet(path, use_cache=False)
    except GDLLimitError as limit:
        failures = {OURS: f"{OURS} on {name}: {limit}"}
        return SheetSpeed(name, 0, process_time() - start, {}, {}, failures)
    load_seconds = process_time() - start
    game = gdl(str(path))
    network = rules(game)
    speed = SheetSpeed(name, network.num_gates, load_seconds, {}, {}, {})
    workloads: dict[str, Callable[[float], GameSample]] = {
        BATCH: BatchWorkload(game),
        SINGLE: SingleWorkload(game),
    }
    processes = []
    try:
        for peer, program in ((SANCHO, "SanchoSpeed"), (PROVER, "ProverSpeed")):
            command = [*commands[program], str(path), str(WARM_UP_SECONDS)]
            try:
                process = ProcessWorkload(f"{peer} on {name}", command, PREPARE_TIMEOUT)
            except PeerFailedError as error:
                speed.failures[peer] = str(error)
                continue
            processes.append(process)
            speed.peers[peer] = process.greeting
            workloads[peer] = partial(_measure, process)
        for _ in range(ROUNDS):
            for workload, run in list(workloads.items()):
                try:
                    sample = run(seconds / ROUNDS)
                except PeerFailedError as error:
                    speed.failures[workload] = str(error)
                    speed.samples.pop(workload, None)
                    del workloads[workload]
                else:
                    speed.samples.setdefault(workload, []).append(sample)
    finally:
        for process in processes:
            process.close()
    return speed


def _measure(process: ProcessWorkload, seconds: float) -> GameSample:
    """Return the random games of a peer in some CPU seconds."""
    return GameSample(**process.measure(seconds))


class BatchWorkload:
    """Random games of a compiled sheet, 512 at once."""

    def __init__(self, game: Game):
        self._network = rules(game)
        self._simulator = BatchSimulator(self._network)
        self._simulator.play(1)  # compiles

    def __call__(self, seconds: float) -> GameSample:
        """Play for some CPU seconds."""
        network = self._network
        steps, games, goal_counts, spent = play_batch(self._simulator, seconds)
        goals = np.zeros(len(network.roles))
        np.add.at(goals, network.goal_roles, goal_counts * network.goal_values)
        return GameSample(steps, spent, games, steps, goals.tolist())


class SingleWorkload:
    """Random games of a compiled sheet, one after the other, by the kernels of the game."""

    def __init__(self, game: Game):
        self._play = make_playouts(game)
        self._start, self._rng = batch_of_one(game, None), np.array([1], np.uint64)
        self._totals = np.zeros((1, game.num_players))
        self._play(self._start, 1, self._rng, self._totals)  # compiles

    def __call__(self, seconds: float) -> GameSample:
        """Play for some CPU seconds."""
        self._totals[:] = 0
        steps = games = 0
        start, calls = process_time(), 1
        while (spent := process_time() - start) < seconds:
            steps += self._play(self._start, calls, self._rng, self._totals)
            games += calls
            # Calls get longer, up to a twentieth of the time.
            calls = 2 * calls if process_time() - start - spent < seconds / 20 else calls
        goals = 50 * (games + self._totals[0])  # a return is (goal - 50) / 50
        return GameSample(steps, spent, games, steps, goals.tolist())
