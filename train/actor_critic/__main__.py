"""Actor-critic learning for simultaneous games, such as Hungry Geese and Tron.

One network plays all seats, against itself and an opponent pool of agents and past networks. It
learns by proximal policy optimization (PPO) or, with `--method search`, by imitation of searches.
Preset `uib2021` is the loop of Martín Miralles, "Hungry Geese" (UIB, 2021), section 5. An
interrupted run resumes, with the same result, when the same command is given again.
"""

import sys
from collections.abc import Sequence
from typing import Any

from ludoteca.agents.actor_critic import ActorCriticAgent
from ludoteca.train.actor_critic.config import DEFAULT, UIB2021, ActorCriticConfig
from ludoteca.train.actor_critic.methods import make_training
from ludoteca.train.actor_critic.training import ActorCriticTraining
from ludoteca.train.command import parse_preset, run_command, train
from ludoteca.train.report import ReportSubject

NAME = "ludoteca.train.actor_critic"

PRESETS = {
    "default": ("PPO", DEFAULT),
    "uib2021": ('the loop of Martín Miralles, "Hungry Geese" (UIB, 2021), section 5', UIB2021),
}


def main(config: ActorCriticConfig) -> dict[str, Any] | None:
    """Train, evaluate the selected network, and write the report.

    Returns:
        Contents of `results.json`, or None if the time limit came first.
    """
    return train(make_training(config), _subject)


def _subject(training: ActorCriticTraining) -> ReportSubject:
    config = training.config
    searching = training.searching()
    simulations = searching["simulations"]
    how = f"searches with {simulations} simulations" if simulations else "does not search"
    return ReportSubject(
        title="Actor-critic",
        agent=ActorCriticAgent(
            training.game,
            config.run_dir / "best.safetensors",
            device=config.device,
            **searching,
        ),
        opponents=training.opponents(),
        partner="itself and a league" if config.opponent_pool_prob else "itself",
        seat="any",
        losses=("policy_loss", "value_loss"),
        plays=f"The network {how}, and takes the action that it then thinks best.",
    )


def parse(arguments: Sequence[str]) -> ActorCriticConfig:
    """Parse a command line: an optional preset, and changed settings."""
    return parse_preset(NAME, __doc__, PRESETS, arguments)


if __name__ == "__main__":
    run_command(NAME, lambda: main(parse(sys.argv[1:])))
