"""Study of selection policies in P-games: failure rates by simulations, branching and depth."""

from ludoteca.evaluate.studies.data import PUBLISHED_POLICIES
from ludoteca.evaluate.studies.p_game import analysis, depth, plots, trends
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task

COUNT, FAST_COUNT = 500, 40  # trees of each size, in full and in fast runs
DEPTH_COUNT = 1000  # the same for constants that depend on the depth, in full runs
# Trees of the UCT curves. The first two are those of figure 2 of Kocsis and Szepesvari.
CURVE_TREES = ("2x20", "8x8", "2x4", "2x8", "2x12", "2x16", "4x8", "6x8")
CURVE_SIMULATIONS = tuple(2**k for k in range(1, 15))
POLICY_TREES = ("2x8", "4x8", "8x8", "4x4", "8x4", "16x4", "32x4", "64x4")
POLICY_SIMULATIONS = (100, 1000)
POLICIES = (*PUBLISHED_POLICIES, "kl_ucb")
# Constants of UCB1 other than the default, 2.
CONSTANTS = tuple(f"ucb1:alpha={2.0**k:g}" for k in range(0, -8, -1))


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: search 40 trees of each size instead of 500, to check that everything runs.
    """
    count = FAST_COUNT if fast else COUNT
    parts = {
        "curves": {
            f"curve-{tree}": task(f"curve-{tree}", "ucb1", (tree,), CURVE_SIMULATIONS, count)
            for tree in CURVE_TREES
        },
        "policies": {
            f"policy-{name.replace(':', '-')}": task(
                f"policy-{name.replace(':', '-')}", name, POLICY_TREES, POLICY_SIMULATIONS, count
            )
            for name in (*POLICIES, *CONSTANTS)
        },
        "depth": {
            each.name: each
            for policy in depth.POLICIES
            for factor in depth.FACTORS
            for each in (depth_task(policy, factor, FAST_COUNT if fast else DEPTH_COUNT),)
        },
    }
    names = {
        "CURVE_TREES": CURVE_TREES, "CURVE_SIMULATIONS": CURVE_SIMULATIONS,
        "POLICY_TREES": POLICY_TREES, "POLICY_SIMULATIONS": POLICY_SIMULATIONS,
        "POLICIES": POLICIES, "count": count, "analysis": analysis, "trends": trends,
        "depth": depth, "depth_count": FAST_COUNT if fast else DEPTH_COUNT,
    }  # fmt: skip
    return Study("p_game", parts, names, draw=plots.draw, fast=fast)


def task(
    name: str, policy: str, trees: tuple[str, ...], simulations: tuple[int, ...], count: int
) -> Task:
    """Return the task that measures the failure rates of a policy in trees of some sizes."""
    settings = {
        "policy": policy, "trees": trees, "simulations": simulations, "count": count, "seed": 1
    }  # fmt: skip
    return Task(
        name, "ludoteca.evaluate.studies.p_game.failures", settings | {"out": "{artifact}"},
        settings, label=policy,
    )  # fmt: skip


def depth_task(policy: str, factor: float, count: int) -> Task:
    """Return the task that measures a policy with a factor of its exploration for each ply."""
    name = f"depth-{policy.replace(':', '-')}-{factor:g}"
    settings = {
        "policy": policy, "depth_decay": factor, "trees": depth.TREES,
        "simulations": depth.SIMULATIONS, "count": count, "seed": 1,
    }  # fmt: skip
    return Task(
        name, "ludoteca.evaluate.studies.p_game.failures", settings | {"out": "{artifact}"},
        settings, label=policy,
    )  # fmt: skip


reproduce = study_command(
    make_study, "Measure how often selection policies fail to find a best move in random trees."
)
