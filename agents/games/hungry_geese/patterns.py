"""Patterns in games of Hungry Geese: contested food, following one's tail, dead ends, enclosure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.agents.games.hungry_geese.lives import OTHERS_BODY, OWN_BODY, Lives
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

# `dead end`: flat Monte Carlo dies, whatever it plays, and another body is in the way;
# `enclosed`: a network dies, with its own body on all sides of its head.
PATTERNS = ("contested food", "own tail", "dead end", "enclosed")
MIN_LENGTH = 6  # of a goose that follows its tail
LEAD = 4  # least number of steps before the last one of a goose in a dead end or enclosed


@dataclass(frozen=True)
class Example:
    """Example position: the first plies of a game, and the goose that it is about.

    Attributes:
        pattern: one of `PATTERNS`.
        seat: the goose.
        replay: the game until the position.
    """

    pattern: str
    seat: int
    replay: Replay

    def to_json(self) -> dict[str, Any]:
        """Return the example as JSON values.

        Each word of `actions` is a step, with a digit for the action of each goose.
        """
        steps: Any = self.replay.actions
        return {
            "pattern": self.pattern,
            "seat": self.seat,
            "agents": list(self.replay.players),
            "game": self.replay.game,
            "game_seed": self.replay.seed,
            "actions": " ".join("".join(map(str, step)) for step in steps),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Example":
        """Return the example of the values of `to_json`."""
        actions: Any = [[int(digit) for digit in step] for step in content["actions"].split()]
        replay = Replay(
            content["game"], content["game_seed"], actions, None, tuple(content["agents"])
        )
        return cls(content["pattern"], content["seat"], replay)

    def positions(self) -> list[Any]:
        """Return the positions of the game until the example, which is the last."""
        game = make_game(self.replay.game)
        s = game.new(self.replay.seed)
        positions = [s.copy()]
        for step in self.replay.actions:
            with np.errstate(over="ignore"):  # kernels may rely on integer overflow
                game.step(s, np.array(step))
            positions.append(s.copy())
        return positions


def deaths(replay: Replay, lives: Lives, k: int) -> Iterator[Example]:
    """Yield the last positions before forced deaths that match a pattern.

    These are deaths of flat Monte Carlo in the body of another goose, and of networks that their
    own body encloses.

    Args:
        replay: the game.
        lives: fates of all geese.
        k: index of the game in `lives`.
    """
    patterns = {("flat", OTHERS_BODY): "dead end", ("cnn", OWN_BODY): "enclosed"}
    for seat, cause in enumerate(lives.causes[k].tolist()):
        pattern = patterns.get((replay.players[seat].partition(":")[0], cause))
        last = int(lives.steps[k, seat]) - 1  # number of steps before the one in which it dies
        if pattern and lives.forced[k, seat] and last >= LEAD:
            example = Example(pattern, seat, prefix(replay, last))
            if pattern == "dead end" or is_enclosed(example.positions()[-1], seat):
                yield example


def scenes(replay: Replay) -> Iterator[Example]:
    """Yield the first food of a game beside two heads, and each goose that has circled once."""
    circling: dict[int, int] = {}  # steps for which each goose has had its tail beside its head
    contested = False
    for ply, s in enumerate(replay.positions()):
        seat = contested_food(s)
        if seat >= 0 and not contested:
            contested = True
            yield Example("contested food", seat, prefix(replay, ply))
        for p, length in enumerate(s.length.tolist()):
            beside = length >= MIN_LENGTH and are_neighbors(s, segment(s, p, 0), tail(s, p))
            circling[p] = circling.get(p, 0) + 1 if beside else 0
            if circling[p] == length and beside:
                yield Example("own tail", p, prefix(replay, ply))


def contested_food(s: Any) -> int:
    """Return a goose whose head is beside a food that is also beside another head, or -1."""
    alive = np.flatnonzero(s.length)
    for food in s.food[: s.num_food].tolist():
        beside = [int(p) for p in alive if are_neighbors(s, segment(s, int(p), 0), food)]
        if len(beside) > 1:
            return beside[0]
    return -1


def is_enclosed(s: Any, goose: int) -> bool:
    """Return whether all neighbors of a goose's head are segments of the goose."""
    segments = [segment(s, goose, k) for k in range(int(s.length[goose]))]
    beside = {cell for cell in segments if are_neighbors(s, segments[0], cell)}
    return len(beside) == 4  # the cells beside a cell, on boards of at least 3x3


def prefix(replay: Replay, steps: int) -> Replay:
    """Return the first steps of a game."""
    actions: Sequence[Any] = replay.actions[:steps]
    return Replay(replay.game, replay.seed, actions, None, replay.players)


def segment(s: Any, goose: int, k: int) -> int:
    """Return the cell of a segment of a goose, the head being 0."""
    return int(s.body[goose, (s.start[goose] + k) % s.body.shape[1]])


def tail(s: Any, goose: int) -> int:
    """Return the cell of the last segment of a goose."""
    return segment(s, goose, int(s.length[goose]) - 1)


def are_neighbors(s: Any, a: int, b: int) -> bool:
    """Return whether two cells share an edge on the torus."""
    rows, columns = s.occupied.shape
    down, right = abs(a // columns - b // columns), abs(a % columns - b % columns)
    distance: int = min(down, rows - down) + min(right, columns - right)
    return distance == 1
