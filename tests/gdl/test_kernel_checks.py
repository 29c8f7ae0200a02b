"""Tests of the check of compiled kernels of rule sheets: it passes, and finds planted faults."""

import json
import re
from dataclasses import replace

import pytest
from command_line import run

from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.envs.gdl.game import dynamics, gdl, make_network_game, rules
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.bench.gdl_compiled import KERNELS, verdict
from ludoteca.evaluate.gdl import kernel_checks, kernel_replays
from ludoteca.evaluate.gdl.kernel_checks import (
    KernelCheck,
    check_kernels_of,
    compare_random_games,
)
from ludoteca.evaluate.gdl.kernel_differences import KernelComparison
from ludoteca.evaluate.gdl.kernel_replays import replay_trace
from ludoteca.evaluate.gdl.machine import make_machine, play_random_games

pytestmark = pytest.mark.interpreted


def compare(game, sheet, num_games=3):
    """Return the comparison of a few random games with the network of a sheet."""
    comparison = KernelComparison(game, compile_sheet(find_sheet(sheet)))
    return compare_random_games(game, comparison, num_games, seconds=10.0)


def make_faulty_game(sheet, phase, gate):
    """Return the game of a sheet whose network has one input of a gate inverted."""
    network = rules(gdl(sheet))
    program = getattr(network, phase)
    gates = program.gates.copy()
    gates[gate, 1] ^= 1
    faulty = replace(network, **{phase: replace(program, gates=gates)})
    return make_network_game(faulty, dynamics(gdl(sheet)), sheet, {})


def record_lines(sheet, games=3):
    """Return the trace of random games of a sheet."""
    positions = play_random_games(make_machine(find_sheet(sheet)), games, seed=2, max_plies=60)
    return [position.line() for position in positions]


@pytest.mark.parametrize(
    "sheet",
    ["tictactoe", "prisoners_dilemma", "three_in_line", "dice_race", "kuhn_poker"],
)
def test_kernels_equal_the_evaluation_of_the_network(sheet):
    check = compare(gdl(sheet), sheet)
    assert check.difference == ""
    assert check.games == 3
    assert check.positions >= 3 * 3


@pytest.mark.parametrize(
    ("phase", "message"), [("phase1", r"game \d, ply \d: "), ("phase2", r"game \d, ply [1-9]: \(")]
)
@pytest.mark.parametrize("gate", [0, -1])
def test_an_inverted_input_of_a_gate_is_found(phase, message, gate):
    check = compare(make_faulty_game("tictactoe", phase, gate), "tictactoe")
    assert re.match(message, check.difference)


def replace_kernel(game, name):
    """Return a game with a kernel that is wrong at some time."""
    many = game.many

    def list_one_less(s, out):
        return max(game.legal_actions(s, out) - 1, 1)

    def write_zeros(s, out):
        out[:] = 0

    faults = {
        "legal_actions": list_one_less,
        "returns": write_zeros,
        "is_terminal": lambda s: s.plies >= 9,
        "player": lambda s: 0,
        "many": many._replace(end=lambda s: None),
    }
    return with_kernels(game, **{name: faults[name]})


def with_kernels(game, **kernels):
    """Return a game with other kernels and the same rules."""
    changed = replace(game, **kernels)
    object.__setattr__(changed, "_rules", vars(game)["_rules"])  # the dataclass is frozen
    return changed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("legal_actions", "legal actions of x differ"),
        ("returns", "the returns are [0. 0.], expected"),
        ("is_terminal", "over is False"),
        ("player", "legal actions of x differ"),
        ("many", "differs in games that are stepped together"),
    ],
)
def test_a_wrong_kernel_is_found(name, message):
    check = compare(replace_kernel(gdl("tictactoe"), name), "tictactoe", num_games=5)
    assert message in check.difference


@pytest.fixture
def few_games(monkeypatch):
    """Replay the three recorded games twice: interpreted kernels are slow."""
    monkeypatch.setattr(kernel_replays, "NUM_GAMES", 6)


@pytest.mark.usefixtures("few_games")
@pytest.mark.parametrize("sheet", ["tictactoe", "three_in_line", "prisoners_dilemma"])
def test_recorded_games_are_replayed(sheet):
    lines = record_lines(sheet)
    replay = replay_trace(gdl(sheet), lines)
    assert replay.differences == ()
    assert (replay.games, replay.finished, replay.positions) == (3, 3, len(lines))


@pytest.mark.usefixtures("few_games")
def test_differences_from_recorded_games_are_found():
    lines, game = record_lines("tictactoe"), gdl("tictactoe")
    wrong = [lines[0].replace("(mark a 1)", "(mark a 9)", 1), *lines[1:]]
    replay = replay_trace(game, wrong)
    assert replay.differences == (
        "game 0, ply 0: legal moves of x: missing: (mark a 9); extra: (mark a 1)",
    )
    assert replay.finished == 2  # the other games
    faulty = make_faulty_game("tictactoe", "phase2", -1)
    assert len(replay_trace(faulty, lines).differences) == 3
    together = replay_trace(replace_kernel(game, "many"), lines)
    assert "in games that are stepped together" in together.differences[0]
    ended = with_kernels(game, is_terminal=lambda s: s.plies >= 2)
    assert replay_trace(ended, lines).differences[0] == "game 0, ply 2: the game is over"
    assert replay_trace(game, []).games == 0


@pytest.mark.usefixtures("few_games")
def test_recorded_games_beyond_the_limit_of_plies_are_compared_up_to_there():
    lines = record_lines("tictactoe")
    replay = replay_trace(gdl("tictactoe", max_plies=2), lines)
    assert (replay.finished, replay.positions, replay.differences) == (0, 9, ())
    unfinished = replay_trace(gdl("tictactoe"), lines[:3])
    assert (unfinished.finished, unfinished.positions, unfinished.differences) == (0, 3, ())


def test_bench_writes_a_page_that_an_interrupted_run_continues(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(kernel_checks, "NUM_GAMES", (2, 3))
    monkeypatch.setattr(kernel_replays, "NUM_GAMES", 6)
    sheets, traces = tmp_path / "sheets", tmp_path / "traces"
    traces.mkdir()
    sheets.mkdir()
    (sheets / "broken.kif").write_text("(role a")
    (sheets / "tictactoe.kif").write_text(find_sheet("tictactoe").read_text())
    (sheets / "two.kif").write_text(find_sheet("prisoners_dilemma").read_text())
    (traces / "tictactoe.jsonl").write_text("\n".join(record_lines("tictactoe")) + "\n")
    page, numbers = tmp_path / "page.md", tmp_path / "numbers.json"
    options = ["--sheets", sheets, "--traces", traces, "--conformance", "kernels", "--keep"]
    options += ["--seconds", "0.3", "--json", numbers, "--page", page]
    assert run(capsys, "bench", "gdl", *map(str, options), "--only", "tic", "broken")[0] == 0
    content = json.loads(numbers.read_text())
    content["sheets"][1]["gates"] = 777  # a mark
    numbers.write_text(json.dumps(content))
    status, out, _ = run(capsys, "bench", "gdl", *map(str, options))
    assert status == 0
    assert "compiled kernels of 2 of 3 sheets were compared: 2 are equal, 0 differ. 1 check" in out
    assert "positions of 3 games of GGP-Base were replayed, of 1 sheets" in out
    text = page.read_text()
    assert "'(' is never closed |" in text
    assert "| tictactoe | 777 | straight | yes |" in text
    assert text.count("on 20") == 2  # the dates of both runs
    rows = {row["name"]: row for row in json.loads(numbers.read_text())["sheets"]}
    assert rows["tictactoe"]["replayed_games"] == 3
    assert rows["two"]["positions"] > 5
    numbers.write_text(json.dumps(content | {"sheets": [{"name": "x", "roles": 2}]}))
    status, _, err = run(capsys, "bench", "gdl", *map(str, options))
    assert status == 2
    assert "has no results of sheets" in err


def test_sheets_without_a_compiled_network_are_named(tmp_path):
    check = check_kernels_of("t", find_sheet("breakthrough"), None, 0.01, 0.1)
    assert verdict(check).startswith("interpreted: breakthrough.kif: compiling the sheet takes")
    assert "1 sheets are interpreted" in KERNELS.summary([check])
    different = KernelCheck("d", positions=1, replay_differences=("game 0",))
    assert not different.passed
    assert verdict(different) == "DIFFERS: game 0"


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["phase1", "phase2"])
def test_an_inverted_input_of_a_gate_is_found_in_compiled_kernels(phase):
    game = make_faulty_game("connect4", phase, -1)
    assert compare(game, "connect4", num_games=64).difference


@pytest.mark.slow
def test_compiled_kernels_of_a_sheet_are_checked(tmp_path):
    trace = tmp_path / "trace.jsonl"
    lines = record_lines("othello", games=1)
    trace.write_text("\n".join(lines) + "\n")
    check = check_kernels_of("othello", find_sheet("othello"), trace, 30.0, 1.0)
    assert check.passed
    assert check.evaluation == "events"
    assert check.has_many
    assert check.games >= 64
    assert check.replayed == len(lines)
