"""Record episode files of Hungry Geese whose agents fail, as kaggle-environments writes them.

Run it like `record_geese.py`, whose docstring says how. It adds or replaces two files in
`tests/golden/geese_episodes.zip`: `faults.json`, in which agents are too late, raise an error and
return nonsense, and `small.json`, on a small board with other parameters. The same seed records the
same games.
"""

import argparse
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from record_geese import NAMES, View, hungry, kaggle_environments

# What agents return instead of an action, by step and seat.
FAULTS = {
    (4, 1): kaggle_environments.errors.DeadlineExceeded,
    (7, 3): lambda: ZeroDivisionError("division by zero"),
    (9, 0): lambda: "UP",
}
SMALL = {
    "rows": 5,
    "columns": 6,
    "hunger_rate": 7,
    "min_food": 1,
    "max_length": 3,
    "episodeSteps": 30,
}


def play(
    players: int,
    configuration: dict[str, int],
    faults: dict[tuple[int, int], Callable[[], Any]],
) -> Any:
    """Play a game between geese of the policy `hungry`, some of which fail as `faults` says."""
    env = kaggle_environments.make("hungry_geese", configuration)
    env.reset(players)
    last: list[int | None] = [None] * players
    while not env.done:
        step, board, config = len(env.steps), env.state[0].observation, env.configuration
        answers: list[Any] = [None] * players
        for p in range(players):
            if env.state[p].status != "ACTIVE":
                continue
            view = View(config.rows, config.columns, board.geese, board.food, p, last[p])
            last[p] = hungry(view)
            answers[p] = faults[step, p]() if (step, p) in faults else NAMES[last[p]]
        env.step(answers)
    return env


def main() -> None:
    """Record the episodes."""
    parser = argparse.ArgumentParser(description="Record episodes in which agents fail.")
    golden = Path(__file__).parents[1] / "golden" / "geese_episodes.zip"
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--out", type=Path, default=golden)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    faults = play(4, {}, FAULTS)
    faults.info["TeamNames"] = ["nonsense", "late", "good", "broken"]
    faults.info["EpisodeId"] = 900001
    small = play(2, SMALL, {})
    small.info["Agents"] = [{"Name": "red"}, {"Name": "blue"}]
    episodes = {"faults.json": faults.toJSON(), "small.json": small.toJSON()}
    stored = {}
    if arguments.out.exists():
        with zipfile.ZipFile(arguments.out) as archive:
            stored = {name: archive.read(name) for name in archive.namelist()}
    written = {name: json.dumps(episode).encode() for name, episode in episodes.items()}
    with zipfile.ZipFile(arguments.out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted((stored | written).items()):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
    for name, episode in episodes.items():
        print(f"{name}: {len(episode['steps'])} states, {episode['statuses']}")
    print(f"{arguments.out}: {arguments.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
