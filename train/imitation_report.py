"""Validation report of imitation learning: loss and accuracy, overall and by agent."""

from typing import Any

import numpy as np

from ludoteca.agents.networks.ac_network import load_ac_network
from ludoteca.evaluate.markdown import percent
from ludoteca.train.epoch_report import ValidationReport
from ludoteca.train.imitation import ImitationTraining

# Agents in the table, those with the most moves; `results.json` has all.
MAX_AGENTS = 30
# Headings by name in `results.json`, where the validation has them; `accuracy` comes before.
MEASURES = {"loss": "loss", "value_loss": "value loss", "value_loss_of_mean": "loss of mean"}
NOTES = """`validation moves`, `training moves`: numbers of moves. `accuracy`: fraction of the
validation moves that are the network's best move. `loss`: mean cross-entropy of the validation
moves."""
VALUE_NOTES = """
`value loss`: mean squared error of the predicted return; `loss of mean`: the same if the prediction
is always the mean return of the training moves."""


def validation_report(training: ImitationTraining) -> ValidationReport:
    """Evaluate the best network of a run on its validation samples."""
    data, game, games = training.data, training.game, len(training.data.games)
    validation = _by_agent(training)
    validation_games = len(np.unique(data.game_indices[data.validation]))
    has_value = training.config.network.value
    panels = [("cross-entropy", "loss"), ("accuracy", "accuracy")]
    if has_value:
        panels.append(("squared error of the value", "value_loss"))
    measured = tuple(MEASURES[name] for name in MEASURES if name in validation[0])
    return ValidationReport(
        title=f"Imitation of moves in {game.title}",
        introduction=f"""`{game.spec}`, {games:,} games, {validation_games:,} of them for
validation: {len(data.training):,} moves for training, {len(data.validation):,} for validation.""",
        data={
            "files": data.files,  # file name, number of games and metadata of each file
            "games": games,  # including those for validation
            "training_positions": len(data.training),
            "validation_positions": len(data.validation),
            "validation_games": validation_games,
        },
        validation=validation,
        headings=("moves of", "validation moves", "training moves", "accuracy", *measured),
        rows=_rows(validation),
        notes=NOTES + (VALUE_NOTES if has_value else ""),
        panels=tuple(panels),
    )


def _by_agent(training: ImitationTraining) -> list[dict[str, Any]]:
    """Return the validation results of the best network, overall and by agent.

    `positions` and `learned` are the numbers of validation and training moves.
    """
    data = training.data
    best = training.config.run_dir / "best.safetensors"
    network, _ = load_ac_network(training.game, best)
    measures = training.evaluate(network, data.validation)
    if "value_loss" in measures:
        mean = data.returns[data.training].mean(dtype=np.float64)
        measures["value_loss_of_mean"] = np.square(mean - data.returns[data.validation])
    agents, training_agents = data.agents[data.validation], data.agents[data.training]
    order = np.argsort(-np.bincount(agents, minlength=len(data.games.agent_names)), kind="stable")
    # Name, mask of the validation samples, and number of training samples of each group.
    groups = [("all", np.ones(len(agents), np.bool_), len(training_agents))]
    for agent in order.tolist():
        chosen = agents == agent
        if chosen.any():
            count = int((training_agents == agent).sum())
            groups.append((data.games.agent_names[agent], chosen, count))
    return [
        {"agent": name, "positions": int(chosen.sum()), "learned": count}
        | {measure: float(values[chosen].mean()) for measure, values in measures.items()}
        for name, chosen, count in groups
    ]


def _rows(validation: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of the table, as texts."""
    return [
        (
            row["agent"] or "(no name)",
            f"{row['positions']:,}",
            f"{row['learned']:,}",
            percent(row["accuracy"]),
            *(f"{row[name]:.3f}" for name in MEASURES if name in row),
        )
        for row in validation[: 1 + MAX_AGENTS]
    ]
