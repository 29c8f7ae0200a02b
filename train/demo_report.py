"""What the demonstration leaves behind: numbers, a picture of learning, a game, and a report."""

import io
import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.table import Table

from ludoteca.envs.files import write_whole
from ludoteca.envs.registry import game_id, make_game
from ludoteca.envs.render import scene, svg_animation
from ludoteca.envs.replay import Replay

PACKAGES = ("ludoteca", "torch", "stable-baselines3", "sb3-contrib", "gymnasium", "numba", "numpy")
HEADINGS = ("played", "games", "wins", "draws", "losses", "win rate", "95 % interval")
COLORS = {"first": "#1f77d0", "second": "#d6452b"}


def write_report(folder: Path, results: dict[str, Any], replay: Replay) -> None:
    """Write `results.json`, `learning_curve.png`, `replay.json`, `game.svg` and `report.md`.

    Adds the date, versions and the machine to `results`.
    """
    results |= {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    write_whole(folder / "results.json", json.dumps(results, indent=2) + "\n")
    write_whole(folder / "learning_curve.png", draw_curve(results))
    replay.save(folder / "replay.json")
    write_whole(folder / "game.svg", draw_game(replay))
    write_whole(folder / "report.md", describe(folder, results, replay))


def table(results: dict[str, Any]) -> Table:
    """Return the evaluation as a table for the terminal."""
    shown = Table(title=f"MaskablePPO against {results['evaluation']['opponent']}")
    for heading in HEADINGS:
        shown.add_column(heading, justify="left" if heading == "played" else "right")
    for row in rows(results):
        shown.add_row(*row)
    return shown


def rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the lines of the table, as texts under `HEADINGS`."""
    return [
        (
            seat["seat"],
            *(f"{seat[key]:,}" for key in ("games", "wins", "draws", "losses")),
            percent(seat["win_rate"]),
            f"{percent(seat['low'])} to {percent(seat['high'])}",
        )
        for seat in results["evaluation"]["seats"]
    ]


def percent(share: float) -> str:
    """Return a share as a percentage, such as `"97.40 %"`."""
    return f"{100 * share:.2f} %"


def draw_curve(results: dict[str, Any]) -> bytes:
    """Return the learning curve, with its intervals, as a PNG file."""
    figure = Figure(figsize=(7, 4.2), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    curve = results["training"]["curve"]
    steps = [point["steps"] for point in curve]
    for index, (seat, color) in enumerate(COLORS.items()):
        points = [point["seats"][index] for point in curve]
        rates = [100 * point["win_rate"] for point in points]
        axes.plot(steps, rates, color=color, marker=".", label=f"as {seat} player")
        low, high = ([100 * point[key] for point in points] for key in ("low", "high"))
        axes.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)
    axes.set_xlabel("moves learned from")
    axes.set_ylabel(f"games won against {results['evaluation']['opponent']}, %")
    axes.set_ylim(None, 101)
    axes.set_title(f"MaskablePPO on {results['game']}")
    axes.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def draw_game(replay: Replay) -> str:
    """Return a game as an animated SVG document."""
    game = make_game(replay.game)
    last: Sequence[Any] = [None, *replay.actions] if not game.simultaneous else []
    positions = list(replay.positions())
    return svg_animation(
        [scene(game, s, last[t] if last else None) for t, s in enumerate(positions)]
    )


def describe(folder: Path, results: dict[str, Any], replay: Replay) -> str:
    """Return the report as Markdown."""
    game, training, evaluation = make_game(replay.game), results["training"], results["evaluation"]
    config, opponent = results["config"], evaluation["opponent"]
    lines = [" | ".join(cells) for cells in (HEADINGS, ["---"] * len(HEADINGS), *rows(results))]
    evaluated = "\n".join(f"| {line} |" for line in lines)
    speed = training["steps"] / training["seconds"]
    limit = {"steps": "all steps were done", "seconds": "time was up"}[training["ended_by"]]
    parameters = ", ".join(f"{key}={value!r}" for key, value in game.params.items())
    model = folder / "model.zip"
    settings = "\n".join(f"| {key} | {value} |" for key, value in config.items())
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return f"""# MaskablePPO on {game.title}

`{results["game"]}`, trained against `{opponent}` and evaluated against it from both seats.

## Result

{evaluated}

The model plays its best move by its own estimate, without search. Intervals are Wilson's. Games are
seeded with {evaluation["seed"]}; training and the learning curve saw other ones.

## Learning

![Learning curve](learning_curve.png)

{training["steps"]:,} moves in {training["seconds"]:.0f} seconds, evaluations included ({speed:,.0f}
moves/s); {limit}. Each point: {config["curve_games"]:,} games per seat, with 95 % intervals. The
first point is the untrained network.

## A game

{replay.players[0]} plays first, {replay.players[1]} second.

![Game](game.svg)

## How it was done

- Command: `{results["command"]}`
- Date: {results["date"]}; seed: {config["seed"]}
- Versions: {versions}
- Machine: {results["machine"]}

| setting | value |
|---|---|
{settings}

Rewards are +1 for a win and -1 for a loss, at the end. The seat is drawn for each game, the
opponent moves inside the environment, and illegal moves are masked.

## Files

| file | what it is |
|---|---|
| `model.zip` | the model, as saved by Stable-Baselines3 |
| `results.json` | all numbers of this report |
| `learning_curve.png`, `game.svg` | the pictures above |
| `replay.json` | the game above, to be replayed |
| `tensorboard/` | logs of training |

## How to go on

```bash
tensorboard --logdir {folder / "tensorboard"}
ludoteca match {game.spec} --agents sb3:path={model} {opponent} --games 1000
python -m ludoteca.train.demo --opponent greedy --steps 1000000 --seconds 300
python -m ludoteca.train.demo --help
```

The model is an agent wherever agents are named, also as the opponent of the next one to train:

```python
import gymnasium as gym
import ludoteca

env = gym.make("ludoteca/{game_id(game.name)}", {parameters}, opponent="sb3:path={model}")
```
"""
