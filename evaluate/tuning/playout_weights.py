"""Tuning of the weights of softmax playouts: training in a process of its own, then the matches.

These weights, dozens or hundreds, are not tuned by the scores of games: `python -m
ludoteca.train.playout_policy` trains them by simulation balancing or by maximum likelihood. It runs
as a process, because evaluation must not import training.
"""

import inspect
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ludoteca.agents.registry import parse_agent_spec
from ludoteca.agents.softmax_playouts import find_move_features
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.params import check_integer
from ludoteca.envs.spec import parse_name, parse_spec
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.match import make_match_agents
from ludoteca.evaluate.tuning.evaluation_log import EVALUATIONS_FILE, SETTINGS_FILE
from ludoteca.evaluate.tuning.parameters import with_values
from ludoteca.evaluate.tuning.result import TuningResult, play_final_matches
from ludoteca.files import read_json
from ludoteca.line_log import claim_folder

PARAMETER = "playout.weights"  # the tuned key of an agent's spec string
# Method of the training, by name of the optimizer.
METHODS = {"simulation_balancing": "balancing", "maximum_likelihood": "likelihood"}
MODULE = "ludoteca.train.playout_policy"
# Settings of the training, which may follow the optimizer's name; those of its command.
SETTINGS = (
    "positions", "test_positions", "random_plies", "self_play_simulations", "search_simulations",
    "epochs", "batch_size", "learning_rate", "value_playouts", "gradient_playouts",
    "test_playouts",
)  # fmt: skip
FOLDER, RESULTS = "training", "results.json"  # in the folder of the run; the training's last file


def find_method(optimizer: str) -> str | None:
    """Return the optimizer's name in `METHODS`; None if the spec string names another optimizer."""
    name = parse_name(optimizer).lower().replace("-", "_")
    return name if name in METHODS else None


def tune_playout_weights(
    game: Game,
    agent: str,
    parameters: Sequence[str],
    out: Path,
    *,
    optimizer: str,
    against: Sequence[str],
    match_games: int,
    random_plies: int,
    seed: int,
    num_threads: int,
    progress: bool,
) -> TuningResult:
    """Train weights of softmax playouts, and play the matches of the agent with them.

    See `tune_agent` for the arguments. After an interruption of the matches, the same call does not
    train again.

    Raises:
        ValueError: if an argument is invalid, or the folder belongs to another run.
        subprocess.CalledProcessError: if the training fails, after its message on standard error.
    """
    name = find_method(optimizer)
    assert name is not None, optimizer
    if list(parameters) != [PARAMETER]:
        raise ValueError(
            f"{name} tunes only {PARAMETER}: expected --tune {PARAMETER}, got "
            f"{' '.join(parameters)!r}"
        )
    if parse_agent_spec(agent)[0] != "mcts":
        raise ValueError(f"only the agent mcts has {PARAMETER}, not {agent!r}")
    find_move_features(game)  # raises if the game has none
    settings = parse_settings(optimizer, name)
    check_integer("match_games", match_games, 2, 10**9)
    for opponent in [agent, *against]:
        make_match_agents(game, [agent, opponent])  # raises if they cannot play the game
    identity = {
        "game": game.spec,
        "agent": agent,
        "parameters": list(parameters),
        "optimizer": optimizer,
        "against": list(against),
        "random_plies": random_plies,
        "seed": check_seed(seed),
    }
    description, results = out / SETTINGS_FILE, out / FOLDER / RESULTS
    claim = partial(claim_folder, description, identity, out / EVALUATIONS_FILE, "tuning run")
    if description.exists():
        claim()  # raises if the folder belongs to another run
    if not (description.exists() and results.exists()):
        arguments = [game.spec, "--methods", METHODS[name], "--run-dir", str(out / FOLDER)]
        for key, value in {"seed": seed, **settings}.items():
            arguments += [f"--{key.replace('_', '-')}", str(value)]
        run_training(arguments)
        claim()  # after the training: if it fails, other settings may have the same folder
    weights = out / FOLDER / f"{METHODS[name]}.safetensors"
    values = {"playout": "softmax", PARAMETER: str(weights)}
    tuned_agent = with_values(agent, values)
    return TuningResult(
        game=game.spec,
        agent=tuned_agent,
        parameters=(),
        values=values,
        start=agent,
        start_values=start_values(agent, values),
        games=0,
        evaluations=(),
        matches=play_final_matches(
            game,
            tuned_agent,
            [agent, *against],
            match_games,
            seed=seed,
            first_game=0,
            num_threads=num_threads,
            random_plies=random_plies,
            progress=progress,
        ),
        errors=read_json(results)["test"],
    )


def run_training(arguments: Sequence[str]) -> None:
    """Run the training with the arguments of its command, in a process of its own.

    Raises:
        subprocess.CalledProcessError: if it fails, after its message on standard error.
    """
    command = [sys.executable, "-P", "-m", MODULE, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def parse_settings(optimizer: str, name: str) -> dict[str, str]:
    """Return the settings of the training in the optimizer's spec string, as text.

    Raises:
        ValueError: if there is no such setting.
    """
    known = {
        key: inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=str)
        for key in SETTINGS
    }
    settings = parse_spec(optimizer, known=known)[1]
    for key in settings:
        if key not in SETTINGS:
            raise ValueError(
                f"optimizer {name} has no setting {key!r}{did_you_mean(key, SETTINGS)}; it has "
                f"{', '.join(SETTINGS)}"
            )
    return settings


def start_values(agent: str, values: dict[str, str]) -> dict[str, str]:
    """Return the agent's values of the tuned keys: uniform playouts, unless its spec says more."""
    items = parse_agent_spec(agent)[1].split(",")
    own = {"playout": "uniform"} | dict(item.partition("=")[::2] for item in items)
    return {key: own.get(key, "-") for key in values}
