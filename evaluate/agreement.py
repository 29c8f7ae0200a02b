"""Agreement of stochastic agents with themselves: `python -m ludoteca.evaluate.agreement`.

A stochastic agent may choose different moves in the same position. Its agreement with itself is the
upper limit of the accuracy with which its moves can be predicted or imitated.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.files import write_atomically
from ludoteca.provenance import package_versions, run_info


def measure_agreement(
    agents: tuple[str, ...],
    out: Path,
    game: str = "hungry_geese",
    games: int = 40,
    moves: int = 2_000,
    repeats: int = 8,
    seed: int = 0,
) -> dict[str, Any]:
    """Sample moves of agents repeatedly in the same positions; write how often they are equal.

    Returns the content of the file.

    Args:
        agents: spec strings of the agents.
        out: the JSON file to write.
        game: a simultaneous game, as a spec string.
        games: number of games of each agent against itself, which give the positions.
        moves: maximum number of decisions, each of one player in one position.
        repeats: number of moves that are sampled for each decision, at least 3; with 2, both
            fractions of `self_agreement` would be equal.
        seed: seed of the games and of the samples.
    """
    check_integer("moves", moves, 1, 10**9)
    check_integer("repeats", repeats, 3, 1_000)
    game_object = make_game(game)
    if not game_object.simultaneous:
        raise ValueError(f"game must be simultaneous, got {game_object.spec}")
    records = [self_agreement(game_object, spec, games, moves, repeats, seed) for spec in agents]
    content = {"about": run_info(), "versions": package_versions(), "agents": records}
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


def self_agreement(
    game: Game, spec: str, games: int, moves: int, repeats: int, seed: int
) -> dict[str, Any]:
    """Return the agreement of one agent with itself; see `measure_agreement` for the arguments.

    Returns:
        `"moves"`: number of decisions. `"agreement"`: fraction of equal pairs among the samples of
        the same decision. `"predictable"`: fraction of samples that equal the most frequent one of
        the other samples of the same decision; equality with one of t equally frequent ones counts
        1 / t.
    """
    match = play_match(game, [spec, spec], games, seed=seed, num_replays=games)
    decisions = [
        (s, seat)
        for replay in match.replays
        for s in replay.positions()
        for seat in range(game.num_players)
        if game.legal(s, seat)
    ]
    rng = np.random.default_rng(seed)
    drawn = [decisions[k] for k in rng.permutation(len(decisions))[:moves]]
    states = np.array([s for s, _ in drawn], game.state)
    seats = np.array([seat for _, seat in drawn], np.int64)
    agent, indices = make_agent(spec, game), np.arange(len(drawn))
    agent.reset(indices)

    def sample() -> NDArray[np.int64]:
        rngs = rng.integers(2**64, size=(len(drawn), 1), dtype=np.uint64)
        return agent.act(states, seats, rngs, indices)

    samples = np.stack([sample() for _ in range(repeats)], axis=1)
    return {"agent": spec, "moves": len(drawn), **agreement_fractions(samples, game.num_actions)}


def agreement_fractions(samples: NDArray[np.int64], num_actions: int) -> dict[str, float]:
    """Return the fractions `"agreement"` and `"predictable"`; see `self_agreement`.

    Args:
        samples: sampled actions. Shape `[decisions, repeats]`.
        num_actions: number of actions of the game.
    """
    repeats = samples.shape[1]
    counts = (samples[..., None] == np.arange(num_actions)).sum(1)  # [decisions, num_actions]
    equal_pairs = (counts * (counts - 1)).sum(1) / (repeats * (repeats - 1))
    # Counts without the sample itself, [decisions, repeats, num_actions].
    other_counts = counts[:, None, :] - (samples[..., None] == np.arange(num_actions))
    is_mode = other_counts == other_counts.max(2, keepdims=True)
    hits = np.take_along_axis(is_mode, samples[..., None], 2)[..., 0] / is_mode.sum(2)
    return {"agreement": float(equal_pairs.mean()), "predictable": float(hits.mean())}


if __name__ == "__main__":
    tyro.cli(measure_agreement, config=(tyro.conf.FlagCreatePairsOff,))
