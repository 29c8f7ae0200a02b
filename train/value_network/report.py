"""What a finished training of a value network leaves behind: numbers, a curve and a report."""

import json
from importlib.metadata import version
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ludoteca.agents.networks.value_network import load_value_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.envs.files import write_whole
from ludoteca.evaluate.bench.report import about_this_run, our_versions
from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.markdown import percent, table
from ludoteca.train.report import points
from ludoteca.train.value_network.training import Training, accuracy

PHASES = 6  # equal parts of the longest game
HEADINGS = ("moves played", "positions", "mean squared error", "without network", "winner told")


def finish(training: Training) -> dict[str, Any]:
    """Measure the best network of a training; write all files; return the results.

    Writes `best.safetensors` again, with its card, and `results.json`, `learning_curve.png` and
    `report.md`.
    """
    config, data = training.config, training.data
    best = config.folder / "best.safetensors"
    network, about = load_value_network(data.games.game, best)
    values = training.predict(network, data.validation)
    results: dict[str, Any] = {
        "about": about_this_run(),
        "versions": our_versions() | {name: version(name) for name in ("torch", "safetensors")},
        "game": data.games.game.spec,
        "config": config.as_dict(),
        "data": {
            "games": len(data.games),
            "about": data.games.about,
            "training_positions": len(data.training),
            "validation_positions": len(data.validation),
            "validation_games": len(np.unique(data.positions.games[data.validation])),
        },
        "training": {
            "epochs": training.epoch,
            "best": training.best,
            "seconds": round(training.seconds, 1),
            "precision": training.precision,
        },
        "validation": _by_phase(training, values),
        "metrics": training.metrics.rows,
    }
    card = {key: results[key] for key in ("about", "versions", "config", "data", "training")}
    card["validation"] = results["validation"]
    save_weights(best, network.state_dict(), about | {"card": card})
    write_whole(config.folder / "results.json", json.dumps(results, indent=2) + "\n")
    write_whole(config.folder / "learning_curve.png", _draw(training))
    write_whole(config.folder / "report.md", _describe(results))
    return results


def _by_phase(training: Training, values: Any) -> list[dict[str, Any]]:
    """Return what the network is worth in validation, as a whole and by moves played."""
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


def rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the lines of the table, as texts under `HEADINGS`."""
    return [
        (
            part["moves"],
            f"{part['positions']:,}",
            f"{part['loss']:.3f}",
            f"{part['loss_of_mean']:.3f}",
            percent(part["accuracy"]),
        )
        for part in results["validation"]
    ]


def _draw(training: Training) -> bytes:
    """Return the learning curve as PNG."""
    figure = Figure(figsize=(7, 4), layout="constrained", dpi=110)
    axes = figure.subplots()
    for name, color in (("training_loss", "#5b6770"), ("validation_loss", "#1f77d0")):
        shown = points(training.metrics.rows, name)
        axes.plot(*shown, color=color, marker=".", label=name.replace("_", " "))
    axes.axvline(training.best["epoch"], color="#888888", linestyle=":", linewidth=1, label="kept")
    axes.set_xlabel("epochs")
    axes.set_ylabel("mean squared error")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    return figure_png(figure)


def _describe(results: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    config, data, training = results["config"], results["data"], results["training"]
    about, best = results["about"], results["training"]["best"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    settings = [(key, value) for key, value in config.items() if key != "network"]
    settings += [(f"network.{key}", value) for key, value in config["network"].items()]
    return f"""# A value network for {results["game"]}

{data["games"]:,} games: {data["training_positions"]:,} positions to learn from, and
{data["validation_positions"]:,} of {data["validation_games"]:,} other games to validate with.

## Validation

{table(HEADINGS, rows(results))}

`without network` is the error of always saying the mean result of the games that were learned from.
`winner told`: of positions in decided games, those where the sign of the value is right.

## Learning

![Learning curve](learning_curve.png)

{training["epochs"]} epochs in {training["seconds"]:,.0f} seconds, validation included. The network
of epoch {best["epoch"]} was kept, as its error in validation is the lowest.

## How it was done

- Command: `{about["command"]}`
- Date: {about["date"]}; seed: {config["seed"]}
- Versions: {versions}
- Machine: {about["cpu"]}, {about["cores"]} cores

{table(("setting", "value"), settings, texts=2)}
"""
