"""Training runs of the study of Hex with invented results."""

import csv
import json
from pathlib import Path

from ludoteca.evaluate.statistics.intervals import wilson


def write_fake_run(
    folder: Path,
    name: str,
    config: dict,
    games: int,
    rates,
    seat: str,
    wins: int,
    opponent: str = "mixed:epsilon=0.2",
) -> None:
    """Write the files of a training run with invented results.

    `rates` are the fractions of won games in each 100 training games of the player `seat`; `wins`
    of 1,000 evaluation games are won in each seat.
    """
    low, high = wilson(wins, 1000)
    result = {"games": 1000, "wins": wins, "draws": 0, "losses": 1000 - wins}
    seats = [
        {"seat": seat_name, **result, "win_rate": wins / 1000, "low": low, "high": high}
        for seat_name in ("first", "second")
    ]
    results = {
        "about": {"command": "x", "date": "2026-01-02T03:04:05", "cpu": "fast", "cores": 2},
        "config": {"experience": "mirrored", "seed": 0}
        | config
        | {"games": games, "opponent": opponent, "agent_seat": seat},
        "training": {
            "games": 100 * len(rates),
            "updates": 1,
            "seconds": 36.0,
            "best": {},
            "precision": "float32",
        },
        "evaluation": [
            {"opponent": name, "seats": seats} for name in dict.fromkeys((opponent, "heuristic"))
        ],
    }
    (folder / name).mkdir(parents=True)
    (folder / name / "results.json").write_text(json.dumps(results))
    with (folder / name / "metrics.csv").open("w") as file:
        table = csv.DictWriter(file, ["step", "training__first", "training__second", "loss"])
        table.writeheader()
        table.writerow({"step": 0})
        for k, rate in enumerate(rates):
            table.writerow({"step": 100 * (k + 1), f"training__{seat}": rate, "loss": 1 / (k + 1)})
