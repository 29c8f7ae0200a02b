"""Report of a reinforcement learning run: evaluation, learning curve and annotated game."""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import png, scene, svg_animation
from ludoteca.envs.render.replay_scenes import replay_scenes, seconds_per_position
from ludoteca.envs.render.shapes import Scene, contact_sheet
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.seat_results import has_mean_returns, seat_names
from ludoteca.files import write_atomically
from ludoteca.provenance import package_versions, run_info
from ludoteca.train.algorithm import NOBODY, Algorithm, ReportText
from ludoteca.train.evaluation import evaluate_in_time, evaluated_against
from ludoteca.train.evaluation_table import evaluation_notes, evaluation_table
from ludoteca.train.learning_curve import draw_curve
from ludoteca.train.loop import RLTraining
from ludoteca.train.monitor import Stopped
from ludoteca.train.settings import RLConfig, SupervisedConfig

SELECTED = {"best": "the one with the highest evaluation score", "last": "the last one"}
RESULTS = ("results.json", "results_so_far.json")  # names for a finished and for an unfinished run
MAX_PICTURES = 48  # maximum number of positions in the image of a game
SECONDS_PER_POSITION, LAST_POSITION_SECONDS = 1.5, 4  # in the animation of a sequential game


def write_report(training: RLTraining) -> dict[str, Any]:
    """Evaluate the selected network of a run, write all files, and return the results.

    Adds a model card to `best.safetensors`; writes `learning_curve.png`, `replay.json`, `game.svg`,
    `game.png` and `report.md`, and `results.json` if the run is finished, or else
    `results_so_far.json`. If the run's monitor has a deadline, fewer evaluation games are played,
    as many as fit into the time left.

    Raises:
        Stopped: if there is no time for an evaluation.
    """
    config, game, folder = training.config, training.game, training.config.run_dir
    algorithm, text = training.algorithm, training.algorithm.report_text()
    agent = algorithm.trained_agent(folder / "best.safetensors")
    evaluation_seed = config.seed + 2  # evaluations in training have `config.seed + 1`
    network_seat = 1 if text.seat == "second" else 0
    sections, replay = _evaluate(training, agent, evaluation_seed, network_seat)
    results = run_description(game, config) | {
        "training": {
            **_decisions(training),
            "games": training.games,
            "updates": training.updates,
            "plies": training.plies,
            "seconds": round(training.seconds, 1),
            "learning_seconds": round(training.learning_seconds, 1),
            "best": training.selected,
            "precision": training.precision,
            "finished": training.finished,
        },
        "evaluation_seed": evaluation_seed,
        **sections,
    }
    write_card(folder / "best.safetensors", results, ("training", "evaluation"))
    write_results(folder, results, training.finished)
    write_atomically(folder / "learning_curve.png", draw_curve(training, results))
    replay.save(folder / "replay.json")
    scenes = annotated(agent, replay, network_seat)
    seconds = seconds_per_position(replay) if game.simultaneous else SECONDS_PER_POSITION
    animation = svg_animation(scenes, seconds=seconds, last_seconds=LAST_POSITION_SECONDS)
    write_atomically(folder / "game.svg", animation)
    interval = -(-len(scenes) // MAX_PICTURES)
    write_atomically(folder / "game.png", png(contact_sheet(scenes[:-1:interval] + scenes[-1:])))
    write_atomically(folder / "report.md", describe(results, algorithm, replay, network_seat))
    return results


class Matchup(NamedTuple):
    """Match of the final evaluation.

    Attributes:
        section: key of its results in `results.json`: `"evaluation"`; `"self_play"`, of the network
            against itself; or `"baselines"`, another agent in a one-player game.
        about: name of the other agent, as JSON values.
        agent: the agent that is evaluated.
        opponent: agent in all other seats; without effect in one-player games.
    """

    section: str
    about: dict[str, str]
    agent: Agent
    opponent: str | Agent


def _evaluate(
    training: RLTraining, agent: Agent, seed: int, network_seat: int
) -> tuple[dict[str, list[dict[str, Any]]], Replay]:
    """Play the final evaluation; return its results by section, and a game of the first match.

    Args:
        training: the run.
        agent: agent with the selected network.
        seed: seed of the matches.
        network_seat: seat of the network in the game that is returned.

    Raises:
        Stopped: if there is no time for the first match.
    """
    config, game, monitor = training.config, training.game, training.monitor
    sections: dict[str, list[dict[str, Any]]] = {"evaluation": [], "self_play": [], "baselines": []}
    replay = None
    monitor.phase = "evaluating"
    matchups = _matchups(training, agent)
    for k, matchup in enumerate(matchups):
        try:
            seat_results, match = evaluate_in_time(
                game,
                matchup.agent,
                matchup.opponent,
                config.final_eval_games,
                seed,
                monitor,
                monitor.seconds_left / (len(matchups) - k),
                num_replays=min(2, game.num_players),
            )
        except Stopped:
            if replay is None:
                raise
            break
        sections[matchup.section].append({**matchup.about, "seats": seat_results})
        # Game 0 has the network in the first seat, game 1 in the second.
        replay = replay or match.replays[network_seat]
    assert replay is not None
    return sections, replay


def _matchups(training: RLTraining, agent: Agent) -> list[Matchup]:
    """Return the matches of the final evaluation of an agent with the selected network.

    It plays against the evaluation opponents and random moves, and in games that are not zero-sum
    against itself. In one-player games, it plays alone, and so do these opponents.
    """
    game = training.game
    others = tuple(dict.fromkeys((*training.algorithm.opponents(), "random")))
    matchups = [
        Matchup("evaluation", {"opponent": opponent}, agent, opponent)
        for opponent in evaluated_against(game, others)
    ]
    if game.num_players == 1:
        return matchups + [
            Matchup("baselines", {"agent": spec}, make_agent(spec, game), NOBODY) for spec in others
        ]
    if has_mean_returns(game):
        matchups.append(Matchup("self_play", {"opponent": "itself"}, agent, agent))
    return matchups


def run_description(game: Game, config: RLConfig | SupervisedConfig) -> dict[str, Any]:
    """Return command, versions, game and settings of a run, as JSON values."""
    return {
        "about": run_info(),
        "versions": package_versions() | {name: version(name) for name in ("torch", "safetensors")},
        "game": game.spec,
        "config": config.as_dict(),
    }


def write_results(folder: Path, results: dict[str, Any], finished: bool) -> None:
    """Write the results of a training run, under another name if it is unfinished.

    A file with the other name, from an earlier part of the run, is removed.
    """
    name, other = RESULTS if finished else RESULTS[::-1]
    write_atomically(folder / name, json.dumps(results, indent=2) + "\n")
    (folder / other).unlink(missing_ok=True)


def write_card(path: Path, results: dict[str, Any], sections: Sequence[str]) -> None:
    """Add a model card to a network file: provenance, settings, and sections of the results.

    Args:
        path: the network file.
        results: contents of `results.json`.
        sections: keys of `results` for the card.
    """
    weights, metadata = load_weights(path)
    names = ("about", "versions", "config", *sections)
    save_weights(path, weights, metadata | {"card": {name: results[name] for name in names}})


def annotated(agent: Any, replay: Replay, seat: int) -> list[Scene]:
    """Return scenes (drawings) of a game: each position before a move of the agent, with Q-values.

    The last scene is the final position. In simultaneous games, and for agents without Q-values,
    every position is drawn.

    Args:
        agent: the trained agent.
        replay: the game.
        seat: seat of the agent, from 0.
    """
    game, scenes = agent.game, []
    positions = list(replay.positions())
    if game.simultaneous or not hasattr(agent, "values"):
        return replay_scenes(replay)
    for t, s in enumerate(positions):
        last_action = int(np.ravel(replay.actions[t - 1])[0]) if t > 0 else None
        if t < len(replay.actions) and game.player is not None and game.player(s) == seat:
            values, action = agent.values(s), int(np.ravel(replay.actions[t])[0])
            name = game.action_names[action]
            caption = f"plays {name}, Q = {values[action]:.2f}"
            scenes.append(
                scene(
                    game,
                    s,
                    last_action,
                    values=_drawable_values(game, values),
                    captions=[caption],
                )
            )
        elif t == len(positions) - 1:
            scenes.append(scene(game, s, last_action))
    return scenes


def _drawable_values(game: Game, values: Any) -> Any:
    """Return the values that can be drawn on the board, or None."""
    return values if game.layout.cell_actions or game.layout.column_actions else None


def describe(results: dict[str, Any], algorithm: Algorithm[Any], replay: Replay, seat: int) -> str:
    """Return the report as Markdown.

    Args:
        results: contents of `results.json`.
        algorithm: algorithm of the run.
        replay: the annotated game.
        seat: seat of the network in that game, from 0.
    """
    game, config, training = make_game(results["game"]), results["config"], results["training"]
    best = training["best"]
    text = algorithm.report_text()
    return f"""# {algorithm.title} in {game.title}

`{results["game"]}`, {_partner(text)}.

## Result

{evaluation_table(results)}

{text.plays} {evaluation_notes(game)}
The evaluation games have the seed {results["evaluation_seed"]}, and differ from those of training
and of the selection of the network.

## Learning

![Learning curve](learning_curve.png)

{training["games"]:,} games and {training["updates"]:,} updates in {training["seconds"]:,.0f}
seconds, evaluations included. {_speed(game, training)}
Each marked point is {config["eval_games"]:,} games per seat. The network of {best["games"]:,}
games was selected, {_selected(results)}.{_unfinished(results)}

## A game

{_about_game(game, replay, seat)}

![Game](game.png)

[game.svg](game.svg) is an animation of the game; [replay.json](replay.json) holds the moves.

{provenance_section(results)}"""


def _partner(text: ReportText) -> str:
    """Return the training opponent of a run."""
    return "a game for one player" if text.partner == NOBODY else f"trained against {text.partner}"


def _selected(results: dict[str, Any]) -> str:
    """Return the reason for the selection of the network."""
    training = results["training"]
    is_last = training["best"]["games"] == training["games"] and not training["finished"]
    return SELECTED["last" if is_last else results["config"]["checkpoint_selection"]]


def _unfinished(results: dict[str, Any]) -> str:
    """Return a sentence about an unfinished training run, or ""."""
    if results["training"]["finished"]:
        return ""
    return (
        f" The training was\nstopped after {results['training']['games']:,} of "
        f"{results['config']['games']:,} games; the same command resumes it."
    )


def provenance_section(results: dict[str, Any]) -> str:
    """Return the last section of a report: the command, the versions and all settings."""
    about, config = results["about"], results["config"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    settings = [(key, value) for key, value in config.items() if key != "network"]
    settings += [(f"network.{key}", value) for key, value in config["network"].items()]
    return f"""## Provenance

- Command: `{about["command"]}`
- Date: {about["date"]}; seed: {config["seed"]}
- Versions: {versions}
- Machine: {about["cpu"]}, {about["cores"]} cores

{table(("setting", "value"), settings, text_columns=2)}
"""


def _decisions(training: RLTraining) -> dict[str, int]:
    """Return the number of decisions of the network, if the algorithm counts them."""
    counts = [int(row["decisions"] or 0) for row in training.metrics.rows if "decisions" in row]
    return {"decisions": sum(counts)} if counts else {}


def _speed(game: Game, training: dict[str, Any]) -> str:
    """Return a sentence about the speed of a run."""
    seconds = training["learning_seconds"] or 1e-9
    steps = "steps of all players" if game.simultaneous else "moves"
    if "decisions" in training:
        steps += f" ({training['decisions'] / seconds:,.0f} decisions of the network)"
    return (
        f"Without them it made {training['plies'] / seconds:,.0f} {steps}\nand "
        f"{training['updates'] / seconds:,.1f} updates per second."
    )


def _about_game(game: Game, replay: Replay, seat: int) -> str:
    """Describe the pictures of a game."""
    if game.num_players == 1:
        return """The pictures are evenly spread over a game of the network; the last one is the
final position."""
    first, second = (f"`{player}`" for player in replay.players[:2])
    if game.simultaneous or game.num_players > 2:
        return f"""{first} is player 0; the others are {second}. The pictures are evenly spread
over the game; the last one is the final position."""
    return f"""{first} plays first, {second} second. Each picture is the position
before a move of the network, which plays {seat_names(game)[seat]}, with its value of each
move; the last one is the final position."""
