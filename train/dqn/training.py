"""The training loop: play a round, keep what happened, learn from what is kept."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from ludoteca.agents.dqn import DQNAgent, load_q_network
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.q_network import QNetwork, make_q_network
from ludoteca.agents.networks.runner import Precision, Runner, faster_precision
from ludoteca.agents.networks.weights import find_weights, save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.train.allocator import keep_memory
from ludoteca.train.dqn.config import Config
from ludoteca.train.dqn.learner import Learner
from ludoteca.train.dqn.rounds import Round, Table
from ludoteca.train.dqn.transitions import transitions
from ludoteca.train.evaluation import evaluate
from ludoteca.train.metrics import Metrics
from ludoteca.train.priorities import Priorities
from ludoteca.train.replay import ReplayBuffer
from ludoteca.train.run_folder import Arrays, RunFolder, below, under

# Settings that do not change what is learned.
FREE = ("folder", "minutes", "save_seconds", "final_games")


class Training:
    """A run of deep Q-learning, which can be interrupted at any time.

    Its state is saved between rounds, together with the round that has just been played: whoever
    goes on from there learns bit for bit the same.

    Attributes:
        config: its settings.
        game: the game.
        precision: of convolutions, `"float32"` or `"bfloat16"`.
        games: how many games were learned from.
        seconds: how long that took, in all parts of the run.
    """

    def __init__(self, config: Config, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings, or a setting makes no sense.
        """
        torch.set_num_threads(1)
        keep_memory()
        self.config, self.game = config, make_game(config.game)
        self._encoder = Encoder(self.game)
        opponent = None if config.opponent == "self" else make_agent(config.opponent, self.game)
        self._table = Table(self._encoder, config.games_per_round, opponent, config.seat)
        network = _first_network(config, self.game)
        # Settings that make no sense leave no folder behind.
        self.folder = RunFolder(config.folder, config.as_dict(), FREE)
        scale = 1 / self.game.observation_high
        state = self.folder.load_state()
        # The precision that was faster when the run began is kept.
        self.precision: Precision = state[0]["precision"] if state else config.precision
        if self.precision == "auto":
            self.precision = faster_precision(config.device)
        self.learner = Learner(network, replace(config, precision=self.precision), scale)
        self._runner = Runner(network, scale, config.device, self.precision)
        binary = self.game.observation_high == 1
        self._buffer = ReplayBuffer(
            config.memory, self._encoder.shape, self.game.num_actions, binary
        )
        self._priorities = Priorities(config.memory, config.alpha) if config.prioritized else None
        seeds = np.random.SeedSequence(config.seed).spawn(2)
        self._playing, self._learning = (np.random.default_rng(seed) for seed in seeds)
        self.games, self.seconds, self._owed = 0, 0.0, 0.0
        self._window = _Window()
        self.best: dict[str, Any] = {}
        self._played: Round | None = None  # not learned from yet
        rows = self._restore(*state) if state else []
        self.metrics = Metrics(config.folder, rows, keep_writing=tensorboard)
        self._tester = DQNAgent.from_network(
            self.game, self.network, 0.0, config.device, self.precision
        )

    @property
    def network(self) -> QNetwork:
        """What learns."""
        return self.learner.network

    @property
    def finished(self) -> bool:
        """Whether all games are played."""
        return self.games >= self.config.games

    def run(self) -> Iterator[int]:
        """Train; yields the number of games after each round, until all are played.

        Whoever stops in between loses what happened since the last checkpoint; `save` makes one.
        """
        config = self.config
        if self.games == 0 and not self.metrics.rows:
            self._log()
        started, saved = time.monotonic() - self.seconds, time.monotonic()
        with ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            while not self.finished:
                played = self._played or self._play()
                self._played, coming = None, None
                if config.pipeline and self.games + len(played.lengths) < config.games:
                    self._runner.load(self.network)
                    coming = pool.submit(self._play, load=False, after=len(played.lengths))
                self._learn(played)
                self._played = _result(coming)
                self.seconds = time.monotonic() - started
                self._measure()
                if self.finished or time.monotonic() - saved > config.save_seconds:
                    self.save()
                    saved = time.monotonic()
                yield self.games

    def save(self) -> None:
        """Write a checkpoint, from which the run goes on exactly."""
        arrays = under("learner", self.learner.state()) | under("buffer", self._buffer.state())
        if self._priorities is not None:
            arrays |= under("priorities", self._priorities.state())
        if self._played is not None:
            arrays |= under(
                "played", {f.name: getattr(self._played, f.name) for f in fields(Round)}
            )
        numbers = {
            "games": self.games,
            "seconds": self.seconds,
            "owed": self._owed,
            "window": vars(self._window),
            "best": self.best,
            "precision": self.precision,
            "rows": self.metrics.rows,
            "playing": self._playing.bit_generator.state,
            "learning": self._learning.bit_generator.state,
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
            "updates": self.learner.updates,
        }
        path = self.config.folder / f"{name}.safetensors"
        save_weights(path, self.network.state_dict(), about)

    def _restore(self, numbers: dict[str, Any], arrays: Arrays) -> list[Any]:
        """Go on from the last checkpoint; return the rows of the metrics."""
        self.learner.restore(below("learner", arrays))
        self._buffer.restore(below("buffer", arrays))
        if self._priorities is not None:
            self._priorities.restore(below("priorities", arrays))
        played = below("played", arrays)
        self._played = Round(**played) if played else None
        self.games, self.seconds = numbers["games"], numbers["seconds"]
        self._owed, self.best = numbers["owed"], numbers["best"]
        vars(self._window).update(numbers["window"])
        self._playing.bit_generator.state = numbers["playing"]
        self._learning.bit_generator.state = numbers["learning"]
        rows: list[Any] = numbers["rows"]
        return rows

    def _play(self, load: bool = True, after: int = 0) -> Round:
        """Play a round, which begins when `after` more games than now are learned from."""
        if load:
            self._runner.load(self.network)
        epsilon = epsilon_at(self.config, self.games + after)
        return self._table.play(self._runner, epsilon, self._playing)

    def _learn(self, played: Round) -> None:
        """Keep a round, and make the updates that are due."""
        config, buffer = self.config, self._buffer
        records = transitions(played, config, buffer.records.dtype, self.game.max_plies)
        places = buffer.add(records)
        if self._priorities is not None:
            self._priorities.add(places)
        count = len(played.lengths)
        if config.games_per_update is not None:
            self._owed += count / config.games_per_update
        elif buffer.added >= config.warm_up:
            self._owed += len(records) * config.replay_ratio / config.batch_size
        while self._owed >= 1 and buffer.added >= config.warm_up:
            self._owed -= 1
            self._window.add_loss(self._update())
        self._window.add_round(played)
        self.games += count

    def _update(self) -> float:
        config, buffer, rng = self.config, self._buffer, self._learning
        weights = None
        if self._priorities is None:
            places = buffer.draw(config.batch_size, rng)
        else:
            places = self._priorities.draw(config.batch_size, rng)
            weights = self._priorities.weights(places, len(buffer), config.beta)
        batch = buffer.batch(places)
        if config.augment and len(self._encoder.symmetries) > 1:
            which = int(rng.integers(len(self._encoder.symmetries)))
            batch = batch.mapped(self._encoder.symmetries[which])
        loss, errors = self.learner.update(batch, weights, self.games / config.games)
        if self._priorities is not None:
            self._priorities.update(places, errors)
        return float(loss)

    def _measure(self) -> None:
        """Write down how it goes, and evaluate, when it is time."""
        config, before = self.config, self.games - self._window.last
        if self.games // config.log_every > before // config.log_every or self.finished:
            evaluated = self.games // config.evaluate_every > before // config.evaluate_every
            self._log(evaluated or self.finished)

    def _log(self, evaluated: bool = True) -> None:
        """Add a row of metrics."""
        values = self._window.summary() | {"epsilon": epsilon_at(self.config, self.games)}
        self._window = _Window()
        if evaluated:
            values |= self._evaluate()
        self.metrics.add(self.games, seconds=round(self.seconds, 1), **values)

    def _evaluate(self) -> dict[str, float]:
        """Play test games; keep the network if it is the best so far."""
        config, values = self.config, {}
        self._tester.update(self.network)
        for number, opponent in enumerate(opponents(config)):
            seed = config.seed + 1  # the same games each time
            rated, _ = evaluate(self.game, self._tester, opponent, config.evaluate_games, seed)
            for one in rated:
                values[f"{opponent}__{one['seat']}"] = one["win_rate"]
            if number == 0:
                seats = [one for one in rated if config.seat in ("both", one["seat"])]
                rate = sum(one["win_rate"] for one in seats) / len(seats)
                if rate >= self.best.get("win_rate", -1):  # of equal ones, the longest trained
                    self.best = {"win_rate": rate, "games": self.games}
                    self.save_network("best")
        return values


class _Window:
    """Sums since the last row of metrics.

    Attributes:
        last: games of the last round.
    """

    def __init__(self) -> None:
        self.last = 0
        self.games = self.plies = self.updates = 0
        self.loss = 0.0
        self.wins, self.played = [0, 0], [0, 0]  # by seat

    def add_round(self, played: Round) -> None:
        self.last = len(played.lengths)
        self.games += self.last
        self.plies += int(played.lengths.sum())
        for seat in range(2):
            wins, count = played.wins(seat)
            self.wins[seat] += wins
            self.played[seat] += count

    def add_loss(self, loss: float) -> None:
        self.updates += 1
        self.loss += loss

    def summary(self) -> dict[str, float | int | None]:
        wins, played = self.wins, self.played
        return {
            "training__first": wins[0] / played[0] if played[0] else None,
            "training__second": wins[1] / played[1] if played[1] else None,
            "plies": self.plies / self.games if self.games else None,
            "loss": self.loss / self.updates if self.updates else None,
            "updates": self.updates,
        }


def opponents(config: Config) -> tuple[str, ...]:
    """Return the spec strings of those it is evaluated against."""
    trained_with = "random" if config.opponent == "self" else config.opponent
    return config.evaluate_against or (trained_with,)


def epsilon_at(config: Config, games: int) -> float:
    """Return the probability of random moves after so many games."""
    falling = max(config.epsilon_games * config.games, 1)
    share = min(games / falling, 1.0)
    return config.epsilon + (config.final_epsilon - config.epsilon) * share


def _first_network(config: Config, game: Game) -> QNetwork:
    if config.start_from is not None:
        network = load_q_network(game, find_weights(config.start_from, "dqn"))
        if network.config != config.network:
            raise ValueError(
                f"start_from={config.start_from} is another network: {network.config}, "
                f"not {config.network}"
            )
        return network
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return make_q_network(config.network, game)


def _result(coming: "Future[Round] | None") -> Round | None:
    return None if coming is None else coming.result()
