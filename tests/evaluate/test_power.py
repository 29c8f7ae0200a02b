"""Tests of the power analysis of matches, by hand and by simulation."""

import numpy as np
import pytest
from command_line import run

from ludoteca.evaluate.statistics.power import PowerAnalysis, power_analysis_of_elo

pytestmark = pytest.mark.interpreted


def test_number_of_games_by_hand():
    # Numbers of games are rounded up to even ones.
    # ((1.95996 * 0.5 + 0.84162 * sqrt(0.24)) / 0.1)^2 = 193.8
    assert PowerAnalysis(0.6).games(0.8) == 194
    # One-sided: ((1.64485 * 0.5 + 1.28155 * sqrt(0.2475)) / 0.05)^2 = 852.6
    assert PowerAnalysis(0.55, two_sided=False).games(0.9) == 854
    # Half of the games drawn: deviations sqrt(0.125) and sqrt(0.24 - 0.125), which gives 95.6
    assert PowerAnalysis(0.6, draws=0.5).games(0.8) == 96
    assert PowerAnalysis(0.4).games(0.8) == PowerAnalysis(0.6).games(0.8)


def test_power_inverts_the_number_of_games():
    for analysis in (PowerAnalysis(0.53, draws=0.3), power_analysis_of_elo(-40, alpha=0.01)):
        for power in (0.5, 0.8, 0.95):
            games = analysis.games(power)
            assert analysis.power(games) >= power > analysis.power(games - 2)


@pytest.mark.parametrize("draws", [0.0, 0.4])
def test_power_equals_that_of_simulated_matches(draws):
    analysis = PowerAnalysis(0.56, draws)
    games, rng = analysis.games(0.8), np.random.default_rng(1)

    def detection_rate(score):
        p = (1 - score - draws / 2, draws, score - draws / 2)
        counts = rng.multinomial(games, p, 40_000)
        excess = (counts[:, 2] + counts[:, 1] / 2) / games - 0.5
        z = excess / np.sqrt((1 - counts[:, 1] / games) / 4 / games)
        return (np.abs(z) > 1.959964).mean()

    assert detection_rate(0.56) == pytest.approx(0.8, abs=0.015)
    assert detection_rate(0.5) == pytest.approx(0.05, abs=0.01)


def test_command_prints_games_and_power(capsys):
    status, out, err = run(capsys, "power", "--score", "0.6", "--games", "194")
    assert (status, err) == (0, "")
    assert "Elo difference +70.4, mean score 0.6000" in out
    assert "194 games detect it with probability 0.8 (two-sided test, alpha 0.05)" in out
    assert "194 games detect it with probability 0.80" in out
    assert "a sequential test (one-sided), --sprt 0 70.44 --alpha 0.05 --beta 0.2, needs" in out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "expected one of --elo and --score, got none"),
        (["--elo", "5", "--score", "0.6"], "expected one of --elo and --score, got both"),
        (["--score", "0.5"], "score must differ from 0.5"),
        (["--score", "0.9", "--draws", "0.5"], "at most 0.200 of the games can be draws, got 0.5"),
        (["--elo", "20", "--power", "1"], "power must be a number from 0.05 to 1, got 1"),
        (["--elo", "20", "--games", "0"], "games must be an integer from 1"),
    ],
)
def test_invalid_arguments_give_clear_errors(capsys, arguments, error):
    status, _, err = run(capsys, "power", *arguments)
    assert status == 2
    assert error in err
