"""Deep Q-learning with experience replay (DQN).

Preset `default` adds to DQN: target network, double and dueling Q-networks, n-step returns,
prioritized replay, and masked negamax targets. Preset `tanaka2018` has the settings of Tanaka,
"Inteligencia artificial para o jogo de Hex" (2018). An interrupted run resumes, with the same
result, when the same command is given again.
"""

import sys
from collections.abc import Sequence
from typing import Any

from ludoteca.agents.dqn import DQNAgent
from ludoteca.train.command import parse_preset, run_command, train
from ludoteca.train.dqn.config import DEFAULT, TANAKA2018, DQNConfig
from ludoteca.train.dqn.training import DQNTraining
from ludoteca.train.report import ReportSubject

NAME = "ludoteca.train.dqn"

PRESETS = {
    "default": ("a modern DQN", DEFAULT),
    "tanaka2018": (
        'the settings of Tanaka, "Inteligencia artificial para o jogo de Hex" (2018)',
        TANAKA2018,
    ),
}


def main(config: DQNConfig) -> dict[str, Any] | None:
    """Train, evaluate the selected network, and write the report.

    Returns:
        Contents of `results.json`, or None if the time limit came first.
    """
    return train(DQNTraining(config), _subject)


def _subject(training: DQNTraining) -> ReportSubject:
    config = training.config
    return ReportSubject(
        title="Deep Q-learning",
        agent=DQNAgent(training.game, config.run_dir / "best.safetensors", device=config.device),
        opponents=training.opponents(),
        partner="itself" if config.opponent == "self" else config.opponent,
        seat=config.agent_seat,
        losses=("loss",),
        plays="The network plays the legal move with the highest Q, without search.",
    )


def parse(arguments: Sequence[str]) -> DQNConfig:
    """Parse a command line: an optional preset, and changed settings."""
    return parse_preset(NAME, __doc__, PRESETS, arguments)


if __name__ == "__main__":
    run_command(NAME, lambda: main(parse(sys.argv[1:])))
