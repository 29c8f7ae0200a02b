"""Match of Hungry Geese with the fates of the geese: wins, lengths, causes of death.

The command is `python -m ludoteca.evaluate.studies.geese.match`. A goose is the piece of one player
in one game; `ludoteca.agents.games.hungry_geese.lives` has its fate.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from ludoteca.agents.games.hungry_geese.lives import lives_of
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import BATCH_SIZE
from ludoteca.evaluate.match_schedule import assign_seats
from ludoteca.evaluate.statistics.outcomes import count_outcomes
from ludoteca.evaluate.timed_match import play_timed
from ludoteca.files import write_atomically


def geese_match(
    agents: tuple[str, ...],
    out: Path,
    game: str = "hungry_geese",
    games: int = 2_000,
    first: int = 100,
    seed: int = 0,
    batch: int = BATCH_SIZE,
) -> dict[str, Any]:
    """Play a match, and write its results and the fates of the geese.

    Args:
        agents: spec strings of two or more agents.
        out: JSON file for the results.
        game: spec string of `hungry_geese`.
        games: number of games; agents change seats from game to game, so that each plays in every
            seat.
        first: number of games, from the first one, whose results are also written separately.
        seed: seed of the match.
        batch: number of games that are played at a time.

    Raises:
        ValueError: if the game is not Hungry Geese, or an argument is out of range.
    """
    check_integer("first", first, 1, 10**9)
    rules = make_game(game)
    if rules.name != "hungry_geese":
        raise ValueError(f"game must be hungry_geese, got {game!r}")
    result, _, content = play_timed(
        rules, agents, games, seed=seed, batch_size=batch, num_replays=games
    )
    lives = lives_of(result.replays)
    seat_agents = assign_seats(np.arange(games), rules.num_players, len(agents))
    in_first = (np.arange(games) < first)[:, None]
    for a, agent in enumerate(content["agents"]):
        agent["lives"] = lives.counts(seat_agents == a)
        agent["first"] = lives.counts((seat_agents == a) & in_first)
    if len(agents) == rules.num_players:
        content["outcomes"] = count_outcomes(lives.scores, lives.alive, seat_agents)
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


if __name__ == "__main__":
    tyro.cli(geese_match, config=(tyro.conf.FlagCreatePairsOff,))
