"""Training run of AlphaZero."""

from dataclasses import replace
from typing import Any

import numpy as np

from ludoteca.agents.alphazero import PolicyValueAgent, load_pv_network
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.pv_network import PVNetwork, make_pv_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.alphazero.actors import AlphaZeroLocalActor, SelfPlayActor, make_actors
from ludoteca.train.alphazero.config import LIMITS, AlphaZeroConfig
from ludoteca.train.alphazero.gatekeeper import Gatekeeper
from ludoteca.train.alphazero.learner import AlphaZeroLearner
from ludoteca.train.alphazero.rollout import AlphaZeroRollout, examples
from ludoteca.train.auto_settings import fit_to_run
from ludoteca.train.learner import first_network
from ludoteca.train.loop import RLTraining
from ludoteca.train.replay import Packing, RingBuffer
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix


class AlphaZeroTraining(RLTraining):
    """Run of AlphaZero."""

    rollout_class = AlphaZeroRollout
    kind = "az"
    config: AlphaZeroConfig
    learner: AlphaZeroLearner

    def __init__(self, config: AlphaZeroConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`.

        Raises:
            ValueError: if `run_dir` holds a run with other settings, or a setting is invalid.
        """
        game = make_game(config.game)
        encoder = Encoder(game)
        config = fit_to_run(config, game, LIMITS)
        network = first_network(
            config,
            "az",
            lambda file: load_pv_network(game, file),
            lambda: make_pv_network(config.network, game),
        )
        super().__init__(config, game)
        self._encoder = encoder
        self._packing = Packing(encoder.shape, game.observation_high == 1)
        record = [
            ("planes", np.uint8, (self._packing.size,)),
            ("policy", np.float16, (game.num_actions,)),
            ("value", np.float32),
        ]
        self._buffer = RingBuffer(config.buffer_size, np.dtype(record))
        scale = 1 / game.observation_high
        sure = replace(config, precision=self.precision)
        self.learner = AlphaZeroLearner(network, sure, scale)
        player: SelfPlayActor
        if config.has_actors:
            player = self.actors = make_actors(sure, scale, self.monitor)
        else:
            player = AlphaZeroLocalActor(network, encoder, sure, self.monitor)
        gated = config.gating_interval > 0
        if gated:
            player.load(network)
        self._gatekeeper = Gatekeeper(player, game, network, sure, self.monitor) if gated else None
        self.player = self._gatekeeper or player
        self._tester = Runner(network, scale, config.device, self.precision)
        self._pending_updates = 0.0
        self._sums = _MetricSums()
        self.begin(tensorboard)

    def play(self, games: int) -> AlphaZeroRollout:
        """Collect a rollout of self-play."""
        rollout: AlphaZeroRollout = self.player.play(self.playing, games)
        return rollout

    def reload(self, network: PVNetwork) -> None:
        """Load earlier weights into the player; a gatekeeper stores them itself."""
        if self._gatekeeper is not None:
            self._gatekeeper.reload()
        else:
            self.player.load(network)

    def add_rollout(self, rollout: AlphaZeroRollout) -> None:
        """Add a rollout to the replay buffer; its size determines the pending updates."""
        config, buffer = self.config, self._buffer
        records = examples(rollout, config.outcome_weight, buffer.records.dtype)
        buffer.add(records)
        if buffer.added >= config.learning_starts:
            self._pending_updates += len(records) * config.replay_ratio / config.batch_size
        self._sums.add_round(rollout)

    @property
    def due(self) -> int:
        """The number of pending updates."""
        return int(self._pending_updates)

    def update(self) -> None:
        """Make one pending update."""
        self._pending_updates -= 1
        self._sums.add_losses(*self._update())

    def _update(self) -> tuple[float, float]:
        config, rng = self.config, self.learning
        chosen = self._buffer.records[self._buffer.sample(config.batch_size, rng)]
        planes = self._packing.unpack(chosen["planes"])
        policies, values = chosen["policy"].astype(np.float32), chosen["value"].copy()
        if config.augment and len(self._encoder.symmetries) > 1:
            which = int(rng.integers(len(self._encoder.symmetries)))
            symmetry = self._encoder.symmetries[which]
            planes, policies = symmetry.observation(planes), symmetry.policy(policies)
        return self.learner.update(planes, policies, values, self.games / config.games)

    def summary(self) -> dict[str, float | int | None]:
        """Return lengths, results and losses since the last summary."""
        values = self._sums.summary()
        if self._gatekeeper is not None:
            values["candidates_accepted"] = self._gatekeeper.accepted
        self._sums = _MetricSums()
        return values

    def opponents(self) -> tuple[str, ...]:
        """Return `eval_opponents` of the settings."""
        return self.config.eval_opponents

    def candidate(self) -> PolicyValueAgent:
        """Return the current network as an agent that searches."""
        config = self.config
        self._tester.load(self.network)
        return PolicyValueAgent(
            self.game,
            self._tester,
            config.eval_simulations,
            config.search_rule,
            config.max_num_considered_actions,
            solver_empties=config.solver_empties,
        )

    def strength(self, matches: list[MatchResult]) -> float:
        """Return the mean score against the last opponent."""
        return matches[-1].totals[0].score

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state, for `restore`."""
        arrays = with_prefix("learner", self.learner.state()) | with_prefix(
            "buffer", self._buffer.state()
        )
        if self._gatekeeper is not None:
            arrays |= with_prefix("gatekeeper", self._gatekeeper.state())
        return {"pending_updates": self._pending_updates, "sums": vars(self._sums)}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        self._pending_updates = numbers["pending_updates"]
        vars(self._sums).update(numbers["sums"])
        self.learner.restore(without_prefix("learner", arrays))
        self._buffer.restore(without_prefix("buffer", arrays))
        if self._gatekeeper is not None:
            self._gatekeeper.restore(without_prefix("gatekeeper", arrays), self.network)


class _MetricSums:
    """Sums of metrics since the last row."""

    def __init__(self) -> None:
        self.games = self.plies = self.updates = self.first_wins = self.draws = 0
        self.policy_loss = self.value_loss = 0.0

    def add_round(self, rollout: AlphaZeroRollout) -> None:
        self.games += len(rollout.lengths)
        self.plies += int(rollout.lengths.sum())
        self.first_wins += int((rollout.returns > 0).sum())
        self.draws += int((rollout.returns == 0).sum())

    def add_losses(self, policy: float, value: float) -> None:
        self.updates += 1
        self.policy_loss += policy
        self.value_loss += value

    def summary(self) -> dict[str, float | int | None]:
        return {
            "training__first": self.first_wins / self.games if self.games else None,
            "training__draws": self.draws / self.games if self.games else None,
            "plies": self.plies / self.games if self.games else None,
            "policy_loss": self.policy_loss / self.updates if self.updates else None,
            "value_loss": self.value_loss / self.updates if self.updates else None,
            "updates": self.updates,
        }
