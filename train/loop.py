"""The loop of training in rounds: play some games, learn from them, measure, and never lose any."""

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import fields
from math import inf
from typing import Any, ClassVar

import numpy as np
import torch

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.runner import Precision, Runner, faster_precision
from ludoteca.agents.networks.weights import load_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.allocator import keep_memory
from ludoteca.train.checkpoint import Weights, as_arrays, copied, write_if_other, write_network
from ludoteca.train.evaluation import evaluate
from ludoteca.train.learner import Learner
from ludoteca.train.metrics import Metrics
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.run_folder import Arrays, RunFolder, below, under
from ludoteca.train.settings import RoundConfig

# Settings that do not change what is learned, and the number of games: a run can be made longer,
# with learning rates from then on as if it had been so from the start.
FREE = ("folder", "minutes", "save_seconds", "select", "final_games", "keep_every", "games")


class RoundTraining(ABC):
    """A training run in rounds, which can be interrupted at any time.

    With `pipeline`, the next round is played in a second thread while the last one is learned from,
    by the network as it was before. The state is saved between two updates, together with the round
    that is being learned from or has just been played: a run that resumes from there learns bit for
    bit the same. A round that was not played to its end is dropped, and played again by the same
    network with the same random numbers.

    A subclass prepares itself in its constructor and then calls `begin`. A round is a dataclass of
    arrays, among them `lengths`, the plies of each of its games.

    Attributes:
        round: the class of rounds.
        kind: name of the agent that plays the network, such as `"dqn"`.
        config: the settings.
        game: the game.
        precision: of convolutions, `"float32"` or `"bfloat16"`.
        learner: the network that learns, and how.
        player: runs the network that plays: a copy.
        games: how many games were learned from.
        plies: how many plies they had; where all move at once, a ply is a step of all.
        seconds: how long that took, in all parts of the run.
        learning_seconds: the same without evaluations, checkpoints and compiling.
        best: how good the best network was, and after how many games.
        metrics: what was measured so far.
        monitor: is shown the progress, and can stop the run.
        begun: when this part of the run began, by `time.monotonic()`.
        saved: how many games the last checkpoint has seen, or None if there is none.
        evaluation_seconds: how long the longest evaluation took in this part of the run.
    """

    round: ClassVar[type[Any]]
    kind: ClassVar[str]
    config: RoundConfig
    metrics: Metrics
    learner: Learner[Any]
    player: Runner

    def __init__(self, config: RoundConfig, game: Game):
        """Begin a run, or resume the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings.
        """
        self.begun = time.monotonic()
        torch.set_num_threads(config.threads)
        keep_memory()
        self.config, self.game = config, game
        self.monitor = Monitor()
        self.folder = RunFolder(config.folder, config.as_dict(), FREE)
        self._state = self.folder.load_state()
        # The precision that was faster when the run began is kept.
        self.precision: Precision = config.precision
        if self._state is not None:
            with self.folder.restoring():
                self.precision = self._state[0]["precision"]
        if self.precision == "auto":
            self.precision = faster_precision(config.device)
        # Playing and learning draw from generators of their own, as they go on side by side.
        seeds = np.random.SeedSequence(config.seed).spawn(2)
        self.playing, self.learning = (np.random.default_rng(seed) for seed in seeds)
        self.games = self.plies = 0
        self.seconds = self.learning_seconds = self.evaluation_seconds = 0.0
        self.saved: int | None = None
        self.best: dict[str, Any] = {}
        self._best_weights: Weights = {}
        self._best_updates = 0
        self._interim: dict[str, Any] = {}  # the last network, if it was evaluated out of turn
        self._last = 0  # games of the last round
        self._waiting: Any = None  # the round that was played, but not learned from to its end
        self._learning = False  # whether updates were made from it
        self._unmeasured = False  # whether the last round has yet to be measured
        # The weights that play the next round, from when the player has them until it is played.
        self._acting: Weights | None = None

    def begin(self, tensorboard: bool) -> None:
        """Restore the state of a run that resumes, and open the metrics.

        Raises:
            ValueError: if there is no such opponent to be evaluated against, or it does not fit; or
                if the state is of another version of this package.
            FileNotFoundError: if it is a network that is not there.
        """
        for spec in dict.fromkeys(self.opponents()):
            make_agent(spec, self.game)
        rows = []
        if self._state is not None:
            with self.folder.restoring():
                rows = self._restore(*self._state)
            self._state = None
        self.folder.claim()
        self.metrics = Metrics(self.config.folder, rows, keep_writing=tensorboard)
        if self.saved is not None:
            self._write_derived()

    def _restore(self, numbers: dict[str, Any], arrays: Arrays) -> list[Any]:
        """Resume from where a checkpoint was written; return the rows of metrics."""
        self.games, self.plies = numbers["games"], numbers["plies"]
        self.seconds = numbers["seconds"]
        self.learning_seconds = numbers["learning_seconds"]
        self._last, self.best = numbers["last"], numbers["best"]
        self.playing.bit_generator.state = numbers["playing"]
        self.learning.bit_generator.state = numbers["learning"]
        self._unmeasured = numbers.get("unmeasured", False)
        self._learning = numbers.get("in_learning", False)
        waiting = below("waiting", arrays)
        if waiting:
            self._waiting = self.round(**{f.name: waiting[f.name] for f in fields(self.round)})
        acting = below("acting", arrays)
        if acting:
            self._acting = {name: torch.from_numpy(array) for name, array in acting.items()}
        best = below("best", arrays)
        self._best_weights = {name: torch.from_numpy(array) for name, array in best.items()}
        self._best_updates = numbers.get("best_updates", 0)
        if not best and self.best:  # a checkpoint of a version that did not have them there
            self._take_best_from_file()
        self.restore(numbers["own"], arrays)
        self.saved = self.games
        rows: list[Any] = numbers["rows"]
        return rows

    def _take_best_from_file(self) -> None:
        """Take the best network from its file; without one, there is no best one so far."""
        try:
            weights, about = load_weights(self.config.folder / "best.safetensors")
            if about["games"] != self.best["games"]:
                raise ValueError
            self._best_weights, self._best_updates = weights, about["updates"]
        except (OSError, ValueError, KeyError):
            self.best = {}

    @abstractmethod
    def play(self, games: int) -> Any:
        """Play a round, which begins after `games` games; draws from `playing` only.

        Raises:
            Stopped: if the run is to stop.
        """

    @abstractmethod
    def keep(self, played: Any) -> None:
        """Take in a round: from now on, updates are due. Draws from `learning` only."""

    @property
    @abstractmethod
    def due(self) -> int:
        """The number of updates that are due."""

    @abstractmethod
    def update(self) -> None:
        """Make one of the updates that are due; draws from `learning` only."""

    def conclude(self, played: Any) -> None:
        """Finish learning from a round after its last update; by default nothing is left to do.

        Raises:
            Stopped: if the run is to stop; it is called again then.
        """
        return

    def learn(self, played: Any) -> None:
        """Learn from a round, from its first update to its last."""
        self.keep(played)
        while self.due > 0:
            self.update()
        self.conclude(played)

    def reload(self, network: Any) -> None:
        """Give the player weights that it has had before, for a round that was dropped."""
        self.player.load(network)

    @abstractmethod
    def summary(self) -> dict[str, float | int | None]:
        """Return what was seen since the last summary, for the metrics."""

    @abstractmethod
    def opponents(self) -> tuple[str, ...]:
        """Return the spec strings of those it is evaluated against."""

    @abstractmethod
    def candidate(self) -> Agent:
        """Return the network as it is now as the agent that is evaluated."""

    @abstractmethod
    def strength(self, matches: list[MatchResult]) -> float:
        """Return how good that was, from 0 to 1, by its matches against `opponents()`."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return numbers and arrays that `restore` needs."""

    @abstractmethod
    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from where `state` was taken; `in_learning` is the round that is learned from."""

    @property
    def in_learning(self) -> Any:
        """The round of which updates were made but not the last one, or None."""
        return self._waiting if self._learning else None

    @property
    def network(self) -> Any:
        """What learns; `config.network` tells how it is built."""
        return self.learner.network

    @property
    def updates(self) -> int:
        """How many updates were made."""
        return self.learner.updates

    @property
    def finished(self) -> bool:
        """Whether all games are played, and the last network is evaluated."""
        return bool(self.games >= self.config.games) and not self._unmeasured

    @property
    def progress(self) -> float:
        """Games so far, those that are being played or learned from in proportion."""
        waiting = self._waiting  # another thread may ask
        played = 0.0 if waiting is None else float(len(waiting.lengths))
        learned = played * self.monitor.work["learning"].share if self._learning else 0.0
        if self._acting is not None or played == 0:
            played += self.config.games_per_round * self.monitor.work["playing"].share
        return min(self.games + (played + learned) / 2, self.config.games)

    def run(self) -> Iterator[int]:
        """Train; yields the number of games after each round, until all are played.

        It ends before that if `monitor` is asked to stop: then `save` keeps everything, the updates
        that were made from the present round included. If the iteration is left in between, what
        happened since the last checkpoint is lost.
        """
        try:
            yield from self._run()
        except Stopped:
            return

    def _run(self) -> Iterator[int]:
        """Train.

        Raises:
            Stopped: if the run is to stop.
        """
        config = self.config
        before, saved = self.seconds, time.monotonic()
        began = saved

        def tick() -> None:
            self.seconds = before + time.monotonic() - began

        pool = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(config.threads,))
        try:
            if self.games == 0 and not self.metrics.rows:
                self._log_untrained()
            while not self.finished:
                if not self._unmeasured:
                    start = clock()
                    try:
                        self._iterate(pool)
                    finally:
                        self.learning_seconds += clock() - start
                    tick()
                self._measure()
                self._unmeasured = False
                if self.finished or time.monotonic() - saved > config.save_seconds:
                    tick()
                    self.save()
                    saved = time.monotonic()
                yield self.games
        except Stopped:
            tick()
            raise
        finally:
            pool.shutdown(wait=False)

    def _iterate(self, pool: ThreadPoolExecutor) -> None:
        """Play a round, if there is none, and learn from it.

        Raises:
            Stopped: if the run is to stop; all that was finished is kept.
        """
        if self._waiting is None:
            self.monitor.phase = "playing"
            self._prepare()
            before = self.playing.bit_generator.state
            try:
                self._waiting = self.play(self.games)
            except Stopped:
                self.playing.bit_generator.state = before
                raise
            self._acting = None
        played, coming = self._waiting, None
        after = self.games + len(played.lengths)
        before = self.playing.bit_generator.state
        try:
            if self.config.pipeline and after < self.config.games:
                self._prepare()
                coming = pool.submit(self.play, after)
            self._learn(played)
            self._learning, self._unmeasured, self._waiting = False, True, None
            self.games, self._last = after, len(played.lengths)
            self.plies += int(played.lengths.sum())
            self.monitor.phase = "playing"
            if coming is None:
                self.monitor.begin("playing", 0)
            else:
                self._waiting = coming.result()
                self._acting = None
        except Stopped:
            self._drop(coming, before)
            raise
        except BaseException:
            if not self.monitor.request:  # an error in this thread: the other one is to stop, too
                self.monitor.stop("an error")
                self._drop(coming, before)
                self.monitor.stop("")
            raise

    def _prepare(self) -> None:
        """Give the player the network for the next round."""
        if self._acting is None:
            self.player.load(self.network)
            self._acting = copied(self.network)
        else:
            network = copy.deepcopy(self.network)
            network.load_state_dict(self._acting)
            self.reload(network)

    def _learn(self, played: Any) -> None:
        """Make the updates from a round that are still due.

        Raises:
            Stopped: if the run is to stop; it can be called again then.
        """
        if not self._learning:
            self.keep(played)
            self._learning = True
        monitor = self.monitor
        monitor.phase = "learning"
        total = self.due
        monitor.begin("learning", total, "update")
        while self.due > 0:
            monitor.check()
            self.update()
            monitor.step("learning", total - self.due)
        self.conclude(played)

    def _drop(self, coming: "Future[Any] | None", before: Any) -> None:
        """Drop the round that is being played: all random numbers it has drawn are to come."""
        if coming is not None:
            wait([coming])
            self.playing.bit_generator.state = before

    def save(self) -> None:
        """Write a checkpoint, from which the run resumes exactly.

        `state.npz` holds everything and is replaced as a whole, first of all. The other files
        follow from it: those that are missing or out of date are written when the run resumes.
        """
        own, arrays = self.state()
        if self._waiting is not None:
            played = {f.name: getattr(self._waiting, f.name) for f in fields(self._waiting)}
            arrays = arrays | under("waiting", played)
        if self._acting is not None:
            arrays = arrays | under("acting", as_arrays(self._acting))
        numbers = {
            "games": self.games,
            "plies": self.plies,
            "seconds": self.seconds,
            "learning_seconds": self.learning_seconds,
            "last": self._last,
            "best": self.best,
            "best_updates": self._best_updates,
            "precision": self.precision,
            "rows": self.metrics.rows,
            "playing": self.playing.bit_generator.state,
            "learning": self.learning.bit_generator.state,
            "unmeasured": self._unmeasured,
            "in_learning": self._learning,
            "own": own,
        }
        self.folder.save_state(numbers, arrays | under("best", as_arrays(self._best_weights)))
        self.saved = self.games
        self._write_derived()

    def _write_derived(self) -> None:
        """Write the files that follow from the state, if they are missing or out of date."""
        folder, about = self.config.folder, self._about()
        weights = copied(self.network)
        write_if_other(folder / "network.safetensors", weights, about)
        if not self.keeps_last:
            weights = self._best_weights
            about |= {"games": self.best["games"], "updates": self._best_updates}
        write_if_other(folder / "best.safetensors", weights, about)
        self.metrics.save()

    @property
    def keeps_last(self) -> bool:
        """Whether `best.safetensors` holds the network as it is now, and not an earlier one.

        That is so if it is the best one, if `config.select` is "last", or if the best one has not
        learned anything while this one has.
        """
        if not self.best or self.config.select == "last":
            return True
        untrained = self._best_updates == 0 and self.config.start_from is None
        return untrained or self.updates in (self._best_updates, self._interim.get("updates"))

    @property
    def kept(self) -> dict[str, Any]:
        """Which network `best.safetensors` holds: after how many `games`, and its `win_rate`.

        The latter is None if it was not evaluated.
        """
        if not self.keeps_last or (self.best and self.updates == self._best_updates):
            return self.best
        rate = self._interim["win_rate"] if self.updates == self._interim.get("updates") else None
        return {"win_rate": rate, "games": self.games}

    def _about(self) -> dict[str, Any]:
        """Return what is written about the network as it is now beside its weights."""
        return {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "games": self.games,
            "updates": self.updates,
            **({"start_from": str(start)} if (start := self.config.start_from) else {}),
        }

    def evaluate(self) -> dict[str, float]:
        """Play test games, the same each time, and return the shares won.

        Keeps the network as the best one, unless an earlier one did better and `config.select` is
        "best"; of equal ones, the latest.

        Raises:
            Stopped: if the run is to stop; then nothing is kept.
        """
        values, rate = self._test()
        if self._better(rate):
            self.best = {"win_rate": rate, "games": self.games}
            self._best_weights, self._best_updates = copied(self.network), self.updates
        return values

    def evaluate_out_of_turn(self) -> None:
        """Test the network as it is at the end of a part of the run, and write it if it is best.

        The run that resumes knows nothing of that: it evaluates when it would have done so anyway.

        Raises:
            Stopped: if there is not enough time.
        """
        _, rate = self._test()
        if self._better(rate):
            self._interim = {"win_rate": rate, "updates": self.updates}
        self._write_derived()

    def _better(self, rate: float) -> bool:
        return self.config.select == "last" or rate >= self.best.get("win_rate", -1)

    def _test(self) -> tuple[dict[str, float], float]:
        """Play test games; return the shares won, and how good that is.

        Raises:
            Stopped: if the run is to stop.
        """
        config, agent, monitor = self.config, self.candidate(), self.monitor
        values: dict[str, float] = {}
        matches: list[MatchResult] = []
        games = config.evaluate_games * self.game.num_players
        monitor.phase, start = "evaluating", time.monotonic()
        if self.evaluation_seconds > monitor.seconds_left:
            raise Stopped
        monitor.begin("evaluating", games * len(self.opponents()))
        for opponent in self.opponents():

            def show(ended: int, done: int = games * len(matches)) -> None:
                monitor.step("evaluating", done + ended)

            rated, match = evaluate(
                self.game, agent, opponent, config.evaluate_games, config.seed + 1, on_step=show
            )
            values |= {f"{opponent}__{one['seat']}": one["win_rate"] for one in rated}
            matches.append(match)
        self.evaluation_seconds = max(self.evaluation_seconds, time.monotonic() - start)
        return values, self.strength(matches)

    def _measure(self) -> None:
        """Write down how it goes, and evaluate, when it is time for either."""
        before = self.games - self._last
        every = self.config.keep_every
        over = self.games >= self.config.games
        if every and (over or self.games // every > before // every):
            path = self.config.folder / f"kept/games-{self.games:08}.safetensors"
            write_network(path, copied(self.network), self._about())
        logged, evaluated = (
            over or self.games // every > before // every
            for every in (self.config.log_every, self.config.evaluate_every)
        )
        if logged or evaluated:
            self._log(evaluated)

    def _log_untrained(self) -> None:
        """Add the first row; of the time until a deadline, that may take a tenth.

        Raises:
            Stopped: if the run is to stop.
        """
        monitor = self.monitor
        monitor.task_deadline = time.monotonic() + monitor.seconds_left / 10
        try:
            self._log(evaluated=True)
        except Stopped:
            monitor.task_deadline = inf
            monitor.check()
            self._log(evaluated=False)
        finally:
            monitor.task_deadline = inf

    def _log(self, evaluated: bool) -> None:
        """Add a row of metrics.

        Raises:
            Stopped: if the run is to stop; then the row is still to be added.
        """
        values = self.evaluate() if evaluated else {}
        self.metrics.add(self.games, seconds=round(self.seconds, 1), **self.summary(), **values)
