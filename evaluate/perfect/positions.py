"""An agent's moves in positions whose results are known."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.endgame import make_endgame
from ludoteca.envs.batch import root
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.evaluate.intervals import wilson
from ludoteca.evaluate.markdown import percent


@dataclass(frozen=True)
class Solved:
    """How an agent moves in positions that are solved.

    Attributes:
        positions: how many there were, in all of which some moves give the result away.
        perfect: in how many its move keeps the result of perfect play.
        low: lower end of the 95 % interval of the share.
        high: upper end.
        won: positions that are won for the player to move, and perfect moves in them.
        drawn: likewise, of positions that are drawn.
    """

    positions: int
    perfect: int
    low: float
    high: float
    won: tuple[int, int]
    drawn: tuple[int, int]

    def __str__(self) -> str:
        """Return the shares of perfect moves, in all positions and in those won and drawn."""
        lines = [
            f"perfect moves in {self.perfect:,} of {self.positions:,} positions: "
            f"{percent(self.perfect / self.positions)} "
            f"({percent(self.low)} to {percent(self.high)})"
        ]
        for name, (positions, perfect) in (("won", self.won), ("drawn", self.drawn)):
            lines.append(f"  in {name} positions: {perfect:,} of {positions:,}")
        return "\n".join(lines)


def solved_positions(
    game: Game, agent: Agent, count: int, least: int, most: int, seed: int = 0
) -> Solved:
    """Ask an agent for its moves in random positions, and solve them.

    Args:
        game: one whose endgames can be solved, see `ludoteca.agents.endgame`.
        agent: the agent.
        count: how many different positions, in which moves differ.
        least: how many random plies lead to each, at least.
        most: and at most.
        seed: of the positions.

    Raises:
        ValueError: if an argument is out of range, or the game cannot be solved.
    """
    integer("count", count, 1, 10**6)
    integer("least", least, 0, game.max_plies)
    integer("most", most, least, game.max_plies)
    assert game.player is not None
    endgame, rng = make_endgame(game), np.random.default_rng(seed)
    agent.prepare()
    seen = set[bytes]()
    states: list[NDArray[np.void]] = []
    outcomes: list[str] = []
    right: list[set[str]] = []
    while len(states) < count:
        s = random_position(game, int(rng.integers(least, most + 1)), rng)
        key = np.asarray(s).tobytes()
        if game.is_terminal(s) or key in seen:
            continue
        seen.add(key)
        solution = endgame.solve(s, all_moves=True, nodes=None, seconds=None)
        assert solution.scores is not None
        kept = {a for a, score in solution.scores.items() if _sign(score) == _sign(solution.score)}
        if len(kept) < len(solution.scores):
            states.append(root(game, s))
            outcomes.append(solution.outcome)
            right.append(kept)
    batch = np.concatenate(states)
    seats = np.array([int(game.player(s)) for s in batch.view(np.recarray)])
    actions = agent.act(batch, seats, np.zeros((count, 1), np.uint64), np.arange(count))
    total, perfect = Counter(outcomes), Counter[str]()
    for action, outcome, kept in zip(actions, outcomes, right, strict=True):
        perfect[outcome] += game.action_names[action] in kept
    done = perfect.total()
    low, high = wilson(done, count)
    won, drawn = ((total[name], perfect[name]) for name in ("win", "draw"))
    return Solved(count, done, low, high, won, drawn)


def random_position(game: Game, plies: int, rng: np.random.Generator) -> Any:
    """Return the position after random moves, which may be the end of the game."""
    s = game.new()
    with np.errstate(over="ignore"):  # kernels count on integers that wrap around
        for _ in range(plies):
            if game.is_terminal(s):
                break
            game.step(s, int(rng.choice(game.legal(s))))
    return s


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
