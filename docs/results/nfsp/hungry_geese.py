"""Matches of NFSP runs in Hungry Geese, with intervals over the runs.

Usage: `python docs/results/nfsp/hungry_geese.py RUN ... --untrained RUN ... --out FILE`. Each run,
a folder of `ludoteca.train.nfsp`, plays one seat of four against each of `OPPONENTS`. The untrained
runs have the same seeds in the same order, and random weights.
"""

import argparse
import json
from pathlib import Path

from ludoteca.evaluate.markdown import table, with_interval
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

# Agents in the other three seats, by name.
OPPONENTS = {
    "three random": ["random"] * 3,
    "three random_safe": ["random_safe"] * 3,
    "three deterministic": ["deterministic"] * 3,
    "deterministic, flat, cnn:geese": [
        "deterministic",
        "flat:simulations=1000,playout_depth=6",
        "cnn:geese",
    ],
}


def match(run, policy, opponents, games, seed):
    """Return the wins, the mean place and the mean return of a run's policy, as JSON values.

    A win is a sole first place, also of a goose that died last. Places are from 1 to 4.
    """
    agent = f"nfsp:{run},policy={policy}"
    total = play_match("hungry_geese", [agent, *opponents], games, seed=seed).totals[0]
    low, high = wilson(total.wins, games)
    return {
        "run": str(run), "games": games, "wins": total.wins, "low": low, "high": high,
        "mean_rank": total.mean_rank, "mean_return": total.mean_return,
    }  # fmt: skip


def win_shares(matches):
    """Return the wins of each run in %."""
    return [100 * one["wins"] / one["games"] for one in matches]


def places(matches):
    """Return the mean place of each run."""
    return [one["mean_rank"] for one in matches]


def summary(matches):
    """Return cells of a table: wins of each run, and means over the runs with their intervals."""
    shares = win_shares(matches)
    bounds = [(one["low"], one["high"]) for one in matches]
    return (
        "; ".join(map(with_interval, shares, bounds)),
        "{:.1f} ({:.1f} to {:.1f})".format(*mean_interval(shares)),
        "{:.2f} ({:.2f} to {:.2f})".format(*mean_interval(places(matches))),
    )


def main():
    """Play the matches, print a table, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--untrained", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--seed", type=int, default=11)
    arguments = parser.parse_args()
    groups = [
        ("average policy", arguments.runs, "average"),
        ("best response", arguments.runs, "best_response"),
        ("random weights", arguments.untrained, "average"),
    ]
    results, rows, differences = [], [], []
    for name, opponents in OPPONENTS.items():
        matches = {
            group: [match(run, policy, opponents, arguments.games, arguments.seed) for run in runs]
            for group, runs, policy in groups
        }
        results.append({"opponents": opponents, "matches": matches})
        rows += [(name, group, *summary(played)) for group, played in matches.items()]
        row = [name]
        for measure, form in ((win_shares, "{:+.1f}"), (places, "{:+.2f}")):
            learned, *_, initial = map(measure, matches.values())
            gains = [a - b for a, b in zip(learned, initial, strict=True)]
            row.append(f"{form} ({form} to {form})".format(*mean_interval(gains)))
        differences.append(row)
    headings = ("opponents", "agent", "wins of each run, %", "mean wins, %", "mean place")
    print(table(headings, rows, 2))
    print("\nAverage policy minus random weights:\n")
    print(table(("opponents", "wins, percentage points", "mean place"), differences))
    content = {"seed": arguments.seed, "results": results} | run_provenance()
    write_atomically(arguments.out, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
