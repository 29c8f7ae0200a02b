"""Results of a tournament, read from the `results.json` of its report."""

import json
from pathlib import Path

import numpy as np

from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.targets import untrusted_names
from ludoteca.evaluate.match_clock import times_from_json
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.results import Results


def read_results(folder: Path) -> Results:
    """Return the results in a report.

    The report counts games by pair, seat and outcome. These counts and everything computed from
    them are restored; forfeits and the repeat (match) of each game are not.

    Args:
        folder: folder of the report.

    Raises:
        FileNotFoundError: if there is no `results.json`.
        ValueError: if the number of pairs in the file is not that of its tournament.
    """
    path = folder / "results.json"
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}: expected the folder of a tournament's report")
    content = json.loads(path.read_text())
    plan = content["tournament"]
    clock = plan.get("time_control")  # reports without a clock have none
    with untrusted_names(path):
        tournament = Tournament(
            games=tuple(plan["games"]),
            agents=tuple(plan["agents"]),
            names=tuple(plan["names"]),
            games_per_pair=plan["games_per_pair"],
            repeats=plan["repeats"],
            seed=plan["seed"],
            draws=plan["draws"],
            time_control=None if clock is None else TimeControl(**clock),
        )
    games, pairs = len(tournament.games), len(tournament.pairs)
    if len(content["pairs"]) != games * pairs:
        raise ValueError(
            f"{path} holds {len(content['pairs'])} pairs, expected {games * pairs}: "
            f"{pairs} in each of {games} games"
        )
    played = tournament.games_per_pair
    outcomes = np.zeros((games, pairs, played), np.int8)
    plies = np.zeros((games, pairs), np.float64)
    for k, pair in enumerate(content["pairs"]):
        game_and_pair = divmod(k, pairs)
        for seat in range(2):
            # Agent a plays seat 0 in even games, seat 1 in odd ones.
            games_in_seat = outcomes[game_and_pair][seat::2]
            wins, losses = pair[f"wins_a_in_seat_{seat}"], pair[f"wins_b_in_seat_{1 - seat}"]
            games_in_seat[:wins], games_in_seat[wins : wins + losses] = 1, -1
        plies[game_and_pair] = pair["mean_plies"] * played
    return Results(
        tournament,
        outcomes.reshape(games, pairs, tournament.repeats, -1),
        np.rint(plies).astype(np.int64),
        np.array([content["seconds"]]),
        times=tuple(times_from_json(entry) for entry in content.get("times", ())),
    )
