"""Match of Hungry Geese with the fates of the geese: wins, lengths, causes of death.

The command is `python -m ludoteca.evaluate.studies.geese.match`. A goose is the piece of one player
in one game; `lives` has its fate. Shapes: G games, P players of a game.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.games.hungry_geese.lives import CAUSES, Lives, lives_of
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import BATCH_SIZE
from ludoteca.evaluate.match_schedule import assign_seats
from ludoteca.evaluate.statistics.ranks import ranks
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
    integer("first", first, 1, 10**9)
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
        agent["lives"] = fate_counts(lives, seat_agents == a)
        agent["first"] = fate_counts(lives, (seat_agents == a) & in_first)
    if len(agents) == rules.num_players:
        content["outcomes"] = outcomes(lives, seat_agents)
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


def fate_counts(lives: Lives, selected: NDArray[np.bool_]) -> dict[str, Any]:
    """Return counts and means of the fates of the selected geese, as JSON values.

    The lengths are those of geese that survived.

    Args:
        lives: the fates of all geese.
        selected: mask of the geese, by game and seat, `[G, P]`.
    """
    alive = lives.alive & selected
    lengths, died = lives.lengths[alive].astype(np.float64), selected & ~lives.alive
    return {
        "geese": int(selected.sum()),
        "wins": int((lives.won & selected).sum()),
        "deaths": int(died.sum()),
        "mean_length": float(lengths.mean()) if len(lengths) else None,
        "length_deviation": float(lengths.std(ddof=1)) if len(lengths) > 1 else None,
        "mean_steps": float(lives.steps[selected].mean()),
        "causes": _counts(lives.causes[died]),
        "forced": _counts(lives.causes[died & lives.forced]),
    }


def outcomes(lives: Lives, seat_agents: NDArray[np.int64]) -> dict[str, int]:
    """Return the number of games by outcome, for a match with as many agents as seats.

    An outcome is a text with the place of each agent, in the order of the agents; 1 is the best,
    and agents that tie share the mean of their places. A star marks geese that survived: `"2 1* 3.5
    3.5"`.

    Args:
        lives: the fates of all geese.
        seat_agents: index of the agent in each seat of each game, `[G, P]`.
    """
    seats = np.argsort(seat_agents, axis=1)
    places = np.take_along_axis(ranks(lives.scores), seats, 1)
    alive = np.take_along_axis(lives.alive, seats, 1)
    formats = np.array(["{:g}", "{:g}*"])[alive.astype(int)].tolist()
    texts = (" ".join(row).format(*values) for row, values in zip(formats, places, strict=True))
    return dict(Counter(texts).most_common())


def _counts(causes: NDArray[np.int8]) -> dict[str, int]:
    """Return the number of deaths by name of the cause, from indices in `CAUSES`."""
    return {name: int((causes == k).sum()) for k, name in enumerate(CAUSES)}


if __name__ == "__main__":
    tyro.cli(geese_match, config=(tyro.conf.FlagCreatePairsOff,))
