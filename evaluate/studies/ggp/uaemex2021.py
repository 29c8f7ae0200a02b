"""Results of Valencia's thesis on General Game Playing (UAEMex, 2021), from `uaemex2021.toml`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.studies.data import read_data

THESIS = read_data("ggp/uaemex2021.toml")


def by_simulations(name: str) -> dict[int, NDArray[Any]]:
    """Return a table with a row for each game, as an array by simulations per move."""
    return {int(simulations): np.array(rows) for simulations, rows in THESIS[name].items()}


GAMES = tuple(game["name"] for game in THESIS["games"])  # names in this package
GAME_NAMES = tuple(game["title"] for game in THESIS["games"])  # names in the report
POLICIES = tuple(policy["name"] for policy in THESIS["policies"])
POLICY_NAMES = tuple(policy["title"] for policy in THESIS["policies"])  # names in the report
GAMES_PER_PAIR: int = THESIS["games_per_pair"]  # of each pair of policies and game
GAMES_PER_ENCOUNTER = GAMES_PER_PAIR // THESIS["repeats"]
PLAYED = GAMES_PER_PAIR * (len(POLICIES) - 1)  # number of games that each policy plays of each game
# Wins by the number of simulations per move. Shape `[8, 5]`: GAMES, POLICIES.
WINS = by_simulations("wins")
# Policies of each pair, the policy whose wins are counted first.
DIRECTED_PAIRS = tuple((first, second) for first, second in THESIS["directed_pairs"])
PAIR_NAMES = tuple(f"{POLICY_NAMES[a]} against {POLICY_NAMES[b]}" for a, b in DIRECTED_PAIRS)
# Wins of the first policy of each pair by simulations. Shape `[8, 14]`: GAMES, DIRECTED_PAIRS.
PAIR_WINS = {
    simulations: np.round(percentages * GAMES_PER_PAIR / 100).astype(np.int64)
    for simulations, percentages in by_simulations("pairs").items()
}
# The thesis' first comparison, of three policies: their wins in their games against each other, by
# simulations. Shape `[8, 3]`: GAMES, policies.
FIRST_COMPARISON = by_simulations("first_comparison")
# Wins, `[8, 3, 3]` and `[8, 3, 5]`: GAMES, encounters, policies; and the standard deviations over
# the encounters of the percentages of `PAIR_WINS`, `[8, 14]`; by simulations.
FIRST_ENCOUNTERS, ENCOUNTERS = by_simulations("first_encounters"), by_simulations("encounters")
PAIR_DEVIATIONS = by_simulations("pair_deviations")
FRIEDMAN = {int(simulations): value for simulations, value in THESIS["friedman"].items()}
# p-values by simulations, and new and old policy.
WILCOXON = {
    s: {(row["new"], row["old"]): row["p"] for row in THESIS["wilcoxon"] if row["simulations"] == s}
    for s in WINS
}
