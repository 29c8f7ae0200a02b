"""What a finished training leaves behind: numbers, a curve, an annotated game, and a report."""

import io
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from ludoteca.agents.dqn import DQNAgent
from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.envs.files import write_whole
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import png, scene, svg_animation
from ludoteca.envs.render.shapes import Scene, contact_sheet
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.bench.report import about_this_run, our_versions
from ludoteca.evaluate.markdown import table
from ludoteca.train.dqn.config import Config
from ludoteca.train.dqn.training import Training, opponents
from ludoteca.train.evaluation import evaluate
from ludoteca.train.metrics import Row

HEADINGS = ("against", "seat", "games", "wins", "draws", "losses", "win rate", "95 % interval")
COLORS = ("#1f77d0", "#d6452b", "#2a9d5c", "#8a5cc2", "#c98a1b", "#5b6770")


def finish(training: Training) -> dict[str, Any]:
    """Evaluate the best network of a finished training; write all files; return the results.

    Writes `best.safetensors` again, with its card, and `results.json`, `learning_curve.png`,
    `replay.json`, `game.svg`, `game.png` and `report.md`.
    """
    config, game, folder = training.config, training.game, training.config.folder
    agent = DQNAgent(game, folder / "best.safetensors", device=config.device)
    evaluation, replay = [], None
    for opponent in dict.fromkeys((*opponents(config), "random")):
        rated, match = evaluate(
            game, agent, opponent, config.final_games, config.seed + 2, record=2
        )
        evaluation.append({"opponent": opponent, "seats": rated})
        # Game 0 has the network in the first seat, game 1 in the second.
        shown = match.replays[1 if config.seat == "second" else 0]
        replay = replay or shown
    assert replay is not None
    results: dict[str, Any] = {
        "about": about_this_run(),
        "versions": our_versions() | {name: version(name) for name in ("torch", "safetensors")},
        "game": game.spec,
        "config": config.as_dict(),
        "training": {
            "games": training.games,
            "updates": training.learner.updates,
            "seconds": round(training.seconds, 1),
            "best": training.best,
            "precision": training.precision,
        },
        "evaluation_seed": config.seed + 2,
        "evaluation": evaluation,
    }
    _write_card(folder / "best.safetensors", results)
    write_whole(folder / "results.json", json.dumps(results, indent=2) + "\n")
    write_whole(
        folder / "learning_curve.png", draw_curve(training.metrics.rows, config, training.best)
    )
    replay.save(folder / "replay.json")
    network_seat = 1 if config.seat == "second" else 0
    scenes = annotated(agent, replay, network_seat)
    write_whole(folder / "game.svg", svg_animation(scenes, seconds=1.5, last_seconds=4))
    write_whole(folder / "game.png", png(contact_sheet(scenes)))
    write_whole(folder / "report.md", describe(results, replay, network_seat))
    return results


def _write_card(path: Path, results: dict[str, Any]) -> None:
    """Add to the file of a network how it was made and how strong it is."""
    weights, about = load_weights(path)
    kept = ("about", "versions", "config", "training", "evaluation")
    save_weights(path, weights, about | {"card": {key: results[key] for key in kept}})


def results_table(results: dict[str, Any]) -> Table:
    """Return the evaluation as a table for the terminal."""
    shown = Table(title=f"the trained network in {make_game(results['game']).title}")
    for heading in HEADINGS:
        shown.add_column(heading, justify="left" if heading in HEADINGS[:2] else "right")
    for row in rows(results):
        shown.add_row(*row)
    return shown


def rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the lines of the table, as texts under `HEADINGS`."""
    return [
        (
            part["opponent"],
            seat["seat"],
            *(f"{seat[key]:,}" for key in ("games", "wins", "draws", "losses")),
            percent(seat["win_rate"]),
            f"{percent(seat['low'])} to {percent(seat['high'])}",
        )
        for part in results["evaluation"]
        for seat in part["seats"]
    ]


def percent(share: float) -> str:
    """Return a share as a percentage, such as `"97.40 %"`."""
    return f"{100 * share:.2f} %"


def draw_curve(metrics: list[Row], config: Config, best: dict[str, Any]) -> bytes:
    """Return how wins and the loss developed, as a PNG file."""
    figure = Figure(figsize=(7.5, 6), dpi=120, layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    tested = [
        name
        for name in dict.fromkeys(name for row in metrics for name in row)
        if name.endswith(("__first", "__second")) and not name.startswith("training")
    ]
    for name, color in zip(tested, COLORS * len(tested), strict=False):
        opponent, seat = name.rsplit("__", 1)
        found = [(row["step"], row[name]) for row in metrics if row.get(name) is not None]
        label = f"{seat} against {opponent}, greedy"
        steps, rates = zip(*found, strict=True)
        axes.plot(steps, [100 * rate for rate in rates], color=color, marker=".", label=label)
    for seat, color in zip(("first", "second"), COLORS, strict=False):
        found = [
            (row["step"], row[f"training__{seat}"])
            for row in metrics
            if row.get(f"training__{seat}") is not None
        ]
        if found and config.opponent != "self":
            steps, rates = zip(*found, strict=True)
            shown = [100 * rate for rate in rates]
            label = f"{seat}, in training"
            axes.plot(steps, shown, color=color, alpha=0.35, linewidth=1, label=label)
    axes.axvline(best["games"], color="#888888", linestyle=":", linewidth=1, label="kept")
    axes.set_ylabel("games won, %")
    axes.set_ylim(-2, 102)
    axes.set_title(f"{config.game} with {config.opponent}")
    axes.legend(loc="lower right", fontsize="small")
    losses = [(row["step"], row["loss"]) for row in metrics if row.get("loss") is not None]
    if losses:
        steps, values = zip(*losses, strict=True)
        below.plot(steps, values, color="#5b6770", linewidth=1)
    below.set_ylabel(f"loss ({config.loss_function})")
    below.set_xlabel("games learned from")
    below.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    for part in (axes, below):
        part.grid(alpha=0.3)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def annotated(agent: DQNAgent, replay: Replay, seat: int) -> list[Scene]:
    """Return pictures of a game: before each of the agent's moves, what it thinks of each.

    The last picture is the end of the game.
    """
    game, scenes = agent.game, []
    positions = list(replay.positions())
    for t, s in enumerate(positions):
        last = int(np.ravel(replay.actions[t - 1])[0]) if t > 0 else None
        if t < len(replay.actions) and game.player is not None and game.player(s) == seat:
            values, action = agent.values(s), int(np.ravel(replay.actions[t])[0])
            name = game.action_names[action]
            caption = f"plays {name}, Q = {values[action]:.2f}"
            scenes.append(scene(game, s, last, values=_shown(game, values), captions=[caption]))
        elif t == len(positions) - 1:
            scenes.append(scene(game, s, last))
    return scenes


def _shown(game: Game, values: Any) -> Any:
    """Return the values that can be drawn on the board, or None."""
    return values if game.layout.cell_actions or game.layout.column_actions else None


def describe(results: dict[str, Any], replay: Replay, seat: int) -> str:
    """Return the report as Markdown."""
    game, config, training = make_game(results["game"]), results["config"], results["training"]
    about, best = results["about"], results["training"]["best"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    settings = [(key, value) for key, value in config.items() if key != "network"]
    settings += [(f"network.{key}", value) for key, value in config["network"].items()]
    return f"""# Deep Q-learning in {game.title}

`{results["game"]}`, with `{config["opponent"]}`.

## Result

{table(HEADINGS, rows(results), texts=2)}

The network plays the legal move with the highest Q, without search. Intervals are Wilson's; they
mean nothing against opponents who always answer the same, as all games of a seat are then one.
Games are seeded with {results["evaluation_seed"]}: none of them was seen in training or when the
best network was chosen.

## Learning

![Learning curve](learning_curve.png)

{training["games"]:,} games and {training["updates"]:,} updates in {training["seconds"]:,.0f}
seconds, evaluations included. Each marked point: {config["evaluate_games"]:,} greedy games per
seat. The network of {best["games"]:,} games was kept, as the last of those that won most.

## A game

`{replay.players[0]}` plays first, `{replay.players[1]}` second. Each picture is the position
before a move of the network, which sits {("first", "second")[seat]}, with its Q for every move; the
last one is the end.

![Game](game.png)

The same as an [animation](game.svg); [replay.json](replay.json) holds the moves.

## How it was done

- Command: `{about["command"]}`
- Date: {about["date"]}; seed: {config["seed"]}
- Versions: {versions}
- Machine: {about["cpu"]}, {about["cores"]} cores

{table(("setting", "value"), settings, texts=2)}
"""
