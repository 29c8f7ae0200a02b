"""Tests of tournaments: schedule, resumption and report."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tournaments import SMALL_TOURNAMENT

from ludoteca.__main__ import main
from ludoteca.evaluate.forecast import Forecast
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.tournament import plots, run
from ludoteca.evaluate.tournament.plan import Tournament, short_names, split_specs
from ludoteca.evaluate.tournament.report import write_report
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.run import run_tournament

pytestmark = pytest.mark.interpreted


def synthetic_results(games, agents, games_per_pair=12, **options):
    """Return random results of a tournament, in which agent a beats b more often if a < b."""
    plan = Tournament(
        tuple(f"hex:board_size={k + 3}" for k in range(games)),
        tuple(f"mcts:simulations={k + 1}" for k in range(agents)),
        games_per_pair=games_per_pair,
        repeats=2,
        **options,
    )
    shape = (games, len(plan.pairs), 2, plan.games_per_match)
    rng = np.random.default_rng(0)
    outcomes = rng.choice(np.array([1, 0, -1], np.int8), shape, p=[0.6, 0.1, 0.3])
    plies = np.full(shape[:2], 7 * games_per_pair)
    return Results(plan, outcomes, plies, np.ones(shape[:2]))


@pytest.mark.parametrize("game", ["tictactoe", pytest.param("connect4", marks=pytest.mark.slow)])
def test_consecutive_slices_of_a_match_are_the_match(game):
    agents = ("random", "greedy")
    single_match = play_match(game, agents, 30, seed=5).returns
    slices = [
        play_match(game, agents, n, seed=5, first_game=k).returns for k, n in ((0, 7), (7, 23))
    ]
    assert np.array_equal(single_match, np.concatenate(slices))


def test_results_are_those_of_the_matches(tmp_path):
    results = run_tournament(SMALL_TOURNAMENT, tmp_path, processes=1)
    for match in SMALL_TOURNAMENT.matches():
        game = SMALL_TOURNAMENT.games[match.game]
        played = play_match(
            game, SMALL_TOURNAMENT.agents, 6, seed=SMALL_TOURNAMENT.match_seed(match)
        )
        outcomes = results.outcomes[match.game, 0, match.repeat]
        assert (outcomes == 1).sum() == played.totals[0].wins
        assert (outcomes == 0).sum() == played.totals[0].draws
        assert (outcomes[::2] == 1).sum() == played.seats[0][0].wins
        assert (outcomes[1::2] == 1).sum() == played.seats[0][1].wins


def test_matches_have_different_seeds():
    seeds = [SMALL_TOURNAMENT.match_seed(match) for match in SMALL_TOURNAMENT.matches()]
    seeds += [
        replace(SMALL_TOURNAMENT, seed=4).match_seed(match) for match in SMALL_TOURNAMENT.matches()
    ]
    assert len(set(seeds)) == 8  # four matches of two tournaments
    # The seeds of a pair do not depend on the other agents.
    with_third_agent = replace(
        SMALL_TOURNAMENT, agents=("random", "greedy", "mcts:simulations=5"), names=()
    )
    assert [
        with_third_agent.match_seed(match)
        for match in with_third_agent.matches()
        if match.pair == (0, 1)
    ] == seeds[:4]


@pytest.mark.usefixtures("unrendered_figures")
def test_forfeits_are_logged_and_reported(tmp_path):
    # An agent that crashes at its first move.
    (tmp_path / "sleepy.py").write_text("def agent(seen): return {}['no key']\n")
    agents = ("random", f"kaggle:{tmp_path / 'sleepy.py'}", "greedy")
    plan = Tournament(
        ("hungry_geese:num_players=2,episode_steps=5",), agents, games_per_pair=2, repeats=1
    )
    first = run_tournament(plan, tmp_path / "run", processes=1)
    reread = run_tournament(plan, tmp_path / "run", processes=1)
    assert first.forfeits == reread.forfeits
    assert [forfeit.agent for _, forfeit in first.forfeits] == [1] * 4
    assert [(match.pair, forfeit.game, forfeit.seat) for match, forfeit in first.forfeits] == [
        ((0, 1), 0, 1), ((0, 1), 1, 0), ((1, 2), 0, 0), ((1, 2), 1, 1)
    ]  # fmt: skip
    write_report(first, tmp_path)
    forfeits = json.loads((tmp_path / "results.json").read_text())["forfeits"]
    assert [(forfeit["against"], forfeit["kind"]) for forfeit in forfeits] == [
        ("random", "crash"), ("random", "crash"), ("greedy", "crash"), ("greedy", "crash")
    ]  # fmt: skip
    report = (tmp_path / "report.md").read_text()
    assert re.search(r"\| .*sleepy.* \| 4 \| 4 crash \| .*no key", report)


@pytest.mark.slow
def test_each_agent_of_a_pair_holds_two_of_four_seats(tmp_path):
    plan = Tournament(("hungry_geese",), ("random", "greedy"), games_per_pair=8, repeats=1)
    outcomes = run_tournament(plan, tmp_path, processes=1).outcomes
    match = play_match("hungry_geese", plan.agents, 8, seed=plan.match_seed(plan.matches()[0]))
    assert (outcomes == 1).sum() == match.totals[0].wins
    assert (outcomes == -1).sum() == match.totals[1].wins


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": ("tictactoe", "tictactoe:board_size=3")}, "game .* comes twice"),
        ({"games": ()}, "needs a game"),
        ({"games": ("gogo",)}, "unknown game 'gogo'"),
        ({"agents": ("random",)}, "needs two agents or more, got 1"),
        ({"agents": ("random", "random")}, "agent 'random' comes twice"),
        ({"agents": ("random", "nobody")}, "unknown agent 'nobody'"),
        ({"names": ("one",)}, "expected a name for each of 2 agents, got 1"),
        ({"names": ("one", "one")}, "name 'one' comes twice"),
        ({"games_per_pair": 10, "repeats": 2}, "multiple of twice the repeats.*got 10 games and 2"),
        ({"seed": -1}, "a seed must be"),
        ({"draws": "none"}, "draws must be one of 'half', 'loss', got 'none'"),
    ],
)
def test_invalid_tournaments_raise(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL_TOURNAMENT, **({"names": ()} | changes))


@pytest.mark.parametrize(
    ("agents", "names"),
    [
        (("mcts:policy=etc,simulations=9", "mcts:policy=ucb1,simulations=9"), ("etc", "ucb1")),
        (("random", "mcts:simulations=9"), ("random", "mcts:simulations=9")),
        (("mcts", "mcts:solver=True"), ("mcts", "solver=True")),
        (("mcts:a=1,b=2", "mcts:a=2,b=1"), ("a=1,b=2", "a=2,b=1")),
        (("sb3:path=a.zip", "sb3:path=b.zip"), ("a.zip", "b.zip")),
    ],
)
def test_short_names_are_unique(agents, names):
    assert short_names(agents) == names


def test_games_may_be_joined_by_commas():
    assert split_specs(["breakthrough,hex:board_size=7,swap=True,connect4", "tron"]) == (
        "breakthrough",
        "hex:board_size=7,swap=True",
        "connect4",
        "tron",
    )


# Expected seconds: work / workers + chain * (1 - 1 / workers).
@pytest.mark.parametrize(
    ("workers", "seconds", "limit"),
    [(1, 1000.0, "work"), (10, 145.0, "work"), (1000, 50.95, "chain"), (10**6, 51.0, "chain")],
)
def test_forecast_by_number_of_workers(workers, seconds, limit):
    forecast = Forecast(1000.0, chain=50.0)
    assert forecast.expected_seconds(workers) == pytest.approx(seconds, rel=0.03)
    assert forecast.limiting_factor(workers) == limit
    slow = replace(forecast, driver=400.0)
    assert slow.expected_seconds(workers) == pytest.approx(max(seconds, 400.0), rel=0.03)
    assert slow.limiting_factor(workers) == ("work" if workers == 1 else "driver")


def test_counts_by_pair_and_agent_agree():
    results = synthetic_results(3, 4)
    wins, draws = results.wins(), results.draws()
    for pair in results.pair_results:
        a, b = pair.pair
        assert (pair.wins, pair.losses) == (wins[pair.game, a, b], wins[pair.game, b, a])
        assert pair.draws == draws[pair.game, a, b] == draws[pair.game, b, a]
        assert pair.wins_first + pair.wins_second == pair.wins == sum(pair.wins_by_repeat)
        assert pair.losses_first + pair.losses_second == pair.losses
        assert pair.games == 12
    assert results.points().sum() == results.tournament.total_games
    assert (results.points() == results.by_repeat.points.sum(2)).all()
    draws_lose = synthetic_results(3, 4, draws="loss")
    assert (draws_lose.points() == wins.sum(2)).all()
    assert (draws_lose.points() == draws_lose.by_repeat.points.sum(2)).all()


@pytest.mark.parametrize(
    ("games", "agents", "draws", "omitted"),
    [
        (7, 5, "half", set()),
        pytest.param(13, 14, "loss", set(), marks=pytest.mark.slow),
        (4, 2, "loss", {"ranks.png"}),
        (1, 2, "half", {"ranks.png", "points.png"}),
        (1, 4, "loss", {"ranks.png", "points.png"}),
    ],
)
def test_reports_of_any_size(tmp_path, games, agents, draws, omitted):
    results = synthetic_results(games, agents, draws=draws)
    write_report(results, tmp_path, processes=2)
    figures = {"ranks.png", "points.png", "heat_map.png", "ratings.png"} - omitted
    assert {file.name for file in tmp_path.glob("*.png")} == figures
    report = (tmp_path / "report.md").read_text()
    assert set(re.findall(r"\]\((\w+\.png)\)", report)) == figures
    for link in re.findall(r"\]\(([\w.]+)\)", report):
        assert (tmp_path / link).stat().st_size > 0
    assert ("left out" in report) == ("ranks.png" in omitted)
    for line in report.splitlines():
        assert "nan" not in line.split()
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert len(rows) == games * agents * (agents - 1) // 2
    for row in rows:
        assert int(row["wins_a"]) + int(row["draws"]) + int(row["wins_b"]) == 12
        low, rate, high = (
            float(row[key]) for key in ("win_rate_low", "win_rate_a", "win_rate_high")
        )
        assert low <= rate <= high
        assert low < high
    results_json = json.loads((tmp_path / "results.json").read_text())
    assert results_json["points"] == results.points().tolist()
    assert results_json["versions"]["ludoteca"]
    assert len(results_json["elo"]["low"]) == agents


def test_long_names_lose_their_middle():
    assert plots.shorten("mcts:simulations=2000") == "mcts:simulations=2000"
    shortened = plots.shorten("kaggle:" + 20 * "folder/" + "submission.py")
    assert len(shortened) == 36
    assert re.fullmatch(r"kaggle:.*….*/submission.py", shortened)


@pytest.mark.usefixtures("unrendered_figures")
def test_command_plays_a_tournament(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    arguments = ["tournament", "--games", "tictactoe,connect4", "--agents", "random", "greedy"]
    arguments += ["--games-per-pair", "12", "--repeats", "2", "--out", str(tmp_path)]
    assert main([*arguments, "--seed", "3", "--processes", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "24 games, seed 3" in printed.out
    assert f"report: {tmp_path / 'report.md'}" in printed.out
    results_json = json.loads((tmp_path / "results.json").read_text())
    assert (
        results_json["points"]
        == run_tournament(SMALL_TOURNAMENT, tmp_path, processes=1).points().tolist()
    )
    # Another seed is another tournament.
    assert main([*arguments, "--seed", "5", "--processes", "1"]) == 2
    assert "belongs to another tournament" in capsys.readouterr().err


def test_ctrl_c_prints_how_to_resume(tmp_path, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "play_match", interrupt)
    arguments = ["tournament", "--games", "tictactoe", "--agents", "random", "greedy"]
    assert main([*arguments, "--out", str(tmp_path), "--processes", "1"]) == 130
    assert capsys.readouterr().err == "interrupted; the same command resumes\n"


@pytest.mark.usefixtures("unrendered_figures")
def test_report_has_nash_averaging_and_alpha_rank(tmp_path):
    results = synthetic_results(1, 3)
    # As in rock, paper, scissors, each agent wins three quarters of its games against the next.
    half = results.outcomes.shape[-1] // 2
    results.outcomes[:] = 1
    results.outcomes[..., half:][..., ::2] = -1
    results.outcomes[:, results.tournament.pairs.index((0, 2))] *= -1
    advantage = results.advantages()[0, 1]
    assert results.advantages() == pytest.approx(
        np.array(
            [[0, advantage, -advantage], [-advantage, 0, advantage], [advantage, -advantage, 0]]
        )
    )
    write_report(results, tmp_path)
    numbers = json.loads((tmp_path / "results.json").read_text())
    assert numbers["nash_averaging"]["probabilities"] == pytest.approx([1 / 3] * 3)
    assert numbers["nash_averaging"]["ratings"] == pytest.approx([0] * 3, abs=1e-6)
    assert numbers["alpha_rank"] == pytest.approx([1 / 3] * 3)
    report = (tmp_path / "report.md").read_text()
    assert "## Nash averaging and alpha-rank" in report
    assert report.count("| 0.333 | +0.000 | 0.333 |") == 3
