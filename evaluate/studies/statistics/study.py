"""Study of the package's statistics, by simulation and against other libraries."""

from typing import Any

from ludoteca.evaluate.statistics.sprt import parse_sprt
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.statistics import analysis, coverage
from ludoteca.evaluate.studies.study import Study, Task

DRAWS = (0.0, 0.3, 0.6)
WIDE, NARROW, STRICT = "elo0=0,elo1=50", "elo0=0,elo1=20", "elo0=0,elo1=50,alpha=0.01,beta=0.1"
ELOS = (-50, 0, 25, 50, 100)
# Simulated tests: test, true Elo differences, probability of a draw, advantage of moving first.
TESTS = [
    *((WIDE, ELOS, draws, 0.0) for draws in DRAWS),
    *((WIDE, ELOS, draws, 0.2) for draws in (0.0, 0.3)),
    (NARROW, (0, 20), 0.3, 0.0),
    (STRICT, (0, 50), 0.3, 0.0),
]
POWER_ELOS = (10, 20, 50, 100)
RUNS = (3, 5, 10, 20)  # number of training runs of a group
AGENT = "mcts:simulations=100"
# Matches that are decided by the wide test, and by a match of fixed length.
MATCHES = {
    "150 simulations against 100": ("connect4", "mcts:simulations=150", AGENT),
    "UCB1 against UCB-alpha2": (
        "breakthrough:rows=6,columns=6", f"{AGENT},policy=ucb1", f"{AGENT},policy=ucb_alpha2",
    ),
    "equal agents": ("connect4", AGENT, AGENT),
}  # fmt: skip


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: simulate 100 tests, 1,000 matches and 20 comparisons of each kind, and play matches of
            20 games, to check that everything runs.
    """
    count, matches, comparisons = (100, 1_000, 20) if fast else (2_000, 20_000, 300)
    sequential, power, covered, played = (dict[str, Task]() for _ in range(4))
    for counts in ("trinomial", "pentanomial"):
        for test, elos, draws, advantage in TESTS:
            settings = {"test": f"{test},counts={counts}", "elos": elos, "draws": draws}
            settings |= {"advantage": advantage, "count": count, "seed": len(sequential)}
            add(sequential, f"{counts}-{len(sequential) % len(TESTS)}", "tests", settings)
    for one_sided, probability in ((False, 0.8), (True, 0.95)):
        for draws in DRAWS:
            settings = {"elos": POWER_ELOS, "draws": draws, "alpha": 0.05, "power": probability}
            settings |= {"one_sided": one_sided, "count": matches, "seed": len(power)}
            add(power, f"power-{len(power)}", "power", settings)
    for distribution in ("beta", "failures"):
        for runs in RUNS:
            settings = {"distribution": distribution, "runs": runs, "count": comparisons}
            settings |= {"resamples": 100 if fast else 1_000, "seed": len(covered)}
            add(covered, f"coverage-{distribution}-{runs}", "coverage", settings)
    fixed = 20 if fast else analysis.fixed_games(f"{WIDE},counts=trinomial", 0.0)
    keys = ("agents", "games", "seconds", "about", "versions")
    for k, (label, (game, *agents)) in enumerate(MATCHES.items()):
        for kind, options in (("sprt", {"sprt": (0, 50)}), ("fixed", {"games": fixed})):
            name, settings = f"{kind}-{k}", {"agents": tuple(agents), "seed": 1, **options}
            played[name] = Task(
                name, "ludoteca", {**settings, "json": "{artifact}"}, {"game": game, **settings},
                ("match", game), label=label,
                record_keys=(*keys, "sprt") if kind == "sprt" else keys,
            )  # fmt: skip
    parts = {"tests": sequential, "power": power, "coverage": covered, "matches": played}
    parts["libraries"] = add({}, "libraries", "libraries", {})
    names = {
        "parse_sprt": parse_sprt, "theory": analysis.theory, "fixed_games": analysis.fixed_games,
        "analysis": analysis, "coverage": coverage, "fixed": fixed, "RUNS": RUNS, "WIDE": WIDE,
        "count": count, "matches": matches, "comparisons": comparisons,
    }  # fmt: skip
    return Study("statistics", parts, names, fast=fast)


def add(tasks: dict[str, Task], name: str, kind: str, settings: dict[str, Any]) -> dict[str, Task]:
    """Add a task that makes measurements of a kind, and return the tasks."""
    module = "ludoteca.evaluate.studies.statistics.measurements"
    tasks[name] = Task(name, module, {**settings, "out": "{artifact}"}, settings, (kind,))
    return tasks


reproduce = study_command(
    make_study, "Check the package's statistics by simulation and against other libraries."
)
