"""Example positions of Hungry Geese, found in a match, for the figures of the study.

The command is `python -m ludoteca.evaluate.studies.geese.examples`. Martín Miralles'
thesis (`uib2021.toml`) shows such positions in its figures 3, 4, 12 and 13.
"""

import json
from pathlib import Path
from typing import Any

import tyro

from ludoteca.agents.games.hungry_geese.lives import lives_of
from ludoteca.agents.games.hungry_geese.patterns import PATTERNS, Example, deaths, scenes
from ludoteca.evaluate.match import play_match
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance


def find_examples(
    agents: tuple[str, ...], out: Path, games: int = 40, seed: int = 0
) -> dict[str, Any]:
    """Play a match, and write the first example of each pattern.

    Args:
        agents: spec strings of the agents; one per seat, which rotate.
        out: JSON file for the examples.
        games: number of games.
        seed: seed of the match.
    """
    result = play_match("hungry_geese", agents, games, seed=seed, num_replays=games)
    replays, found = result.replays, dict[str, Example]()
    lives = lives_of(replays)
    for k, replay in enumerate(replays):
        for example in (*deaths(replay, lives, k), *scenes(replay)):
            found.setdefault(example.pattern, example)
    content = {
        "agents": list(agents),
        "games": games,
        "examples": [found[name].to_json() for name in PATTERNS if name in found],
        **run_provenance(),
    }
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


if __name__ == "__main__":
    tyro.cli(find_examples)
