"""A run of AlphaZero: what is played, kept, learned and measured in its rounds."""

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
    """A run of AlphaZero, which can be interrupted at any time."""

    round = AlphaZeroRollout
    kind = "az"
    config: AlphaZeroConfig
    learner: AlphaZeroLearner

    def __init__(self, config: AlphaZeroConfig, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings, or a setting makes no sense.
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
        self._window = RingBuffer(config.buffer_size, np.dtype(record))
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
        self._gate = Gatekeeper(player, game, network, sure, self.monitor) if gated else None
        self.player = self._gate or player
        self._tester = Runner(network, scale, config.device, self.precision)
        self._owed = 0.0  # updates that are due
        self._sums = _Sums()
        self.begin(tensorboard)

    def play(self, games: int) -> AlphaZeroRollout:
        """Play a round of self-play."""
        played: AlphaZeroRollout = self.player.play(self.playing, games)
        return played

    def reload(self, network: PVNetwork) -> None:
        """Give the player weights that it has had before; a gate holds them itself."""
        if self._gate is not None:
            self._gate.reload()
        else:
            self.player.load(network)

    def keep(self, played: AlphaZeroRollout) -> None:
        """Keep a round; updates are due by the number of its positions."""
        config, window = self.config, self._window
        records = examples(played, config.outcome_weight, window.records.dtype)
        window.add(records)
        if window.added >= config.learning_starts:
            self._owed += len(records) * config.replay_ratio / config.batch_size
        self._sums.add_round(played)

    @property
    def due(self) -> int:
        """The number of updates that are due."""
        return int(self._owed)

    def update(self) -> None:
        """Make one of the updates that are due."""
        self._owed -= 1
        self._sums.add_losses(*self._update())

    def _update(self) -> tuple[float, float]:
        config, rng = self.config, self.learning
        chosen = self._window.records[self._window.draw(config.batch_size, rng)]
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
        if self._gate is not None:
            values["candidates_accepted"] = self._gate.passed
        self._sums = _Sums()
        return values

    def opponents(self) -> tuple[str, ...]:
        """Return those of the settings."""
        return self.config.eval_opponents

    def candidate(self) -> PolicyValueAgent:
        """Return the network as it is now as an agent that searches."""
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
        """Return what `restore` needs."""
        arrays = with_prefix("learner", self.learner.state()) | with_prefix(
            "window", self._window.state()
        )
        if self._gate is not None:
            arrays |= with_prefix("gate", self._gate.state())
        return {"owed": self._owed, "sums": vars(self._sums)}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Go on from where `state` was taken."""
        self._owed = numbers["owed"]
        vars(self._sums).update(numbers["sums"])
        self.learner.restore(without_prefix("learner", arrays))
        self._window.restore(without_prefix("window", arrays))
        if self._gate is not None:
            self._gate.restore(without_prefix("gate", arrays), self.network)


class _Sums:
    """Sums since the last row of metrics."""

    def __init__(self) -> None:
        self.games = self.plies = self.updates = self.first_wins = self.draws = 0
        self.policy_loss = self.value_loss = 0.0

    def add_round(self, played: AlphaZeroRollout) -> None:
        self.games += len(played.lengths)
        self.plies += int(played.lengths.sum())
        self.first_wins += int((played.returns > 0).sum())
        self.draws += int((played.returns == 0).sum())

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
