"""AlphaZero: self-play with network-guided search, for sequential two-player games.

Example: `python -m ludoteca.train.alphazero --game connect4`. An interrupted run resumes, with the
same result, when the same command is given again.
"""

from typing import Any

import tyro

from ludoteca.agents.alphazero import AlphaZeroAgent
from ludoteca.train.alphazero.config import AlphaZeroConfig
from ludoteca.train.alphazero.training import AlphaZeroTraining
from ludoteca.train.command import run_command, train
from ludoteca.train.report import ReportSubject


def main(config: AlphaZeroConfig) -> dict[str, Any] | None:
    """Train, evaluate the selected network, and write the report.

    Returns:
        Contents of `results.json`, or None if the time limit came first.
    """
    return train(AlphaZeroTraining(config), _subject)


def _subject(training: AlphaZeroTraining) -> ReportSubject:
    config = training.config
    agent = AlphaZeroAgent(
        training.game,
        config.run_dir / "best.safetensors",
        simulations=config.eval_simulations,
        policy=config.search_policy,
        c_puct=config.c_puct,
        max_num_considered_actions=config.max_num_considered_actions,
        solver_empties=config.solver_empties,
        device=config.device,
        precision=training.precision,
    )
    return ReportSubject(
        title="AlphaZero",
        agent=agent,
        opponents=config.eval_opponents,
        partner="itself",
        seat="both",
        losses=("policy_loss", "value_loss"),
        plays=f"It searches with {config.eval_simulations} simulations a move.",
    )


if __name__ == "__main__":
    run_command(
        "ludoteca.train.alphazero",
        lambda: main(
            tyro.cli(
                AlphaZeroConfig, prog="python -m ludoteca.train.alphazero", description=__doc__
            )
        ),
    )
