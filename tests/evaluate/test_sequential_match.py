"""Tests of sequential matches: stopping rule, pairs of games, interruption, and the command."""

import json

import numpy as np
import pytest
from command_line import run

from ludoteca.envs.registry import make_game
from ludoteca.evaluate import sequential_match
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.sequential_match import default_counts, play_sequential_match
from ludoteca.evaluate.sequential_text import sequential_text
from ludoteca.evaluate.statistics.sprt import Sprt

pytestmark = pytest.mark.interpreted

AGENTS = ("greedy", "random")


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Make the terminal so wide that no output is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")


def pair_results(returns):
    """Return twice the points of the first agent in each pair of games."""
    first = returns[0::2, 0]
    second = returns[1::2, 1]
    return (1 + np.sign(first) + 1 + np.sign(second)).astype(int)


def test_match_stops_at_the_first_decision_and_counts_pairs():
    test = Sprt(0, 100)
    result = play_sequential_match("tictactoe", AGENTS, test, seed=3)
    games = result.match.games
    assert result.decision == "H1"
    assert games == 2 * sum(result.frequencies)

    returns = play_match("tictactoe", AGENTS, games, seed=3).returns
    assert np.array_equal(result.match.returns, returns)
    frequencies = np.zeros(5, int)
    ratios = []
    for pair in pair_results(returns):
        frequencies[pair] += 1
        ratios.append(test.llr(frequencies))
    assert tuple(frequencies) == result.frequencies
    assert ratios[-1] == pytest.approx(result.llr)
    assert all(test.lower < llr < test.upper for llr in ratios[:-1])
    assert result.llr >= test.upper
    assert result.elo.low < result.elo.elo < result.elo.high


def test_sequential_match_equals_a_match_of_as_many_games():
    result = play_sequential_match(
        "tictactoe", AGENTS, Sprt(0, 100), seed=3, random_plies=1, num_replays=5
    ).match
    single_match = play_match(
        "tictactoe", AGENTS, result.games, seed=3, random_plies=1, num_replays=5
    )
    assert (result.totals, result.seats, result.by_seat) == (
        single_match.totals, single_match.seats, single_match.by_seat
    )  # fmt: skip
    assert result.mean_plies == single_match.mean_plies
    assert result.replays == single_match.replays
    assert result.num_distinct_games == single_match.num_distinct_games
    assert result.agents == AGENTS


def test_result_does_not_depend_on_slices_or_threads(monkeypatch):
    first = play_sequential_match("tictactoe", AGENTS, Sprt(0, 60), seed=1)
    monkeypatch.setattr(sequential_match, "_next_slice_size", lambda *_: 2)
    second = play_sequential_match("tictactoe", AGENTS, Sprt(0, 60), seed=1, num_threads=2)
    assert first.frequencies == second.frequencies
    assert first.llr == second.llr
    assert second.games_played - second.match.games < 4 <= second.games_played


def test_h0_is_accepted_for_a_weaker_agent():
    result = play_sequential_match("tictactoe", AGENTS[::-1], Sprt(0, 100), seed=3)
    assert result.decision == "H0"
    assert result.elo.low < result.elo.elo < 0
    assert "H0 accepted after" in sequential_text(result)


def test_games_with_chance_are_counted_one_by_one():
    assert default_counts(make_game("hungry_geese")) == "trinomial"
    assert default_counts(make_game("hex")) == "pentanomial"
    test = Sprt(0, 200, counts="trinomial")
    result = play_sequential_match("hungry_geese:max_length=20", AGENTS, test, max_games=9)
    losses, draws, wins = result.frequencies
    total = result.match.totals[0]
    assert (losses, draws, wins) == (total.losses, total.draws, total.wins)


def test_interruption_keeps_the_finished_games(monkeypatch):
    calls = []

    def play(*arguments, **options):
        calls.append(options["first_game"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return play_match(*arguments, **options)

    monkeypatch.setattr(sequential_match, "play_match", play)
    result = play_sequential_match("tictactoe", ("random", "random"), Sprt(0, 5))
    assert result.interrupted
    assert result.decision == "undecided"
    assert result.match.games == calls[-1] == 2 * sum(result.frequencies)
    assert "because the match was interrupted" in " ".join(sequential_text(result).split())

    calls[:] = [0, 0]  # the first slice is interrupted
    with pytest.raises(KeyboardInterrupt):
        play_sequential_match("tictactoe", ("random", "random"), Sprt(0, 5))


def test_interrupted_command_prints_the_result_and_exits_with_status_130(capsys, monkeypatch):
    def play(*arguments, first_game, **options):
        if first_game > 0:
            raise KeyboardInterrupt
        return play_match(*arguments, first_game=first_game, **options)

    monkeypatch.setattr(sequential_match, "play_match", play)
    status, out, err = run(capsys, "match", "tictactoe", "--sprt", "0", "5")
    assert (status, err) == (130, "interrupted\n")
    assert "undecided after 2 games, because the match was interrupted" in out


def test_command_prints_the_decision_and_writes_it(capsys, tmp_path):
    file, folder = tmp_path / "match.json", tmp_path / "replays"
    status, out, err = run(
        capsys, "match", "tictactoe", "--agents", *AGENTS, "--sprt", "0", "100", "--alpha", "0.01",
        "--json", str(file), "--replays", str(folder),
    )  # fmt: skip
    assert (status, err) == (0, "")
    read = json.loads(file.read_text())
    sprt = read["sprt"]
    assert (sprt["decision"], sprt["alpha"], sprt["counts"]) == ("H1", 0.01, "pentanomial")
    assert f"H1 accepted after {read['games']} games: greedy is 100 rather than 0 Elo" in out
    assert f"Elo difference {sprt['elo']['elo']:+.1f} (95 % confidence interval" in out
    assert sprt["elo"]["low"] < sprt["elo"]["elo"] < sprt["elo"]["high"]
    assert len(list(folder.iterdir())) == min(10, read["games"])


def test_limit_of_games_leaves_the_match_undecided(capsys):
    status, out, _ = run(capsys, "match", "tictactoe", "--sprt", "0", "1", "--games", "20")
    assert status == 0
    assert "undecided after 20 games, because the match reached its maximum number of games" in out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--alpha", "0.01"], "are options of a sequential test: give the hypotheses, too"),
        (["--sprt", "20", "0"], "elo0 must be less than elo1, got elo0=20, elo1=0"),
        (["--sprt", "0", "20", "--alpha", "0.7"], "alpha must be a number from 1e-09 to 0.499"),
        (
            ["--sprt", "0", "20", "--games", "7"],
            "max_games must be even, as a pentanomial test counts pairs of games, got 7",
        ),
        (
            ["--sprt", "0", "20", "--agents", "random"],
            "expected 2 agents for a sequential test, got 1: random",
        ),
        (
            ["--sprt", "0", "20", "--agents", "random", "greedy", "random"],
            "expected 2 agents for a sequential test, got 3: random, greedy, random",
        ),
    ],
)
def test_invalid_arguments_give_clear_errors(capsys, arguments, error):
    status, _, err = run(capsys, "match", "tictactoe", *arguments)
    assert status == 2
    assert error in " ".join(err.split())
