"""AlphaZero: a network learns from games of its own search, from nothing but the rules.

`python -m ludoteca.train.alphazero --game connect4` works for every game of two players who move in
turn. An interrupted run resumes, to the same result, when the same command is given again.
"""

from typing import Any

import tyro

from ludoteca.agents.alphazero import AlphaZeroAgent
from ludoteca.train.alphazero.config import Config
from ludoteca.train.alphazero.training import Training
from ludoteca.train.command import run_command, train
from ludoteca.train.report import Subject


def main(config: Config) -> dict[str, Any] | None:
    """Train, evaluate the network that is kept, and write the report.

    Returns:
        What is in `results.json`, or None if time was up before.
    """
    return train(Training(config), _subject)


def _subject(training: Training) -> Subject:
    config = training.config
    agent = AlphaZeroAgent(
        training.game,
        config.folder / "best.safetensors",
        simulations=config.evaluate_simulations,
        policy=config.rule,
        c_puct=config.c,
        max_num_considered_actions=config.considered,
        solver_empties=config.exact,
        device=config.device,
        precision=training.precision,
    )
    return Subject(
        title="AlphaZero",
        agent=agent,
        opponents=config.evaluate_against,
        partner="itself",
        seat="both",
        losses=("policy_loss", "value_loss"),
        plays=f"It searches with {config.evaluate_simulations} simulations a move.",
    )


if __name__ == "__main__":
    run_command(
        "ludoteca.train.alphazero",
        lambda: main(
            tyro.cli(Config, prog="python -m ludoteca.train.alphazero", description=__doc__)
        ),
    )
