"""The document's loop: a network that has learned from a round is only kept if it beats the last.

Martín Miralles, "Hungry Geese" (UIB, 2021), section 5.1.
"""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.actor_critic import ActorCriticAgent
from ludoteca.agents.networks.runner import Runner
from ludoteca.evaluate.match import play_match
from ludoteca.train.actor_critic.config import Config
from ludoteca.train.actor_critic.rounds import Round, advantages
from ludoteca.train.actor_critic.training import Training
from ludoteca.train.run_folder import Arrays, below, under


class DocumentTraining(Training):
    """A run whose network is that of the last round that improved it.

    Attributes:
        tried: how many networks were put to the test.
        passed: how many of them were kept.
        learn_from: the rounds since then, the last `config.sets`.
    """

    def __init__(self, config: Config, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder; see `Training`."""
        self.tried = self.passed = 0
        self.learn_from: list[Round] = []
        super().__init__(config, tensorboard)
        self._former = Runner(self.network, self.encoder.scale, config.device, self.precision)

    def learn(self, played: Round) -> None:
        """Learn one epoch from the rounds since the network was kept, and keep or drop it."""
        config = self.config
        self.learn_from = [*self.learn_from, played][-config.sets :]
        before = {name: array.copy() for name, array in self.learner.state().items()}
        self._former.load(self.network)
        gains = [advantages(one, config.gamma, config.trace) for one in self.learn_from]
        self.pass_over(self.learn_from, gains, config.replay_ratio)
        self.sums.add_round(played)
        self.tried += 1
        if self._share() > config.gate_share:
            self.passed += 1
            self.learn_from = []
        else:
            # The weights and the optimizer's moments; updates that were made count nevertheless.
            self.learner.restore(before | {"updates": np.array(self.learner.updates)})

    def _share(self) -> float:
        """Return the share of games that the network wins against what it was; draws are halves."""
        self.tester.load(self.network)
        agents = [
            ActorCriticAgent.from_runner(self.encoder, runner, temperature=1.0)
            for runner in (self.tester, self._former)
        ]
        games, seed = self.config.gate_games, self.config.seed + self.tried
        return play_match(self.game, agents, games, seed=seed).totals[0].score

    def summary(self) -> dict[str, float | int | None]:
        """Return what was seen since the last summary, and how often the network was kept."""
        return super().summary() | {"gate_tried": self.tried, "gate_passed": self.passed}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `restore` needs."""
        numbers, arrays = super().state()
        for k, one in enumerate(self.learn_from):
            kept: dict[str, NDArray[Any]] = {f.name: getattr(one, f.name) for f in fields(one)}
            arrays |= under(f"sets/{k}", kept)
        counts = {"tried": self.tried, "passed": self.passed, "sets": len(self.learn_from)}
        return numbers | counts, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Go on from where `state` was taken."""
        super().restore(numbers, arrays)
        self.tried, self.passed = numbers["tried"], numbers["passed"]
        self.learn_from = [Round(**below(f"sets/{k}", arrays)) for k in range(numbers["sets"])]
