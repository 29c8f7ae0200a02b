"""Execution of one recipe, by the interpreter of its library's environment.

A recipe is a short program, `docs/recipes/NAME.py`, that trains agents on an environment of this
package with an RL library (its library, such as Stable-Baselines3), and plays matches with them.
Each library has a virtual environment of its own, see `ludoteca.evaluate.recipes.environments`.

`python -m ludoteca.evaluate.recipes.execute RECIPE.py OUT.json PACKAGE...` runs the program, reads
the results from its global variables, measures the speed of the native vector environment (this
package's `GameVectorEnv`), and writes both with the versions of the packages.
"""

import json
import math
import platform
import runpy
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from time import perf_counter
from typing import Any

import ludoteca  # noqa: F401  registers the agents that opponents are made of
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.sampler import MaskSampler
from ludoteca.evaluate.match import MatchResult
from ludoteca.evaluate.match_table import match_json
from ludoteca.files import write_atomically

# Variables of a recipe with results of matches against random moves. In a game of two players, the
# agent of the first match was trained against random moves, that of the second by self-play; the
# third is of the game Hungry Geese, with four players and any training.
MATCHES = ("against_random", "self_play", "geese")
MIN_GAMES = 400  # minimum number of games of a match
NATIVE_ENVS = 64  # number of games of the native vector environment
NATIVE_SECONDS = 2.0  # duration of the measurement of its speed


def read_results(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results in the global variables of a recipe as JSON values.

    Args:
        names: the program's global variables at its end: `steps` and `seconds` of training, and
            `MatchResult`s in `against_random` and `self_play`, or in `geese`, or in all three, see
            `MATCHES`.

    Raises:
        ValueError: if a variable is missing, or its type or value is invalid.
    """
    steps, seconds = names.get("steps"), names.get("seconds")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(
            f"steps must be the number of environment steps, at least 1, got {steps!r:.80}"
        )
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds <= 0:
        raise ValueError(f"seconds must be the training time, positive, got {seconds!r:.80}")
    matches = {name: names[name] for name in MATCHES if name in names}
    if not ("geese" in matches or {"against_random", "self_play"} <= set(matches)):
        raise ValueError(
            "expected results of matches in the variables against_random and self_play, or in "
            f"geese; got {', '.join(matches) or 'none'}"
        )
    for name, result in matches.items():
        _check_match(name, result)
    return {
        "steps": steps,
        "seconds": float(seconds),
        "matches": {name: match_json(result) for name, result in matches.items()},
    }


def _check_match(name: str, result: Any) -> None:
    """Raise a `ValueError` unless `result` is a long enough match of an agent against random."""
    if not isinstance(result, MatchResult):
        raise ValueError(f"{name} must be a result of play_match, got {result!r:.80}")
    others = set(result.agents[1:])
    if others != {"random"} or result.agents[0] == "random":
        raise ValueError(
            f"{name} must be a match of one agent against random, the agent first; "
            f"got {', '.join(result.agents)}"
        )
    games_by_seat = {record.games for record in result.seats[0]}
    if result.games < MIN_GAMES or len(games_by_seat) > 1:
        raise ValueError(
            f"{name} must have at least {MIN_GAMES} games, the same number from each seat; got "
            f"{', '.join(str(record.games) for record in result.seats[0])}"
        )


def native_speed(game: str, seconds: float = NATIVE_SECONDS) -> dict[str, Any]:
    """Measure the speed of the native vector environment with random actions and opponents.

    Args:
        game: spec string of the game.
        seconds: approximate duration of the measurement.

    Returns:
        `"steps"`, the number of the agent's moves, each with the opponents' replies; their time
        `"seconds"`; `"game"`, the spec string; and `"num_envs"`, the number of games in the batch.
    """
    envs = GameVectorEnv(
        make_game(game),
        NATIVE_ENVS,
        opponent="random",
        agent_seat="random",
        autoreset_mode="SameStep",
    )
    sample_actions, steps = MaskSampler(), 0
    _, info = envs.reset(seed=0)
    _, _, _, _, info = envs.step(sample_actions(info["action_mask"]))  # compiles
    start = perf_counter()
    while (passed := perf_counter() - start) < seconds:
        _, _, _, _, info = envs.step(sample_actions(info["action_mask"]))
        steps += NATIVE_ENVS
    envs.close()
    return {"game": envs.game.spec, "num_envs": NATIVE_ENVS, "steps": steps, "seconds": passed}


def main(arguments: Sequence[str]) -> None:
    """Run a recipe; write its results as JSON.

    The recipe's folder is not on `sys.path`, as a recipe named like its library would hide it.

    Args:
        arguments: the recipe, the file for the results, and packages whose versions are recorded.

    Raises:
        ValueError: if a result is missing or invalid.
    """
    recipe, out, *packages = arguments
    sys.argv = [recipe]
    start = perf_counter()
    results = read_results(runpy.run_path(recipe, run_name="__main__"))
    results["total_seconds"] = perf_counter() - start
    game = next(iter(results["matches"].values()))["game"]
    results["native"] = native_speed(game)
    results["versions"] = {name: version(name) for name in packages}
    results["python"] = platform.python_version()
    write_atomically(out, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
