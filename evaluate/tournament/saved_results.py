"""Results of a tournament, read from the `results.json` of its report."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.targets import untrusted_names
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_clock import times_from_json
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.results import RepeatCounts, Results

RESULTS_FILE = "results.json"


def read_results(folder: Path) -> Results:
    """Return the results in a report.

    The report counts games by pair and outcome, once by seat and once by repeat (match). These
    counts and everything computed from them are restored, but not the order of a pair's games.

    Args:
        folder: folder of the report.

    Raises:
        FileNotFoundError: if there is no `results.json`.
        ValueError: if the number of pairs or repeats in the file is not that of its tournament.
    """
    path = folder / RESULTS_FILE
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
        forfeits=[_forfeit(entry, tournament) for entry in content.get("forfeits", ())],
        times=tuple(times_from_json(entry) for entry in content.get("times", ())),
        by_repeat=_repeat_counts(content, tournament),
    )


def _repeat_counts(content: dict[str, Any], tournament: Tournament) -> RepeatCounts:
    """Return the counts by repeat in a `results.json`.

    Older files lack the losses of the first agent of a pair. They are computed where the pair drew
    no game, or where all other wins of the second agent are known; else they are unknown.
    """
    t = tournament
    pairs, shape = content["pairs"], (len(t.games), len(t.pairs), t.repeats)
    wins = np.array([pair["wins_by_repeat"] for pair in pairs])
    points = np.array(content["points_by_repeat"], np.float64)
    if wins.shape != (len(pairs), t.repeats) or points.shape != (shape[0], len(t.agents), shape[2]):
        raise ValueError(
            f"expected {t.repeats} repeats, as the tournament has, in wins_by_repeat and "
            f"points_by_repeat; got {wins.shape[-1]} and {points.shape[-1]}"
        )
    wins = wins.reshape(shape)
    if pairs and "losses_by_repeat" in pairs[0]:
        losses = np.array([pair["losses_by_repeat"] for pair in pairs], np.float64).reshape(shape)
        return RepeatCounts(wins, losses, points)
    drew = np.array([pair["draws"] > 0 for pair in pairs]).reshape(shape[:2])
    losses = np.where(drew[..., None], np.nan, t.games_per_match - wins)
    for g in range(len(t.games) if t.draws == "loss" else 0):
        for agent in range(len(t.agents)):
            first = [k for k, pair in enumerate(t.pairs) if pair[0] == agent]
            second = [k for k, pair in enumerate(t.pairs) if pair[1] == agent]
            unknown = [k for k in second if drew[g, k]]
            if len(unknown) == 1:
                others = wins[g, first].sum(0) + np.nansum(losses[g, second], axis=0)
                losses[g, unknown[0]] = points[g, agent] - others
    return RepeatCounts(wins, losses, points)


def _forfeit(entry: dict[str, Any], tournament: Tournament) -> tuple[Match, Forfeit]:
    """Return a forfeit in a `results.json`, and its match; the inverse of `to_json`."""
    agent, other = (tournament.names.index(entry[key]) for key in ("agent", "against"))
    match = Match(
        tournament.games.index(entry["game"]),
        (min(agent, other), max(agent, other)),
        entry["repeat"],
    )
    details = {key: entry[key] for key in ("seat", "ply", "kind", "message")}
    return match, Forfeit(game=entry["game_of_match"], agent=agent, **details)
