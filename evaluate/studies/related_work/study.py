"""Study of two published comparisons of selection policies, which Valencia's thesis builds on.

Francisco-Valencia, Marcial-Romero and Valdovinos-Rosas, "A comparison between UCB and UCB-Tuned as
selection policies in GGP" (Journal of Intelligent and Fuzzy Systems, 2019), and Perick, St-Pierre,
Maes and Ernst, "Comparison of different selection strategies in Monte-Carlo tree search for the
game of Tron" (CIG 2012), as section 4.1 of the thesis (UAEMex, 2021) describes them.
"""

from itertools import combinations
from typing import Any

from ludoteca.evaluate.studies.related_work import analysis
from ludoteca.evaluate.studies.related_work.tron import chosen_constants
from ludoteca.evaluate.studies.related_work.tuning import share
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task, Tasks

COMMANDS = "ludoteca.evaluate.studies.related_work"
BOARD_GAMES = {
    "breakthrough": "Breakthrough 6x6",
    "knight_through": "Knight-Through 8x8",
    "connect4:rows=6,columns=8": "Connect Four 6x8",
}
SIMULATIONS, GAMES_PER_MATCH, REPEATS = (100, 1000), 100, 3
FAST_SIMULATIONS, FAST_GAMES = (5, 10), 4
DETERMINISTIC = ("ucb1", "ucb_tuned", "ucb_v", "ucb_minimal", "omc", "moss")
STOCHASTIC = ("epsilon_greedy", "exp3", "thompson", "omc_stochastic", "pbbm")
POLICIES = (*DETERMINISTIC, *STOCHASTIC)
# Reference constants of each policy that has any, the package's defaults, and a grid around them.
GRIDS = {
    "ucb1": (
        "policy.alpha=2",
        ("policy.alpha=0.1", "policy.alpha=0.5", "policy.alpha=1", "policy.alpha=4"),
    ),
    "ucb_v": (
        "policy.zeta=1,policy.c=1",
        (
            "policy.zeta=0.2,policy.c=1", "policy.zeta=1,policy.c=0.1", "policy.zeta=1,policy.c=0",
            "policy.zeta=0.2,policy.c=0.1", "policy.zeta=2,policy.c=1",
        ),
    ),
    "ucb_minimal": (
        "policy.c=1", ("policy.c=0.5", "policy.c=2", "policy.c=4", "policy.c=8"),
    ),
    # The score depends on c / d^2 alone.
    "epsilon_greedy": (
        "policy.c=1,policy.d=0.8",
        tuple(f"policy.c={c:g},policy.d=0.8" for c in (0.1, 0.3, 3, 10)),
    ),
    "exp3": (
        "policy.gamma=0.3", tuple(f"policy.gamma={gamma:g}" for gamma in (0.1, 0.2, 0.5, 0.8)),
    ),
}  # fmt: skip
# Tron with the paper's time per move: budget, and decided games of each match of the tuning and of
# each pair. The part with these tasks takes hours, and runs only if it is named.
TIMED_PART, TIMED_BUDGET = "tron-100ms", "seconds=0.1"
TIMED_TUNING_DECIDED, TIMED_PAIR_DECIDED = 20, 8
# Tron by size of the run: board, search budget per move, and decided games of each match of the
# tuning and of each pair.
TRON_SIZES = {
    "fast": ("tron:rows=6,columns=6", "simulations=10", 4, 4),
    "default": ("tron:rows=20,columns=20", "simulations=200", 100, 60),
    "full": ("tron:rows=20,columns=20", "seconds=0.1", 10_000, 10_000),
}


def make_study(fast: bool = False, full: bool = False) -> Study:
    """Return the study.

    Args:
        fast: play few games, in Tron with 10 simulations per move on a board of 6x6, to check that
            everything runs.
        full: play in Tron as the paper does: 100 ms per move until 10,000 games of each match are
            decided, which takes more than half a year of processor time. Give another folder with
            --out to keep the report of the smaller run.

    Raises:
        ValueError: if the run is to be both fast and full.
    """
    if fast and full:
        raise ValueError("fast and full exclude each other, got fast=True and full=True")
    size = "fast" if fast else "full" if full else "default"
    game, budget, tuning_decided, pair_decided = TRON_SIZES[size]
    simulations, games = (FAST_SIMULATIONS, FAST_GAMES) if fast else (SIMULATIONS, GAMES_PER_MATCH)
    parts = {
        "final_policy": final_policy_tasks(simulations, games),
        "tron": tron_tasks("-full" if full else "", game, budget, tuning_decided, pair_decided),
        "speed": speed_tasks(game, 0.002 if fast else 0.1),
    }
    if size == "default":
        parts[TIMED_PART] = timed_tasks(game)
    timed = parts.get(TIMED_PART, {})
    names = {
        "analysis": analysis, "share": share, "board_games": BOARD_GAMES, "games": games,
        "simulations": simulations, "repeats": REPEATS, "policies": POLICIES, "grids": GRIDS,
        "deterministic": DETERMINISTIC, "stochastic": STOCHASTIC, "size": size,
        "budget": budget, "tuning_decided": tuning_decided, "pair_decided": pair_decided,
        "board": "6x6" if fast else "20x20", "playing_minutes": analysis.playing_minutes,
        "board_tasks": tuple(parts["final_policy"]),
        "tuning_tasks": tuple(name for name in parts["tron"] if name.startswith("tuning-")),
        "pair_tasks": tuple(name for name in parts["tron"] if name.startswith("pairs-")),
        "timed_part": TIMED_PART, "timed_budget": TIMED_BUDGET,
        "timed_tuning_decided": TIMED_TUNING_DECIDED, "timed_pair_decided": TIMED_PAIR_DECIDED,
        "timed_tuning_tasks": tuple(name for name, task in timed.items() if "grid" in task.options),
        "timed_pair_tasks": tuple(
            name for name, task in timed.items() if "opponents" in task.options
        ),
        "timed_decided": sum(int(task.options["decided"]) for task in timed.values()),
        "chosen_constants": chosen_constants,
    }  # fmt: skip
    return Study(
        "related_work", parts, names, fast=fast,
        optional_parts=frozenset({TIMED_PART} & parts.keys()),
    )  # fmt: skip


def final_policy_tasks(budgets: tuple[int, ...], games: int) -> Tasks:
    """Return the tasks of UCB-Tuned against UCB1, one for each game and number of simulations.

    Args:
        budgets: numbers of simulations per move.
        games: number of games of each match.
    """
    tasks: Tasks = {}
    for simulations in budgets:
        for game, label in BOARD_GAMES.items():
            name = f"{game.partition(':')[0]}-{simulations}"
            settings = {
                "game": game, "simulations": simulations, "games": games, "repeats": REPEATS,
            }  # fmt: skip
            tasks[name] = Task(
                name, f"{COMMANDS}.final_policy", {**settings, "out": "{artifact}"}, settings,
                label=label,
            )  # fmt: skip
    return tasks


def tron_tasks(
    suffix: str, game: str, budget: str, tuning_decided: int, pair_decided: int
) -> Tasks:
    """Return the tasks in Tron: the tuning of each policy, then the matches of each pair.

    Args:
        suffix: end of the tasks' names.
        game: spec string of the game.
        budget: search budget per move.
        tuning_decided: number of decided games of each match of the tuning.
        pair_decided: number of decided games of each pair.
    """
    common = {"game": game, "budget": budget, "seed": 1}
    tasks: Tasks = {}
    for policy, (reference, grid) in GRIDS.items():
        name = f"tuning-{policy}{suffix}"
        settings: dict[str, Any] = {
            **common, "policy": policy, "reference": reference, "grid": grid,
            "decided": tuning_decided,
        }  # fmt: skip
        tasks[name] = Task(
            name, f"{COMMANDS}.tuning", {**settings, "out": "{artifact}"}, settings, label=policy
        )
    tunings = tuple(tasks)
    for k, policy in enumerate(POLICIES[:-1]):
        name = f"pairs-{policy}{suffix}"
        settings = {
            **common, "policy": policy, "opponents": POLICIES[k + 1 :], "decided": pair_decided,
        }  # fmt: skip
        tuned = tuple(f"{{folder}}/{tuning}/results.json" for tuning in tunings)
        tasks[name] = Task(
            name, f"{COMMANDS}.tron", {**settings, "tuned": tuned, "out": "{artifact}"}, settings,
            requires=tunings, label=policy,
        )  # fmt: skip
    return tasks


def speed_tasks(game: str, seconds: float) -> Tasks:
    """Return the task that measures the simulations of each policy in a time."""
    settings = {"game": game, "policies": POLICIES, "seconds": seconds, "games": 10, "seed": 1}
    return {
        "speed": Task("speed", f"{COMMANDS}.speed", {**settings, "out": "{artifact}"}, settings)
    }


def timed_tasks(game: str) -> Tasks:
    """Return the tasks in Tron with the paper's time per move.

    There is one for each match, so that they are short.

    Args:
        game: spec string of the game.
    """
    common = {"game": game, "budget": TIMED_BUDGET, "seed": 1}
    tasks: Tasks = {}
    for policy, (reference, grid) in GRIDS.items():
        for k, constants in enumerate(grid):
            name = f"timed-tuning-{policy}-{k}"
            settings: dict[str, Any] = {
                **common, "policy": policy, "reference": reference, "grid": (constants,),
                "decided": TIMED_TUNING_DECIDED, "early_stop": True,
            }  # fmt: skip
            tasks[name] = Task(
                name, f"{COMMANDS}.tuning", {**settings, "out": "{artifact}"}, settings,
                label=policy,
            )  # fmt: skip
    tunings = tuple(tasks)
    tuned = tuple(f"{{folder}}/{tuning}/results.json" for tuning in tunings)
    for policy, opponent in combinations(POLICIES, 2):
        name = f"timed-{policy}-{opponent}"
        settings = {
            **common, "policy": policy, "opponents": (opponent,), "decided": TIMED_PAIR_DECIDED,
        }  # fmt: skip
        tasks[name] = Task(
            name, f"{COMMANDS}.tron", {**settings, "tuned": tuned, "out": "{artifact}"}, settings,
            requires=tunings, label=policy,
        )  # fmt: skip
    return tasks


reproduce = study_command(
    make_study, "Compare UCB-Tuned with UCB1 in three games, and eleven policies in Tron."
)
