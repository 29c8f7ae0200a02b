"""Validation report of value regression: error and accuracy, by moves played."""

from typing import Any

import numpy as np

from ludoteca.agents.networks.value_network import load_value_network
from ludoteca.evaluate.markdown import percent
from ludoteca.train.epoch_report import ValidationReport
from ludoteca.train.value_regression.training import ValueRegressionTraining, accuracy

PHASES = 6  # equal parts of the longest game
HEADINGS = (
    "moves played",
    "positions",
    "mean squared error",
    "without network",
    "winner predicted",
)
NOTES = """`without network` is the error of predicting the mean result of the training games.
`winner predicted`: of positions in decided games, those where the sign of the value is right."""


def validation_report(training: ValueRegressionTraining) -> ValidationReport:
    """Evaluate the best network of a run on its validation positions."""
    data = training.data
    game, games = training.game, len(data.games)
    network, _ = load_value_network(game, training.config.run_dir / "best.safetensors")
    validation = _by_phase(training, training.predict(network, data.validation))
    others = len(np.unique(data.positions.games[data.validation]))
    return ValidationReport(
        title=f"A value network for {game.spec}",
        introduction=f"""{games:,} games: {len(data.training):,} positions to learn from, and
{len(data.validation):,} of {others:,} other games to validate with.""",
        data={
            "games": games,
            "about": data.games.metadata,
            "training_positions": len(data.training),
            "validation_positions": len(data.validation),
            "validation_games": others,
        },
        validation=validation,
        headings=HEADINGS,
        rows=_rows(validation),
        notes=NOTES,
        panels=(("mean squared error", "loss"), ("winner predicted", "accuracy")),
    )


def _by_phase(training: ValueRegressionTraining, values: Any) -> list[dict[str, Any]]:
    """Return the validation measures of the network, overall and by moves played."""
    data = training.data
    targets, plies = data.targets[data.validation], data.positions.plies[data.validation]
    mean = float(data.targets[data.training].mean())
    width = -(-(int(data.positions.plies.max()) + 1) // PHASES)
    parts = [("all", np.ones(len(plies), np.bool_))]
    for low in range(0, int(plies.max()) + 1, width):
        parts.append((f"{low} to {low + width - 1}", (plies >= low) & (plies < low + width)))
    return [
        {
            "moves": name,
            "positions": int(chosen.sum()),
            "loss": float(np.square(values - targets)[chosen].mean()),
            "loss_of_mean": float(np.square(mean - targets)[chosen].mean()),
            "accuracy": accuracy(values[chosen], targets[chosen]),
        }
        for name, chosen in parts
        if chosen.any()
    ]


def _rows(validation: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of the table, as texts under `HEADINGS`."""
    return [
        (
            part["moves"],
            f"{part['positions']:,}",
            f"{part['loss']:.3f}",
            f"{part['loss_of_mean']:.3f}",
            percent(part["accuracy"]),
        )
        for part in validation
    ]
