"""Tests of the figures of the Hungry Geese study: examples, and repetitions of a competition.

An example is a part of a recorded game that shows a pattern, such as a goose in a dead end.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from ludoteca.agents.games.hungry_geese.lives import ALIVE, OTHERS_BODY, Lives
from ludoteca.agents.games.hungry_geese.patterns import (
    LEAD,
    Example,
    are_neighbors,
    contested_food,
    deaths,
    is_enclosed,
    scenes,
)
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.statistics.repetitions import repeat_competition, winners
from ludoteca.evaluate.studies.geese.examples import find_examples
from ludoteca.evaluate.studies.geese.plots import draw
from ludoteca.files import read_json

pytestmark = pytest.mark.interpreted
GAME = make_game("hungry_geese")
RESULTS = Path(__file__).parents[2] / "docs" / "results" / "geese"


def position(bodies, foods):
    """Return a position with these geese, cells by row and column from the head, and foods."""
    s = GAME.new(1)
    s.occupied[:] = 0
    s.length[:] = 0
    for goose, cells in enumerate(bodies):
        s.start[goose], s.length[goose] = 0, len(cells)
        for k, (row, column) in enumerate(cells):
            s.body[goose, k] = row * 11 + column
            s.occupied[row, column] += 1
    s.num_food = len(foods)
    for k, (row, column) in enumerate(foods):
        s.food[k] = row * 11 + column
    return s


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(0, 1, True), (0, 10, True), (0, 66, True), (10, 11, False), (0, 12, False), (5, 5, False)],
)
def test_neighbors_wrap_around_the_torus(a, b, expected):
    assert are_neighbors(GAME.new(), a, b) == expected


def test_food_is_contested_between_two_heads_only():
    heads = [[(0, 0), (1, 0)], [(0, 2), (1, 2)], [], []]
    assert contested_food(position(heads, [(5, 5), (0, 1)])) == 0
    assert contested_food(position(heads, [(0, 3), (5, 5)])) == -1
    tails = [list(reversed(body)) for body in heads]  # heads in row 1
    assert contested_food(position(tails, [(0, 1), (5, 5)])) == -1


def test_goose_is_enclosed_by_its_own_body_only():
    ring = [(3, 3), (3, 4), (4, 4), (4, 3), (4, 2), (3, 2), (2, 2), (2, 3)]
    assert is_enclosed(position([ring, [], [], []], []), 0)
    assert not is_enclosed(position([ring[:-1], [(2, 3)], [], []], []), 0)


@dataclass
class PositionsReplay:
    """Double of `Replay` with given positions."""

    states: list
    game: str = GAME.spec
    seed: int = 1
    players: tuple = ("flat", "cnn", "a", "b")

    @property
    def actions(self):
        return [[0] * 4] * len(self.states)

    def positions(self):
        return iter(self.states)


@pytest.mark.parametrize(("steps", "count"), [(5, 0), (6, 1), (20, 1)])
def test_goose_that_circles_once_is_found(steps, count):
    ring = [(2, 2), (2, 3), (2, 4), (3, 4), (3, 3), (3, 2)]
    bodies = [ring[k % 6 :] + ring[: k % 6] for k in range(steps)]
    states = [position([[], body, [], []], [(5, 5)]) for body in bodies]
    found = list(scenes(PositionsReplay(states)))
    assert [(example.pattern, example.seat, len(example.replay.actions)) for example in found] == [
        ("own tail", 1, 5)
    ] * count


def test_examples_are_saved_and_replayed(tmp_path):
    agents = ("greedy",) * 4
    content = find_examples(agents, tmp_path / "out.json", games=2, seed=1)
    assert read_json(tmp_path / "out.json")["examples"] == content["examples"]
    assert "contested food" in [example["pattern"] for example in content["examples"]]
    match = play_match(GAME, agents, 2, seed=1, num_replays=2)
    for example in map(Example.from_json, content["examples"]):
        (replay,) = [r for r in match.replays if r.seed == example.replay.seed]
        played, shown = list(replay.positions()), example.positions()
        assert replay.players == example.replay.players
        assert all(a == b for a, b in zip(shown, played, strict=False))
    pytest.importorskip("matplotlib")
    figures = draw({"examples": content}, tmp_path, {})
    assert list(figures) == ["positions.png"]
    assert figures["positions.png"].startswith(b"\x89PNG")
    assert draw({"examples": content | {"examples": []}}, tmp_path, {}) == {}


def test_deaths_are_of_the_agents_of_the_figures():
    replay = PositionsReplay([None] * 12)
    unused = {"scores": np.zeros((1, 4)), "lengths": np.zeros((1, 4))}
    lives = Lives(
        causes=np.array([[OTHERS_BODY, OTHERS_BODY, OTHERS_BODY, ALIVE]]),
        forced=np.array([[True, True, True, False]]),
        steps=np.array([[10, 9, 9, 11]]),
        **unused,
    )
    (found,) = deaths(replay, lives, 0)
    assert (found.pattern, found.seat, len(found.replay.actions)) == ("dead end", 0, 9)
    for changes in ({"forced": ~lives.forced}, {"steps": lives.steps * 0 + LEAD}):
        assert list(deaths(replay, replace(lives, **changes), 0)) == []


def test_winners_are_those_of_the_records():
    record = read_json(RESULTS / "results.json")["real"]["real"]
    outcomes = read_outcomes(record["outcomes"])
    for measure, counts in (("wins", winners(outcomes)), ("deaths", ~outcomes.alive)):
        assert (outcomes.games @ counts).tolist() == [
            agent["lives"][measure] for agent in record["agents"]
        ]


def test_repetitions_have_the_frequencies_of_the_outcomes():
    """By hand: agent 0 wins a fifth of the games, agent 1 three fifths; in the others both die."""
    outcomes = read_outcomes({"1* 2": 1, "2 1*": 3, "1.5 1.5": 1})
    drawn = repeat_competition(outcomes, 10, repetitions=4_000)
    assert np.all(drawn.wins.sum(1) <= 10)
    assert np.array_equal(drawn.deaths, 10 - drawn.wins)
    assert drawn.wins.mean(0) == pytest.approx([2, 6], abs=0.1)
    # Agent 1 has more wins: by the binomial distributions of the games that are won.
    probability = sum(
        math.comb(10, n) * 0.8**n * 0.2 ** (10 - n)
        * sum(math.comb(n, k) * 0.75**k * 0.25 ** (n - k) for k in range(n + 1) if k > n - k)
        for n in range(11)
    )  # fmt: skip
    first, second = drawn.summaries()
    assert second.most_wins == second.fewest_deaths == second.both
    assert second.both == pytest.approx(probability, abs=0.03)
    assert first.both < 1 - probability
    low, high = second.wins
    assert ((drawn.wins[:, 1] >= low) & (drawn.wins[:, 1] <= high)).mean() >= 0.95
