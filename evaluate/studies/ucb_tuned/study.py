"""Study of readings of UCB-Tuned's formula, as hypotheses on why a thesis finds it weaker.

In Valencia's thesis on General Game Playing (UAEMex, 2021) UCB-Tuned wins about as often as UCB1
with alpha = 2; in the study `ggp` it wins much more. The readings are experiments: the policy's
default is the formula of Auer, Cesa-Bianchi and Fischer (2002).
"""

from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task, Tasks
from ludoteca.evaluate.studies.ucb_tuned.analysis import TUNED, compare

OPTIONS = "draw=loss,action_selection=mean"  # of all searches, as in the thesis
# Games of different kinds, in which UCB-Tuned's wins differ significantly from the thesis.
GAMES = ("atari_go", "breakthrough", "knight_through", "free_for_all")
GAMES_PER_PAIR = {100: 300, 1_000: 120}  # by number of simulations per move
UNBOUNDED = "policy.bound=1e6"
# Options and formulas of the readings. x is a mean, V the variance bound, c = ln t / n.
READINGS = {
    "as Auer et al., rewards 0 and 1": ("policy=ucb_tuned", "x + sqrt(c min(1/4, V))"),
    "without the minimum": (f"policy=ucb_tuned,{UNBOUNDED}", "x + sqrt(c V)"),
    "rewards 0 and 100": ("policy=ucb_tuned,policy.scale=100", "100 x + sqrt(c min(1/4, V))"),
    "rewards 0 and 100, without the minimum": (
        f"policy=ucb_tuned,policy.scale=100,{UNBOUNDED}",
        "100 x + sqrt(c V)",
    ),
}
OPPONENTS = {
    policy["title"]: policy["options"]
    for policy in thesis.THESIS["policies"]
    if policy["name"] != "ucb_tuned"
}


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: play matches of 2 games, to check that everything runs.
    """
    budgets = {100: 2, 1_000: 2} if fast else GAMES_PER_PAIR
    options = {name: spec for name, (spec, _) in READINGS.items()}
    titles = dict(zip(thesis.GAMES, thesis.GAME_NAMES, strict=True))
    tasks: Tasks = {}
    for simulations, games in budgets.items():
        for game in GAMES:
            settings = {
                "game": game, "readings": tuple(options.values()),
                "opponents": tuple(OPPONENTS.values()), "options": OPTIONS,
                "simulations": simulations, "games": games, "seed": 1,
            }  # fmt: skip
            name = f"{game}-{simulations}"
            tasks[name] = Task(
                name, "ludoteca.evaluate.studies.ucb_tuned.matches",
                {**settings, "out": "{artifact}"}, settings, label=titles[game],
            )  # fmt: skip
    rows = [thesis.GAMES.index(game) for game in GAMES]
    names = {
        "budgets": budgets, "readings": READINGS, "opponents": OPPONENTS, "options": OPTIONS,
        "compare": compare, "game_titles": {game: titles[game] for game in GAMES},
        # Mean share of wins of UCB and UCB-Tuned in the thesis in these games.
        "thesis_shares": {
            s: {
                thesis.POLICY_NAMES[k]: float(wins[rows, k].mean() / thesis.PLAYED)
                for k in (thesis.POLICIES.index("ucb1"), TUNED)
            }
            for s, wins in thesis.WINS.items()
        },
    }  # fmt: skip
    return Study("ucb_tuned", {"matches": tasks}, names, fast=fast)


reproduce = study_command(
    make_study, "Compare readings of UCB-Tuned's formula with the wins in a thesis."
)
