"""Study of selection policies in bandits: repetitions of 100,000 rounds.

The thesis of Valencia on General Game Playing (UAEMex, 2021), section 3.2, compares policies by the
share of pulls of the best arm; sections 1.3.5 and 1.3.6 give bounds of the regret, and section 1.4
cooling schedules of simulated annealing.
"""

from ludoteca.evaluate.studies.bandit_policies import analysis, cooling, findings, plots
from ludoteca.evaluate.studies.bandit_policies.problems import AUER, GAME_ARMS, PROBLEMS
from ludoteca.evaluate.studies.data import PUBLISHED_POLICIES
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task
from ludoteca.evaluate.tuning.annealing import COOLING

POLICIES = PUBLISHED_POLICIES
MODULE = "ludoteca.evaluate.studies.bandit_policies"


def make_study(fast: bool = False, random_repetitions: int = 100) -> Study:
    """Return the study.

    Args:
        fast: play 5 repetitions of 1,000 rounds, to check that everything runs.
        random_repetitions: number of random problems with each number of arms.
    """
    size = {"repetitions": 5 if fast else 100,
            "random_repetitions": 5 if fast else random_repetitions,
            "rounds": 1_000 if fast else 100_000, "seed": 1}  # fmt: skip
    policies = {
        f"policy-{name.replace(':', '-')}": repetitions(name, size)
        for name in (*POLICIES, analysis.OTHER_CONSTANT)
    }
    search = {"searches": 3 if fast else 100, "steps": 5 if fast else 40, "problems": 20, "seed": 1}
    cooling_tasks = {
        task.name: task
        for rounds in ((500, 100) if fast else (100_000, 5_000))
        for name in COOLING
        for task in (annealings(name, search | {"rounds": rounds}),)
    }
    names = {
        "AUER": AUER, "GAME_ARMS": GAME_ARMS, "PROBLEMS": PROBLEMS, "POLICIES": POLICIES,
        "size": size, "search": search, "analysis": analysis, "cooling": cooling,
        "findings": findings,
    }  # fmt: skip
    parts = {"policies": policies, "cooling": cooling_tasks}
    return Study("bandit_policies", parts, names, draw=plots.draw, fast=fast)


def repetitions(policy: str, size: dict[str, int]) -> Task:
    """Return the task that plays all problems with a policy."""
    name, settings = f"policy-{policy.replace(':', '-')}", {"policy": policy, **size}
    return Task(
        name, f"{MODULE}.repetitions", settings | {"out": "{artifact}"}, settings, label=policy
    )


def annealings(schedule: str, search: dict[str, int]) -> Task:
    """Return the task that searches for the constant of UCB1 with a cooling schedule."""
    name, settings = f"cooling-{schedule}-{search['rounds']}", {"cooling": schedule, **search}
    return Task(
        name, f"{MODULE}.annealings", settings | {"out": "{artifact}"}, settings,
        label=schedule.replace("_", "-"),
    )  # fmt: skip


reproduce = study_command(
    make_study, "Compare selection policies in bandits by their pulls of the best arm and regret."
)
