"""The loop of training in rounds: play some games, learn from them, measure, and never lose any."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import torch

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.runner import Precision, Runner, faster_precision
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.allocator import keep_memory
from ludoteca.train.evaluation import evaluate
from ludoteca.train.learner import Learner
from ludoteca.train.metrics import Metrics
from ludoteca.train.run_folder import Arrays, RunFolder, below, under
from ludoteca.train.settings import RoundConfig

# Settings that do not change what is learned, and the number of games: a run can be made longer,
# with learning rates from then on as if it had been so from the start.
FREE = ("folder", "minutes", "save_seconds", "select", "final_games", "keep_every", "games")


class RoundTraining(ABC):
    """A training run in rounds, which can be interrupted at any time.

    With `pipeline`, the next round is played in a second thread while the last one is learned from,
    by the network as it was before. The state is saved between rounds, together with the round that
    has just been played: whoever goes on from there learns bit for bit the same.

    A subclass prepares itself in its constructor and then calls `begin`. A round is a dataclass of
    arrays, among them `lengths`, the plies of each of its games.

    Attributes:
        round: the class of rounds.
        config: the settings.
        game: the game.
        precision: of convolutions, `"float32"` or `"bfloat16"`.
        learner: the network that learns, and how.
        player: runs the network that plays: a copy.
        games: how many games were learned from.
        plies: how many plies they had; where all move at once, a ply is a step of all.
        seconds: how long that took, in all parts of the run.
        learning_seconds: the same without evaluations and checkpoints.
        best: how good the network in `best.safetensors` was, and after how many games.
        metrics: what was measured so far.
    """

    round: ClassVar[type[Any]]
    config: RoundConfig
    metrics: Metrics
    learner: Learner[Any]
    player: Runner

    def __init__(self, config: RoundConfig, game: Game):
        """Begin a run, or go on with the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings.
        """
        torch.set_num_threads(config.threads)
        keep_memory()
        self.config, self.game = config, game
        self.folder = RunFolder(config.folder, config.as_dict(), FREE)
        self._state = self.folder.load_state()
        # The precision that was faster when the run began is kept.
        self.precision: Precision = self._state[0]["precision"] if self._state else config.precision
        if self.precision == "auto":
            self.precision = faster_precision(config.device)
        # Playing and learning draw from generators of their own, as they go on side by side.
        seeds = np.random.SeedSequence(config.seed).spawn(2)
        self.playing, self.learning = (np.random.default_rng(seed) for seed in seeds)
        self.games = self.plies = 0
        self.seconds = self.learning_seconds = 0.0
        self.best: dict[str, Any] = {}
        self._last = 0  # games of the last round
        self._waiting: Any = None  # the round that was played, but not learned from yet

    def begin(self, tensorboard: bool) -> None:
        """Restore the state of a run that goes on, and open the metrics.

        Raises:
            ValueError: if there is no such opponent to be evaluated against, or it does not fit.
            FileNotFoundError: if it is a network that is not there.
        """
        for spec in dict.fromkeys(self.opponents()):
            make_agent(spec, self.game)
        rows = []
        if self._state is not None:
            numbers, arrays = self._state
            self._state = None
            self.games, self.plies = numbers["games"], numbers["plies"]
            self.seconds = numbers["seconds"]
            self.learning_seconds = numbers["learning_seconds"]
            self._last, self.best, rows = numbers["last"], numbers["best"], numbers["rows"]
            self.playing.bit_generator.state = numbers["playing"]
            self.learning.bit_generator.state = numbers["learning"]
            waiting = below("waiting", arrays)
            if waiting:
                self._waiting = self.round(**{f.name: waiting[f.name] for f in fields(self.round)})
            self.restore(numbers["own"], arrays)
        self.folder.claim()
        self.metrics = Metrics(self.config.folder, rows, keep_writing=tensorboard)

    @abstractmethod
    def play(self, games: int) -> Any:
        """Play a round, which begins after `games` games; draws from `playing` only."""

    @abstractmethod
    def learn(self, played: Any) -> None:
        """Learn from a round; draws from `learning` only."""

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
        """Go on from where `state` was taken."""

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
        """Whether all games are played."""
        return bool(self.games >= self.config.games)

    def run(self) -> Iterator[int]:
        """Train; yields the number of games after each round, until all are played.

        Whoever stops in between loses what happened since the last checkpoint; `save` makes one.
        """
        config = self.config
        if self.games == 0 and not self.metrics.rows:
            self._log(evaluated=True)
        started, saved = time.monotonic() - self.seconds, time.monotonic()
        with ThreadPoolExecutor(
            1, initializer=torch.set_num_threads, initargs=(config.threads,)
        ) as pool:
            while not self.finished:
                began = time.monotonic()
                if self._waiting is None:
                    self.player.load(self.network)
                    self._waiting = self.play(self.games)
                played, self._waiting, coming = self._waiting, None, None
                after = self.games + len(played.lengths)
                if config.pipeline and after < config.games:
                    self.player.load(self.network)
                    coming = pool.submit(self.play, after)
                self.learn(played)
                self.games, self._last = after, len(played.lengths)
                self.plies += int(played.lengths.sum())
                self._waiting = None if coming is None else coming.result()
                self.seconds = time.monotonic() - started
                self.learning_seconds += time.monotonic() - began
                self._measure()
                if self.finished or time.monotonic() - saved > config.save_seconds:
                    self.save()
                    saved = time.monotonic()
                yield self.games

    def save(self) -> None:
        """Write a checkpoint, from which the run goes on exactly."""
        own, arrays = self.state()
        if self._waiting is not None:
            played = {f.name: getattr(self._waiting, f.name) for f in fields(self._waiting)}
            arrays = arrays | under("waiting", played)
        numbers = {
            "games": self.games,
            "plies": self.plies,
            "seconds": self.seconds,
            "learning_seconds": self.learning_seconds,
            "last": self._last,
            "best": self.best,
            "precision": self.precision,
            "rows": self.metrics.rows,
            "playing": self.playing.bit_generator.state,
            "learning": self.learning.bit_generator.state,
            "own": own,
        }
        self.folder.save_state(numbers, arrays)
        self.metrics.save()
        self.save_network("network")

    def save_network(self, name: str) -> None:
        """Write the network as it is now to `<name>.safetensors`."""
        about = {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "games": self.games,
            "updates": self.updates,
        }
        path = self.config.folder / f"{name}.safetensors"
        save_weights(path, self.network.state_dict(), about)

    def evaluate(self) -> dict[str, float]:
        """Play test games, the same each time, and return the shares won.

        Writes the network to `best.safetensors`, unless an earlier one did better and
        `config.select` is "best"; of equal ones, the latest.
        """
        config, agent = self.config, self.candidate()
        values: dict[str, float] = {}
        matches = []
        for opponent in self.opponents():
            rated, match = evaluate(
                self.game, agent, opponent, config.evaluate_games, config.seed + 1
            )
            values |= {f"{opponent}__{one['seat']}": one["win_rate"] for one in rated}
            matches.append(match)
        rate = self.strength(matches)
        if config.select == "last" or rate >= self.best.get("win_rate", -1):
            self.best = {"win_rate": rate, "games": self.games}
            self.save_network("best")
        return values

    def _measure(self) -> None:
        """Write down how it goes, and evaluate, when it is time for either."""
        before = self.games - self._last
        every = self.config.keep_every
        if every and (self.finished or self.games // every > before // every):
            self.save_network(f"kept/games-{self.games:08}")
        logged, evaluated = (
            self.finished or self.games // every > before // every
            for every in (self.config.log_every, self.config.evaluate_every)
        )
        if logged or evaluated:
            self._log(evaluated)

    def _log(self, evaluated: bool) -> None:
        """Add a row of metrics."""
        values = self.summary() | (self.evaluate() if evaluated else {})
        self.metrics.add(self.games, seconds=round(self.seconds, 1), **values)
