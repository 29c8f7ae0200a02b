"""Tests of bounds of the regret: by hand, and against measured regret."""

import math

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bandits import bandit_curves
from ludoteca.evaluate.bandits.bounds import moss_bound, ucb1_bound, ucb1_general_bound
from ludoteca.evaluate.studies.bandit_policies.problems import (
    AUER,
    GAME_ARMS,
    PROBLEMS,
    repeated_problem,
)
from ludoteca.evaluate.studies.bandit_policies.repetitions import checkpoints, summary
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAMES


def test_bounds_match_hand_computation() -> None:
    """By hand: for T = e rounds and gaps 0.5 and 0.25, 1 / 0.5 + 1 / 0.25 = 6, with sum 0.75."""
    problem, rounds = [0.5, 1.0, 0.75], [math.e]
    assert ucb1_bound(problem, rounds) == pytest.approx([48 + math.pi**2 / 4])
    assert ucb1_general_bound(problem, rounds, 2) == pytest.approx([48 + 3])
    assert ucb1_general_bound(problem, rounds, 1.5) == pytest.approx([36 + 4.5])
    assert moss_bound(problem, rounds) == pytest.approx([69 * 6])
    many_rounds = [3 * math.exp(2) / 0.25]  # ln(T gap^2 / K) = 2, and 2 + 2 ln(1 / 2) < 1
    assert moss_bound(problem, many_rounds) == pytest.approx([69 * (2 / 0.5 + 1 / 0.25)])


def test_best_arms_do_not_count() -> None:
    assert ucb1_bound([0.9, 0.6, 0.9], [100]) == ucb1_bound([0.9, 0.6], [100])
    assert ucb1_bound([0.5, 0.5], [100]) == [0]


def test_invalid_arguments_raise() -> None:
    with pytest.raises(ValueError, match="alpha must be above 1, got 1"):
        ucb1_general_bound([0.5, 0.6], [10], 1)
    with pytest.raises(ValueError, match="probabilities must be from 0 to 1"):
        ucb1_bound([0.5, 1.6], [10])


@pytest.mark.slow
@pytest.mark.parametrize("name", AUER)
def test_measured_regret_is_below_its_bounds(name: str) -> None:
    problem, rounds = repeated_problem(f"auer-{name}", 20, seed=1), checkpoints(10_000)
    ucb1 = bandit_curves("ucb1", problem, 10_000, checkpoints=rounds).regrets.mean(axis=0)
    moss = bandit_curves("moss", problem, 10_000, checkpoints=rounds).regrets.mean(axis=0)
    assert np.all(ucb1 < ucb1_bound(AUER[name], rounds))
    assert np.all(ucb1 < ucb1_general_bound(AUER[name], rounds, 2))
    assert np.all(moss < moss_bound(AUER[name], rounds))


def test_random_problems_are_as_large_as_the_games() -> None:
    moves = {name: len(make_game(name).legal(make_game(name).new())) for name in GAMES}
    assert tuple(sorted(set(moves.values()))) == GAME_ARMS


def test_problems_are_repeated() -> None:
    assert len(PROBLEMS) == len(AUER) + len(GAME_ARMS)
    same = repeated_problem("auer-12", 3, seed=1)
    assert same.shape == (3, 10)
    assert (same == same[0]).all()
    other = repeated_problem("random-4", 3, seed=1)
    assert other.shape == (3, 4)
    assert len(np.unique(other)) == 12


def test_checkpoints_and_summary() -> None:
    assert checkpoints(1000) == [10, 18, 32, 56, 100, 178, 316, 562, 1000]
    values = summary(np.array([[1.0, 2.0], [3.0, 2.0]]))
    assert values == {"mean": [2, 2], "error": [1, 0]}
