"""Lives of geese, outcomes and ratings of the Hungry Geese study, computed by hand."""

import json

import numpy as np
import pytest

from ludoteca.agents.games.hungry_geese.lives import ALIVE, CAUSES, Lives
from ludoteca.evaluate.statistics.outcomes import (
    count_outcomes,
    difference,
    orders,
    rate_all,
    read_outcomes,
)
from ludoteca.evaluate.studies.geese.match import geese_match

# Two games of four geese. In the first, seats 1 and 2 survive with equal lengths; in the second all
# geese die. Arrays are `[games, seats]`.
LIVES = Lives(
    causes=np.array([[3, ALIVE, ALIVE, 3], [1, 2, 1, 2]], np.int8),
    forced=np.array([[False, False, False, True], [True, True, False, True]]),
    steps=np.array([[8, 199, 199, 8], [50, 60, 40, 60]], np.int16),
    lengths=np.array([[0, 7, 7, 0], [0, 0, 0, 0]], np.int16),
    scores=np.array([[801, 20007, 20007, 801], [5001, 6001, 4001, 6002]], np.int32),
)
# Index of the agent in each seat.
SEAT_AGENTS = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])


def test_fates_of_geese_by_hand():
    # Agent 1: seat 1 of the first game, seat 0 of the second.
    fates = LIVES.counts(SEAT_AGENTS == 1)
    assert (fates["geese"], fates["wins"], fates["deaths"]) == (2, 1, 1)
    assert (fates["mean_length"], fates["length_deviation"]) == (7.0, None)
    assert fates["mean_steps"] == (199 + 50) / 2
    assert fates["causes"] == dict.fromkeys(CAUSES, 0) | {"own body": 1}
    assert fates["forced"] == dict.fromkeys(CAUSES, 0) | {"own body": 1}
    # Agent 0: seat 0 of the first, seat 3 of the second, where it has the highest score but died.
    assert LIVES.counts(SEAT_AGENTS == 0)["wins"] == 0
    assert LIVES.counts(SEAT_AGENTS == 0)["mean_length"] is None


def test_outcomes_by_hand():
    # Places of the agents, shared by ties; a star marks a goose that survived.
    assert count_outcomes(LIVES.scores, LIVES.alive, SEAT_AGENTS) == {
        "3.5 1.5* 1.5* 3.5": 1,
        "1 3 2 4": 1,
    }
    read = read_outcomes({"3.5 1.5* 1.5* 3.5": 3, "1 3 2 4": 1})
    assert read.alive.tolist() == [[False, True, True, False], [False] * 4]
    # (Rivals behind the agent - rivals ahead of it) / 3.
    np.testing.assert_allclose(
        read.scores, [[-2 / 3, 2 / 3, 2 / 3, -2 / 3], [1, -1 / 3, 1 / 3, -1]]
    )
    assert orders(read, [5, 2, 7, 0]) == {((2, 7), (5, 0)): 3, ((5,), (7,), (2,), (0,)): 1}


def test_differences_by_hand():
    # Differences 1, 1, 1, -2 in four games: mean 1/4, variance 9/4, standard error 1.5 / 2.
    values, games = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([3, 1])
    interval = difference(values, games, (1, -1))
    assert interval.mean == 0.25
    assert interval.high - interval.mean == pytest.approx(1.959964 * 1.5 / 2)
    assert interval.mean - interval.low == pytest.approx(1.959964 * 1.5 / 2)


def test_only_agents_that_games_connect_are_rated():
    lines = read_outcomes({"1* 2": 30, "2 1*": 10})
    alone = read_outcomes({"1* 2": 5})
    rated = rate_all({"a": (("x", "y"), lines), "b": (("u", "v"), alone), "c": (("y", "z"), lines)})
    assert rated.keys() == {"x", "y", "z"}
    # 30.5 of 41 points in both pairs, a virtual draw included.
    step = 400 * np.log10(30.5 / 10.5)
    assert [float(rated[name].elo) for name in "xyz"] == pytest.approx([step, 0, -step], abs=1e-3)
    assert rate_all({}) == {}


@pytest.mark.slow
def test_match_results_of_geese_are_consistent(tmp_path):
    agents = ("flat:simulations=20,playout_depth=4", "random_safe", "greedy", "random")
    geese_match(agents, tmp_path / "m.json", games=40, first=12, seed=3)
    geese_match(agents, tmp_path / "f.json", games=12, first=12, seed=3)
    results, first_games = (
        json.loads((tmp_path / name).read_text()) for name in ("m.json", "f.json")
    )
    assert sum(results["outcomes"].values()) == 40
    read = read_outcomes(results["outcomes"])
    for a, agent in enumerate(results["agents"]):
        lives = agent["lives"]
        assert (lives["geese"], agent["first"]["geese"]) == (40, 12)
        assert agent["first"] == first_games["agents"][a]["lives"]
        assert lives["deaths"] == sum(lives["causes"].values())
        assert lives["deaths"] == 40 - read.games @ read.alive[:, a]
        assert agent["moves"] == round(40 * lives["mean_steps"])
        assert agent["total"]["mean_return"] == pytest.approx(
            float(read.games @ read.scores[:, a]) / 40
        )
    # With two agents, each has two geese in every game.
    geese_match(agents[:2], tmp_path / "two.json", games=4)
    two_agents = json.loads((tmp_path / "two.json").read_text())
    assert [agent["lives"]["geese"] for agent in two_agents["agents"]] == [8, 8]
    assert "outcomes" not in two_agents
    with pytest.raises(ValueError, match="game must be hungry_geese, got 'tron'"):
        geese_match(agents[:2], tmp_path / "no.json", game="tron")
