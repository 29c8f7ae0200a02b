"""A run of actor-critic learning: what is played, learned and measured in its rounds."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.ac_network import ACNetwork, load_ac_network, make_ac_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult
from ludoteca.train.actor_critic.actors import ActorCriticActor
from ludoteca.train.actor_critic.config import LIMITS, ActorCriticConfig
from ludoteca.train.actor_critic.learner import ActorCriticLearner, Batch
from ludoteca.train.actor_critic.metric_sums import MetricSums
from ludoteca.train.actor_critic.minibatches import RolloutMinibatches
from ludoteca.train.actor_critic.rollout import ActorCriticRollout, advantages
from ludoteca.train.auto_settings import fit_to_run
from ludoteca.train.learner import first_network
from ludoteca.train.loop import RLTraining
from ludoteca.train.replay import Packing
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix
from ludoteca.train.torch_random import TorchStream

CERTAIN = 0.95  # probability


class ActorCriticTraining(RLTraining):
    """A run of actor-critic learning, which can be interrupted at any time.

    Attributes:
        encoder: what the network sees.
        league: who plays.
        tester: runs the network that is tested.
        sums: what was seen since the last row of metrics.
    """

    round: ClassVar[type[ActorCriticRollout]] = ActorCriticRollout
    kind = "ac"
    config: ActorCriticConfig
    learner: ActorCriticLearner

    def __init__(self, config: ActorCriticConfig, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings, or a setting makes no sense.
        """
        game = make_game(config.game)
        config = fit_to_run(config, game, LIMITS)
        self.encoder = SeatEncoder(game, config.network.view)
        network = first_network(
            config,
            "ac",
            lambda file: load_ac_network(game, file),
            lambda: make_ac_network(config.network, game),
        )
        super().__init__(config, game)
        sure = replace(config, precision=self.precision)
        self._packing = Packing(self.encoder.shape, self.encoder.scale == 1)
        self.learner = ActorCriticLearner(network, sure, self.encoder.scale)
        self.league = ActorCriticActor(network, self.encoder, sure, self.monitor)
        self.player = self.league
        self.actors = self.league.actors
        self.tester = Runner(network, self.encoder.scale, config.device, self.precision)
        self.sums = MetricSums()
        self._decisions: RolloutMinibatches | None = None  # those that are learned from
        self._dropout = TorchStream(config.device)
        self.begin(tensorboard)

    def play(self, games: int) -> ActorCriticRollout:
        """Play a round."""
        return self.league.play(self.playing, games)

    def reload(self, network: ACNetwork) -> None:
        """Give the league the weights that it has had before."""
        self.league.reload(network)

    def keep(self, played: ActorCriticRollout) -> None:
        """Draw the order in which the decisions of a round are learned from."""
        self.begin_pass([played])
        self.sums.add_round(played)

    def begin_pass(self, rounds: list[ActorCriticRollout]) -> None:
        """Let each decision of some rounds be learned from `replay_ratio` times, on average."""
        config, rng, ratio = self.config, self.learning, self.config.replay_ratio
        self._dropout.seed(int(rng.integers(2**62)))
        gains = self._advantages(rounds)
        total = sum(len(one) for one in gains)
        passes = [rng.permutation(total) for _ in range(int(np.ceil(ratio)))]
        order = np.concatenate(passes)[: round(total * ratio)]
        if config.confident_fraction < 1:
            # By the position alone: by the action drawn, unlikely ones would count too much.
            certain = np.concatenate([one.peaks for one in rounds])[order] >= CERTAIN
            order = order[~certain | (rng.random(len(order)) < config.confident_fraction)]
        count = max(1, round(len(order) / config.batch_size))
        self._decisions = RolloutMinibatches(rounds, gains, order, count)

    def _advantages(self, rounds: list[ActorCriticRollout]) -> list[NDArray[np.float32]]:
        return [advantages(one, self.config.gamma, self.config.gae_lambda) for one in rounds]

    @property
    def due(self) -> int:
        """The number of updates that are due."""
        return self._decisions.left if self._decisions is not None else 0

    def update(self) -> None:
        """Learn from the next batch of decisions."""
        config, decisions = self.config, self._decisions
        assert decisions is not None
        batches = [
            self._batch(decisions.rounds[k], decisions.advantages[k], chosen)
            for k, chosen in decisions.draw()
        ]
        batch = Batch(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))
        if config.method == "ppo":
            gains = (batch.advantages - decisions.mean) / decisions.spread
            batch = batch._replace(advantages=gains)
        with self._dropout.drawing():
            losses = self.learner.update(batch, self.games / config.games)
        self.sums.add_losses(losses)

    def conclude(self, played: ActorCriticRollout) -> None:
        """Forget the decisions of a round that was learned from."""
        self._decisions = None

    def _batch(
        self, played: ActorCriticRollout, gains: NDArray[np.float32], chosen: NDArray[np.int64]
    ) -> Batch:
        """Return some decisions of a round, under a random symmetry of the game."""
        planes = self._packing.unpack(played.planes[chosen])
        masks, actions = played.masks[chosen], played.actions[chosen].astype(np.int64)
        symmetries = self.encoder.symmetries
        if self.config.augment and len(symmetries) > 1:
            symmetry = symmetries[int(self.learning.integers(len(symmetries)))]
            planes, masks = symmetry.observation(planes), symmetry.policy(masks)
            actions = symmetry.actions[actions]
        targets = np.clip(gains[chosen] + played.values[chosen], -1, 1)
        return Batch(planes, masks, actions, played.chances[chosen], gains[chosen], targets)

    def summary(self) -> dict[str, float | int | None]:
        """Return lengths and losses since the last summary."""
        values = self.sums.summary(self.learner.updates)
        self.sums = MetricSums()
        return values

    def opponents(self) -> tuple[str, ...]:
        """Return those of the settings."""
        return self.config.eval_opponents

    def candidate(self) -> SeatNetworkAgent:
        """Return the network as it is now as an agent that plays what it thinks best."""
        self.tester.load(self.network)
        agent = SeatNetworkAgent(self.encoder, self.tester)
        agent.set_search(**self.searching())
        return agent

    def searching(self) -> dict[str, Any]:
        """Return how the network searches when it is tested, as `set_search` takes it: not."""
        return {"simulations": 0}

    def strength(self, matches: list[MatchResult]) -> float:
        """Return the mean score against all opponents."""
        return float(np.mean([match.totals[0].score for match in matches]))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `restore` needs."""
        arrays = with_prefix("learner", self.learner.state()) | with_prefix(
            "league", self.league.state()
        )
        if self._decisions is not None:
            arrays |= with_prefix("decisions", self._decisions.state())
            arrays |= with_prefix("dropout", self._dropout.state())
        return {"sums": vars(self.sums)}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from where `state` was taken."""
        vars(self.sums).update(numbers["sums"])
        self.learner.restore(without_prefix("learner", arrays))
        self.league.restore(without_prefix("league", arrays), self.network)
        if self.in_learning is not None:
            self.resume_pass([self.in_learning], arrays)

    def resume_pass(self, rounds: list[ActorCriticRollout], arrays: Arrays) -> None:
        """Resume the pass over some rounds that was under way when the state was taken."""
        decisions = without_prefix("decisions", arrays)
        if decisions:
            count, left = (int(number) for number in decisions["place"])
            gains = self._advantages(rounds)
            self._decisions = RolloutMinibatches(rounds, gains, decisions["order"], count, left)
            self._dropout.restore(without_prefix("dropout", arrays))
