"""Training run of actor-critic learning."""

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

CONFIDENT_PROB = 0.95  # probability of an action in a confident decision


class ActorCriticTraining(RLTraining):
    """Actor-critic run: PPO, and the steps shared by its methods.

    Attributes:
        encoder: encodes observations.
        actor: self-play actor with the opponent pool.
        tester: runs the network in evaluations.
        sums: sums of metrics since the last row.
    """

    rollout_class: ClassVar[type[ActorCriticRollout]] = ActorCriticRollout
    kind = "ac"
    config: ActorCriticConfig
    learner: ActorCriticLearner

    def __init__(self, config: ActorCriticConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`.

        Raises:
            ValueError: if `run_dir` holds a run with other settings, or a setting is invalid.
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
        self.actor = ActorCriticActor(network, self.encoder, sure, self.monitor)
        self.player = self.actor
        self.actors = self.actor.actors
        self.tester = Runner(network, self.encoder.scale, config.device, self.precision)
        self.sums = MetricSums()
        self._minibatches: RolloutMinibatches | None = None  # with pending updates
        self._dropout = TorchStream(config.device)
        self.begin(tensorboard)

    def play(self, games: int) -> ActorCriticRollout:
        """Collect a rollout."""
        return self.actor.play(self.playing, games)

    def reload(self, network: ACNetwork) -> None:
        """Load earlier weights into the actor."""
        self.actor.reload(network)

    def add_rollout(self, rollout: ActorCriticRollout) -> None:
        """Sample the minibatches of a rollout."""
        self.begin_epochs([rollout])
        self.sums.add_round(rollout)

    def begin_epochs(self, rollouts: list[ActorCriticRollout]) -> None:
        """Sample minibatches that contain each decision `replay_ratio` times, on average."""
        config, rng, ratio = self.config, self.learning, self.config.replay_ratio
        self._dropout.seed(int(rng.integers(2**62)))
        advantages_ = self._advantages(rollouts)
        total = sum(len(one) for one in advantages_)
        passes = [rng.permutation(total) for _ in range(int(np.ceil(ratio)))]
        order = np.concatenate(passes)[: round(total * ratio)]
        if config.confident_fraction < 1:
            # By the policy alone: by the sampled action, unlikely actions would weigh too much.
            confident = np.concatenate([one.max_probs for one in rollouts])[order] >= CONFIDENT_PROB
            order = order[~confident | (rng.random(len(order)) < config.confident_fraction)]
        count = max(1, round(len(order) / config.batch_size))
        self._minibatches = RolloutMinibatches(rollouts, advantages_, order, count)

    def _advantages(self, rollouts: list[ActorCriticRollout]) -> list[NDArray[np.float32]]:
        return [advantages(one, self.config.gamma, self.config.gae_lambda) for one in rollouts]

    @property
    def due(self) -> int:
        """The number of pending updates."""
        return self._minibatches.left if self._minibatches is not None else 0

    def update(self) -> None:
        """Make an update from the next minibatch."""
        config, minibatches = self.config, self._minibatches
        assert minibatches is not None
        batches = [
            self._batch(minibatches.rollouts[k], minibatches.advantages[k], chosen)
            for k, chosen in minibatches.next_batch()
        ]
        batch = Batch(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))
        if config.method == "ppo":
            advantages_ = (batch.advantages - minibatches.mean) / minibatches.std
            batch = batch._replace(advantages=advantages_)
        with self._dropout.drawing():
            losses = self.learner.update(batch, self.games / config.games)
        self.sums.add_losses(losses)

    def finish_rollout(self, rollout: ActorCriticRollout) -> None:
        """Drop the minibatches of a rollout."""
        self._minibatches = None

    def _batch(
        self,
        rollout: ActorCriticRollout,
        advantages_: NDArray[np.float32],
        chosen: NDArray[np.int64],
    ) -> Batch:
        """Return some decisions of a rollout, under a random symmetry of the game."""
        planes = self._packing.unpack(rollout.planes[chosen])
        masks, actions = rollout.masks[chosen], rollout.actions[chosen].astype(np.int64)
        symmetries = self.encoder.symmetries
        if self.config.augment and len(symmetries) > 1:
            symmetry = symmetries[int(self.learning.integers(len(symmetries)))]
            planes, masks = symmetry.observation(planes), symmetry.policy(masks)
            actions = symmetry.actions[actions]
        targets = np.clip(advantages_[chosen] + rollout.values[chosen], -1, 1)
        return Batch(planes, masks, actions, rollout.probs[chosen], advantages_[chosen], targets)

    def summary(self) -> dict[str, float | int | None]:
        """Return lengths and losses since the last summary."""
        values = self.sums.summary(self.learner.updates)
        self.sums = MetricSums()
        return values

    def opponents(self) -> tuple[str, ...]:
        """Return `eval_opponents` of the settings."""
        return self.config.eval_opponents

    def candidate(self) -> SeatNetworkAgent:
        """Return an agent that plays the best action of the current network."""
        self.tester.load(self.network)
        agent = SeatNetworkAgent(self.encoder, self.tester)
        agent.set_search(**self.searching())
        return agent

    def searching(self) -> dict[str, Any]:
        """Return the search options in evaluations, for `search_by`: no search."""
        return {"simulations": 0}

    def strength(self, matches: list[MatchResult]) -> float:
        """Return the mean score over all opponents."""
        return float(np.mean([match.totals[0].score for match in matches]))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state, for `restore`."""
        arrays = with_prefix("learner", self.learner.state()) | with_prefix(
            "league", self.actor.state()
        )
        if self._minibatches is not None:
            arrays |= with_prefix("decisions", self._minibatches.state())
            arrays |= with_prefix("dropout", self._dropout.state())
        return {"sums": vars(self.sums)}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Restore a state."""
        vars(self.sums).update(numbers["sums"])
        self.learner.restore(without_prefix("learner", arrays))
        self.actor.restore(without_prefix("league", arrays), self.network)
        if self.learning_rollout is not None:
            self.resume_epochs([self.learning_rollout], arrays)

    def resume_epochs(self, rollouts: list[ActorCriticRollout], arrays: Arrays) -> None:
        """Restore the minibatches of some rollouts."""
        minibatches = without_prefix("decisions", arrays)
        if minibatches:
            count, left = (int(number) for number in minibatches["place"])
            advantages_ = self._advantages(rollouts)
            self._minibatches = RolloutMinibatches(
                rollouts, advantages_, minibatches["order"], count, left
            )
            self._dropout.restore(without_prefix("dropout", arrays))
