"""Actor-critic by self-play, where all move at once: Hungry Geese, Tron.

`python -m ludoteca.train.actor_critic` learns by proximal policy optimization, one network in all
seats, against itself, a league of agents and its own past; with `--method search`, from searches.
With `uib2021` it does what Martín Miralles, "Hungry Geese" (UIB, 2021), section 5, describes. All
settings can be changed; the defaults below are those of the preset. An interrupted run resumes, to
the same result, when the same command is given again.
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
    """Train, evaluate the network that is kept, and write the report.

    Returns:
        What is in `results.json`, or None if time was up before.
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
    """Read a command line: a preset, `modern` if none is named, and settings that differ."""
    return parse_preset(NAME, __doc__, PRESETS, arguments)


if __name__ == "__main__":
    run_command(NAME, lambda: main(parse(sys.argv[1:])))
