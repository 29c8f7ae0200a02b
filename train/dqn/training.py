"""Training run of deep Q-learning."""

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
    """Run of deep Q-learning."""

    rollout_class = DQNRollout
    kind = "dqn"
    config: DQNConfig
    learner: DQNLearner

    def __init__(self, config: DQNConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`.

        Raises:
            ValueError: if `run_dir` holds a run with other settings, or a setting is invalid.
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
        # Invalid settings do not create `run_dir`.
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
        self._pending_updates = 0.0
        self._sums = _MetricSums()
        self.begin(tensorboard)
        self._tester = QNetworkAgent(game, self.network, 0.0, config.device, self.precision)

    def play(self, games: int) -> DQNRollout:
        """Collect a rollout after `games` games."""
        rollout: DQNRollout = self.player.play(self.playing, games)
        return rollout

    def add_rollout(self, rollout: DQNRollout) -> None:
        """Add a rollout to the replay buffer; its size determines the pending updates."""
        config, buffer = self.config, self._buffer
        records = transitions(rollout, config, buffer.records.dtype, self.game.max_plies)
        places = buffer.add(records)
        if self._priorities is not None:
            self._priorities.add(places)
        if config.games_per_update is not None:
            self._pending_updates += len(rollout.lengths) / config.games_per_update
        elif buffer.added >= config.learning_starts:
            self._pending_updates += len(records) * config.replay_ratio / config.batch_size
        self._sums.add_round(rollout)

    @property
    def due(self) -> int:
        """The number of pending updates."""
        return (
            int(self._pending_updates) if self._buffer.added >= self.config.learning_starts else 0
        )

    def update(self) -> None:
        """Make one pending update."""
        self._pending_updates -= 1
        self._sums.add_loss(self._update())

    def _update(self) -> float:
        config, buffer, rng = self.config, self._buffer, self.learning
        weights = None
        if self._priorities is None:
            places = buffer.sample(config.batch_size, rng)
        else:
            places = self._priorities.sample(config.batch_size, rng)
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
        values = self._sums.summary() | {"epsilon": epsilon_at(self.config, self.games)}
        self._sums = _MetricSums()
        return values

    def opponents(self) -> tuple[str, ...]:
        """Return `eval_opponents`; by default the training opponent, or random moves."""
        config = self.config
        trained_with = "random" if config.opponent == "self" else config.opponent
        return config.eval_opponents or (trained_with,)

    def candidate(self) -> QNetworkAgent:
        """Return an agent with the current network."""
        self._tester.update(self.network)
        return self._tester

    def strength(self, matches: list[MatchResult]) -> float:
        """Return the win rate against the first opponent, in the seats of `agent_seat`."""
        rated = rate_seats(matches[0])
        rates = [
            one["win_rate"] for one in rated if self.config.agent_seat in ("both", one["seat"])
        ]
        return float(sum(rates) / len(rates))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state, for `restore`."""
        arrays = with_prefix("learner", self.learner.state()) | with_prefix(
            "buffer", self._buffer.state()
        )
        if self._priorities is not None:
            arrays |= with_prefix("priorities", self._priorities.state())
        return {"pending_updates": self._pending_updates, "sums": vars(self._sums)}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        self._pending_updates = numbers["pending_updates"]
        vars(self._sums).update(numbers["sums"])
        self.learner.restore(without_prefix("learner", arrays))
        self._buffer.restore(without_prefix("buffer", arrays))
        if self._priorities is not None:
            self._priorities.restore(without_prefix("priorities", arrays))


class _MetricSums:
    """Sums of metrics since the last row."""

    def __init__(self) -> None:
        self.games = self.plies = self.updates = 0
        self.loss = 0.0
        self.wins, self.rollout = [0, 0], [0, 0]  # by seat

    def add_round(self, rollout: DQNRollout) -> None:
        self.games += len(rollout.lengths)
        self.plies += int(rollout.lengths.sum())
        for seat in range(2):
            wins, count = rollout.wins(seat)
            self.wins[seat] += wins
            self.rollout[seat] += count

    def add_loss(self, loss: float) -> None:
        self.updates += 1
        self.loss += loss

    def summary(self) -> dict[str, float | int | None]:
        wins, rollout = self.wins, self.rollout
        return {
            "training__first": wins[0] / rollout[0] if rollout[0] else None,
            "training__second": wins[1] / rollout[1] if rollout[1] else None,
            "plies": self.plies / self.games if self.games else None,
            "loss": self.loss / self.updates if self.updates else None,
            "updates": self.updates,
        }
