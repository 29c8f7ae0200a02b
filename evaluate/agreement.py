"""Agreement of agents with themselves: `python -m ludoteca.evaluate.agreement`.

A stochastic agent answers the same position differently from time to time: its moves can be
predicted, and imitated, only up to a limit.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.files import write_atomically
from ludoteca.provenance import package_versions, run_info


def agreement(
    agents: tuple[str, ...],
    out: Path,
    game: str = "hungry_geese",
    games: int = 40,
    moves: int = 2_000,
    repeats: int = 8,
    seed: int = 0,
) -> dict[str, Any]:
    """Sample moves of agents in positions of their own games, and write how these agree.

    Args:
        agents: their spec strings.
        out: the JSON file to write.
        game: a simultaneous game, as a spec string.
        games: number of games of each agent against itself.
        moves: number of moves in these games that are sampled again, at most.
        repeats: number of samples of each move.
        seed: seed of the games and of the samples.
    """
    integer("moves", moves, 1, 10**9)
    integer("repeats", repeats, 3, 1_000)
    game_object = make_game(game)
    if not game_object.simultaneous:
        raise ValueError(f"game must be simultaneous, got {game_object.spec}")
    records = [agree(game_object, spec, games, moves, repeats, seed) for spec in agents]
    content = {"about": run_info(), "versions": package_versions(), "agents": records}
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


def agree(game: Game, spec: str, games: int, moves: int, repeats: int, seed: int) -> dict[str, Any]:
    """Return how one agent agrees with itself.

    Returns:
        `"moves"`, how many were asked for; `"agreement"`, the share of pairs of answers to the same
        question that are equal; `"predictable"`, the share of answers that are the most frequent
        one of the others to the same question (of equally frequent ones, in parts).
    """
    match = play_match(game, [spec, spec], games, seed=seed, num_replays=games)
    asked = [
        (s, seat)
        for replay in match.replays
        for s in replay.positions()
        for seat in range(game.num_players)
        if game.legal(s, seat)
    ]
    rng = np.random.default_rng(seed)
    chosen = [asked[k] for k in rng.permutation(len(asked))[:moves]]
    states = np.array([s for s, _ in chosen], game.state)
    seats = np.array([seat for _, seat in chosen], np.int64)
    agent, indices = make_agent(spec, game), np.arange(len(chosen))
    agent.reset(indices)

    def answer() -> NDArray[np.int64]:
        rngs = rng.integers(2**64, size=(len(chosen), 1), dtype=np.uint64)
        return agent.act(states, seats, rngs, indices)

    answers = np.stack([answer() for _ in range(repeats)], axis=1)
    return {"agent": spec, "moves": len(chosen), **shares(answers, game.num_actions)}


def shares(answers: NDArray[np.int64], num_actions: int) -> dict[str, float]:
    """Return how answers agree, see `agree`.

    Args:
        answers: actions, shape `[questions, repeats]`.
        num_actions: number of distinct actions.
    """
    repeats = answers.shape[1]
    counts = (answers[..., None] == np.arange(num_actions)).sum(1)
    pairs = (counts * (counts - 1)).sum(1) / (repeats * (repeats - 1))
    others = counts[:, None, :] - (answers[..., None] == np.arange(num_actions))
    most = others == others.max(2, keepdims=True)
    right = np.take_along_axis(most, answers[..., None], 2)[..., 0] / most.sum(2)
    return {"agreement": float(pairs.mean()), "predictable": float(right.mean())}


if __name__ == "__main__":
    tyro.cli(agreement, config=(tyro.conf.FlagCreatePairsOff,))
