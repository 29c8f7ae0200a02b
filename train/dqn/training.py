"""A run of deep Q-learning: what is played, kept, learned and measured in its rounds."""

from dataclasses import replace
from typing import Any

from ludoteca.agents.dqn import QNetworkAgent, load_q_network
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.q_network import make_q_network
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.actors import MultiprocessActor
from ludoteca.train.auto_settings import fit_to_run
from ludoteca.train.dqn.actors import DQNActorWorker, DQNLocalActor, epsilon_at
from ludoteca.train.dqn.config import LIMITS, DQNConfig
from ludoteca.train.dqn.learner import DQNLearner
from ludoteca.train.dqn.rollout import DQNRollout
from ludoteca.train.dqn.transitions import transitions
from ludoteca.train.evaluation import rate_seats
from ludoteca.train.learner import first_network
from ludoteca.train.loop import RLTraining
from ludoteca.train.replay import ReplayBuffer
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix
from ludoteca.train.sum_tree import SumTree


class DQNTraining(RLTraining):
    """A run of deep Q-learning, which can be interrupted at any time."""

    round = DQNRollout
    kind = "dqn"
    config: DQNConfig
    learner: DQNLearner

    def __init__(self, config: DQNConfig, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings, or a setting makes no sense.
        """
        game = make_game(config.game)
        encoder = Encoder(game)
        config = fit_to_run(config, game, LIMITS)
        if config.opponent != "self":
            make_agent(config.opponent, game)
        network = first_network(
            config,
            "dqn",
            lambda file: load_q_network(game, file),
            lambda: make_q_network(config.network, game),
        )
        # Settings that make no sense leave no folder behind.
        super().__init__(config, game)
        self._encoder = encoder
        binary = game.observation_high == 1
        self._buffer = ReplayBuffer(config.buffer_size, encoder.shape, game.num_actions, binary)
        self._priorities = (
            SumTree(config.buffer_size, config.prioritized_replay_alpha)
            if config.prioritized_replay
            else None
        )
        scale = 1 / game.observation_high
        sure = replace(config, precision=self.precision)
        self.learner = DQNLearner(network, sure, scale)
        if config.has_actors:
            self.player = self.actors = MultiprocessActor(sure, DQNActorWorker, scale, self.monitor)
        else:
            self.player = DQNLocalActor(network, encoder, sure, self.monitor)
        self._owed = 0.0  # updates that are due
        self._window = _Window()
        self.begin(tensorboard)
        self._tester = QNetworkAgent(game, self.network, 0.0, config.device, self.precision)

    def play(self, games: int) -> DQNRollout:
        """Play a round, which begins after `games` games."""
        played: DQNRollout = self.player.play(self.playing, games)
        return played

    def keep(self, played: DQNRollout) -> None:
        """Keep a round; updates are due by the number of its games or positions."""
        config, buffer = self.config, self._buffer
        records = transitions(played, config, buffer.records.dtype, self.game.max_plies)
        places = buffer.add(records)
        if self._priorities is not None:
            self._priorities.add(places)
        if config.games_per_update is not None:
            self._owed += len(played.lengths) / config.games_per_update
        elif buffer.added >= config.learning_starts:
            self._owed += len(records) * config.replay_ratio / config.batch_size
        self._window.add_round(played)

    @property
    def due(self) -> int:
        """The number of updates that are due."""
        return int(self._owed) if self._buffer.added >= self.config.learning_starts else 0

    def update(self) -> None:
        """Make one of the updates that are due."""
        self._owed -= 1
        self._window.add_loss(self._update())

    def _update(self) -> float:
        config, buffer, rng = self.config, self._buffer, self.learning
        weights = None
        if self._priorities is None:
            places = buffer.draw(config.batch_size, rng)
        else:
            places = self._priorities.draw(config.batch_size, rng)
            weights = self._priorities.weights(places, len(buffer), config.prioritized_replay_beta)
        batch = buffer.batch(places)
        if config.augment and len(self._encoder.symmetries) > 1:
            which = int(rng.integers(len(self._encoder.symmetries)))
            batch = batch.mapped(self._encoder.symmetries[which])
        loss, errors = self.learner.update(batch, weights, self.games / config.games)
        if self._priorities is not None:
            self._priorities.update(places, errors)
        return float(loss)

    def summary(self) -> dict[str, float | int | None]:
        """Return wins, lengths and losses since the last summary."""
        values = self._window.summary() | {"epsilon": epsilon_at(self.config, self.games)}
        self._window = _Window()
        return values

    def opponents(self) -> tuple[str, ...]:
        """Return those of the settings; by default the one it trains with, or random moves."""
        config = self.config
        trained_with = "random" if config.opponent == "self" else config.opponent
        return config.eval_opponents or (trained_with,)

    def candidate(self) -> QNetworkAgent:
        """Return the network as it is now as an agent."""
        self._tester.update(self.network)
        return self._tester

    def strength(self, matches: list[MatchResult]) -> float:
        """Return the share of wins against the first opponent, in the seats it trains for."""
        rated = rate_seats(matches[0])
        rates = [
            one["win_rate"] for one in rated if self.config.agent_seat in ("both", one["seat"])
        ]
        return float(sum(rates) / len(rates))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `restore` needs."""
        arrays = with_prefix("learner", self.learner.state()) | with_prefix(
            "buffer", self._buffer.state()
        )
        if self._priorities is not None:
            arrays |= with_prefix("priorities", self._priorities.state())
        return {"owed": self._owed, "window": vars(self._window)}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Go on from where `state` was taken."""
        self._owed = numbers["owed"]
        vars(self._window).update(numbers["window"])
        self.learner.restore(without_prefix("learner", arrays))
        self._buffer.restore(without_prefix("buffer", arrays))
        if self._priorities is not None:
            self._priorities.restore(without_prefix("priorities", arrays))


class _Window:
    """Sums since the last row of metrics."""

    def __init__(self) -> None:
        self.games = self.plies = self.updates = 0
        self.loss = 0.0
        self.wins, self.played = [0, 0], [0, 0]  # by seat

    def add_round(self, played: DQNRollout) -> None:
        self.games += len(played.lengths)
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
