"""`python -m ludoteca.evaluate.studies.geese.match`: match with the fate of each goose."""

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
    """Play a match and write its results, and the fates of the geese.

    Args:
        agents: their spec strings, two or more.
        out: the JSON file to write.
        game: spec string of `hungry_geese`.
        games: number of games; the agents take turns in every seat.
        first: number of the first games, whose results are also reported separately.
        seed: seed of the match.
        batch: games played at a time.
    """
    integer("first", first, 1, 10**9)
    made = make_game(game)
    if made.name != "hungry_geese":
        raise ValueError(f"game must be hungry_geese, got {game!r}")
    result, _, content = play_timed(
        made, agents, games, seed=seed, batch_size=batch, num_replays=games
    )
    lives = lives_of(result.replays)
    who = assign_seats(np.arange(games), made.num_players, len(agents))
    for a, agent in enumerate(content["agents"]):
        agent["lives"] = fates(lives, who == a)
        agent["first"] = fates(lives, (who == a) & (np.arange(games) < first)[:, None])
    if len(agents) == made.num_players:
        content["outcomes"] = outcomes(lives, who)
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


def fates(lives: Lives, own: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the fates of some of the geese as JSON holds them; `mine` is a mask, `[G, P]`."""
    alive = lives.alive & own
    lengths, died = lives.lengths[alive].astype(np.float64), own & ~lives.alive
    return {
        "geese": int(own.sum()),
        "wins": int((lives.won & own).sum()),
        "deaths": int(died.sum()),
        "mean_length": float(lengths.mean()) if len(lengths) else None,
        "length_deviation": float(lengths.std(ddof=1)) if len(lengths) > 1 else None,
        "mean_steps": float(lives.steps[own].mean()),
        "causes": _counts(lives.causes[died]),
        "forced": _counts(lives.causes[died & lives.forced]),
    }


def outcomes(lives: Lives, who: NDArray[np.int64]) -> dict[str, int]:
    """Return the numbers of games with equal outcomes, between as many agents as seats.

    Each text has the agents' places, 1 the best, in the order of their numbers; agents that tie
    share the mean of their places. Places of living geese have a star: `"2 1* 3.5 3.5"`.
    """
    by_agent = np.argsort(who, axis=1)
    places = np.take_along_axis(ranks(lives.scores), by_agent, 1)
    alive = np.take_along_axis(lives.alive, by_agent, 1)
    words = np.array(["{:g}", "{:g}*"])[alive.astype(int)].tolist()
    texts = (" ".join(row).format(*of) for row, of in zip(words, places, strict=True))
    return dict(Counter(texts).most_common())


def _counts(causes: NDArray[np.int8]) -> dict[str, int]:
    return {name: int((causes == k).sum()) for k, name in enumerate(CAUSES)}


if __name__ == "__main__":
    tyro.cli(geese_match, config=(tyro.conf.FlagCreatePairsOff,))
