"""Tests of printed results (`print` and `repr`), at 80 columns."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.agents.games.endgame import solve_endgame
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.report import Candidate, SearchReport
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.exploit import best_response
from ludoteca.evaluate.exploit.solved_positions import MoveAccuracy
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_table import match_text
from ludoteca.evaluate.solve import solve
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.run import run_tournament

pytestmark = pytest.mark.interpreted

LONG_SPEC = (
    "mcts:policy=ucb_alpha1,simulations=3,solver=True,action_selection=mean,"
    "transpositions=True,decisive=both"
)


def lines_of(result: Any, width: int = 80) -> list[str]:
    """Return the lines that `print` shows; assert that they fit the width and are plain text."""
    text = str(result)
    assert text.isprintable() or "\n" in text
    assert "\x1b" not in text
    lines = text.split("\n")
    assert max(map(len, lines)) <= width, text
    assert all(line == line.rstrip() for line in lines)
    assert len(repr(result)) < 400
    assert "\n" not in repr(result)
    assert repr(result).startswith(type(result).__name__)
    return lines


def numbers_in(line: str) -> list[float]:
    """Return the numbers without sign in a line."""
    return [float(text) for text in re.findall(r"\d+(?:\.\d+)?", line.replace(",", ""))]


def test_match_result_prints_its_table() -> None:
    result = play_match("tictactoe", ["greedy", "random"], 30, seed=2)
    lines = lines_of(result)
    assert lines[0] == "Tic-Tac-Toe: 30 games, seed 2"
    assert lines[2].split() == ["seat", "games", "wins", "draws", "losses", "win", "%", "score"]
    for a, name in enumerate(("greedy", "random")):
        row = lines.index(name)
        records = (result.totals[a], *result.seats[a])
        for k, record in enumerate(records):
            line = lines[row + 1 + k]
            assert line.split()[0] == ("all", "first", "second")[k]
            numbers = numbers_in(line)
            assert numbers[:4] == [record.games, record.wins, record.draws, record.losses]
            # The tolerances are half of the last digit that is printed.
            assert numbers[4] == pytest.approx(100 * record.win_rate, abs=0.051)
            assert numbers[5] <= numbers[4] <= numbers[6]
            assert numbers[7] == pytest.approx(record.score, abs=0.0006)
    assert any("the first player wins" in line for line in lines)
    assert re.search(r"plies a game on average; \d+\.\d\d s, [\d,]+ games/s", lines[-1])
    assert "'greedy': " in repr(result)
    assert "random" in repr(play_match("tictactoe", ["random", "random"], 2))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_long_names_break_between_parameters(width: int) -> None:
    result = replace(
        play_match("tictactoe", ["random", "random"], 4),
        agents=(LONG_SPEC, "sb3:path=" + "x" * 90),
    )
    text = match_text(result, width)
    lines = text.split("\n")
    for part in LONG_SPEC.split(","):
        assert any(part in line for line in lines)
    assert "".join(lines).replace(" ", "").count(LONG_SPEC) == 1
    assert "sb3:path=" + "x" * 90 in lines  # the name has no place to break
    other_lines = [line for line in lines if "xxx" not in line]
    assert max(map(len, other_lines)) <= max(width, 66)  # 66 is the width of the table


def test_large_counts_of_games_fit() -> None:
    result = play_match("tictactoe", ["random", "random"], 4)
    record = replace(result.totals[0], games=10**6, wins=10**6, draws=0, losses=0, points=1e6)
    result = replace(result, games=10**6, totals=(record, record), seats=((record,) * 2,) * 2)
    assert any("1,000,000" in line for line in str(result).split("\n"))
    assert lines_of(replace(result, seconds=0.0))  # no division by zero


def test_forfeits_and_unregistered_games_are_printed() -> None:
    result = play_match("tictactoe", ["random", "greedy"], 4)
    reason = "it answered after 1.9 s, which is later than the second that it may take " * 2
    forfeit = Forfeit(game=3, agent=0, seat=1, ply=2, kind="timeout", message=reason)
    lines = lines_of(replace(result, forfeits=(forfeit,), game="mine:size=3"))
    assert lines[0].startswith("mine:size=3: 4 games")
    assert any(line.startswith("random forfeited 1 times (1 timeout)") for line in lines)


def test_matches_of_many_players_have_ranks() -> None:
    result = play_match("hungry_geese", ["random", "greedy"], 4)
    lines = lines_of(result)
    assert lines[2].split()[-1] == "rank"
    assert sum(line.split()[:1] == ["3"] for line in lines) == 2


def test_search_report_shows_its_moves() -> None:
    game = make_game("connect4")
    report = MCTSAgent(game, simulations=100, policy="ucb_alpha1", solver=True).search(game.new())
    lines = lines_of(report)
    assert lines[0].startswith(f"MCTS (ucb_alpha1) of connect4: best move {report.name}, value 0.")
    assert lines[1].startswith("100 simulations in ")
    rows = {line.replace("*", "").split()[0]: line for line in lines if "%" in line}
    assert set(rows) == set("1234567")
    for candidate in report.candidates:
        assert numbers_in(rows[candidate.name].replace("*", ""))[1] == candidate.visits
    assert [name for name, line in rows.items() if "*" in line] == [report.name]
    assert lines[-1].startswith("value: mean score of the player to move")


def test_the_chosen_move_is_shown_among_many() -> None:
    moves = tuple(Candidate(k, f"m{k}", 30 - k, 0.5, "") for k in range(30))
    report = SearchReport(29, "m29", 465, 0.0, 99, moves, ("m0", "m1") * 40, "")
    lines = lines_of(report)
    assert sum("*" in line for line in lines) == 1
    assert any(line.split()[:2] == ["*", "m29"] for line in lines)
    assert any("19 more in .candidates" in line for line in lines)
    assert " ".join(lines).count("m0 ") >= 40  # the variation is wrapped, not cut


def test_decoupled_search_report_shows_every_player() -> None:
    game = make_game("tron")
    lines = lines_of(make_agent("mcts:simulations=50", game).search(game.new()))  # type: ignore[attr-defined]
    assert lines[0].startswith("decoupled MCTS (ucb1) of tron, player 0: best move ")
    assert [line for line in lines if line.startswith("player")] == ["player 0", "player 1"]


def test_exact_endgames_show_their_scores() -> None:
    game = make_game("othello:board_size=4")
    report = MCTSAgent(game, solver_empties=12).search(game.new())
    lines = lines_of(report)
    assert lines[0].startswith("exact endgame of othello: best move ")
    assert "exact score -10" in lines[0]
    assert lines[1].startswith("solved in ")
    solution = solve_endgame(game, game.new(), all_moves=True)
    text = str(solution)
    assert "scores of all moves: " in text
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.parametrize("simulations", [0, 8])
def test_network_search_report_matches_the_agent(simulations: int) -> None:
    game = make_game("hex:board_size=5")
    agent: Any = make_agent(f"az:hex5,simulations={simulations}", game)
    report = agent.search(game.new())
    lines = lines_of(report)
    assert lines[0].startswith("AlphaZero (puct) of hex: best move ")
    assert report.simulations == simulations
    assert sum(candidate.visits for candidate in report.candidates) == simulations
    assert sum(candidate.prior for candidate in report.candidates) == pytest.approx(1, abs=1e-3)
    assert len(report.principal_variation) == 0 or simulations
    states, rngs = game.empty(1), np.zeros((1, 1), np.uint64)
    states[0] = game.new()
    assert report.action == agent.act(states, np.zeros(1, np.int64), rngs, np.zeros(1, np.int64))[0]


def test_search_samples_actions_at_a_temperature() -> None:
    game = make_game("hex:board_size=5")
    agent: Any = make_agent("az:hex5,simulations=0,temperature=2.0", game)
    names = {agent.search(game.new(), np.array([k], np.uint64)).name for k in range(20)}
    assert len(names) > 3


def test_solutions_show_values_of_moves() -> None:
    lines = lines_of(solve(make_game("hex:board_size=2")))
    assert lines == [
        "perfect play: player 0 gets +1, player 1 gets -1",
        "moves with value +1 for the player to move: b1 a2",
        "moves with value -1 for the player to move: a1 b2",
        "19 positions searched",  # depends on the order of moves in the solver
    ]


def test_best_responses_and_solved_positions_are_printed() -> None:
    game = make_game("tictactoe")
    response = best_response(game, make_agent("mcts:simulations=3", game), 0)
    text = str(response)
    assert f"{response.wins:,} won, {response.draws:,} drawn, {response.losses:,} lost" in text
    assert "one of the worst games: " in text
    solved = str(MoveAccuracy(500, 490, 0.96, 0.99, (300, 295), (200, 195)))
    assert "perfect moves in 490 of 500 positions: 98.0 % (96.0 % to 99.0 %)" in solved
    assert "in won positions: 295 of 300" in solved


def test_tournament_result_prints_its_table(tmp_path: Path) -> None:
    plan = Tournament(("tictactoe",), ("random", "greedy"), games_per_pair=6, repeats=3)
    results = run_tournament(plan, tmp_path, processes=1)
    lines = lines_of(results)
    assert "6 games" in lines[0]
    assert any(line.split()[:1] == ["greedy"] for line in lines)
    assert "Elo" in str(results)
