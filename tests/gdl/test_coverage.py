"""Tests of the coverage of collections of rule sheets, and of the command that measures it."""

import json
import multiprocessing
import os
import re
import select
import time
import warnings
from functools import partial

import pytest
from command_line import run

from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.bench.gdl import bench_gdl, format_rate, summary, unfinished
from ludoteca.evaluate.gdl import conformance, limited_process
from ludoteca.evaluate.gdl.coverage import (
    SheetCoverage,
    conformance_of,
    measure_coverage,
    measure_speed,
)
from ludoteca.evaluate.gdl.limited_process import ProcessError, run_in_limits
from ludoteca.evaluate.gdl.machine import make_machine, play_random_games
from ludoteca.evaluate.gdl.sheet_files import sheet_files, trace_file

# After one step o has no legal move, and at the end, after two, no role has a goal.
STUCK = """
(role x) (role o) (init (step 0)) (<= (legal ?r go) (role ?r) (true (step 0))) (legal x wait)
(<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))
(<= terminal (true (step 2))) (<= (goal ?r 50) (role ?r) (true (step 0)))
"""


def write_collection(folder):
    """Write sheets as in the GGP Base repository: with later versions, and with a broken sheet."""
    for name, text in (
        ("ticTacToe", find_sheet("tictactoe").read_text()),
        ("broken", "(role a"),
        ("stuck", "(role a)"),
        ("stuck/v2", "(role b)"),
        ("stuck/v10", STUCK),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / "METADATA").write_text("{}")
        stem = name.partition("/")[0]
        (folder / name / f"{stem}.kif").write_text(text)


def write_trace(folder, collection, wrong=False):
    """Write the trace of the collection's Tic-Tac-Toe, or one with a `wrong` first move."""
    sheet = collection / "ticTacToe" / "ticTacToe.kif"
    lines = [position.line() for position in play_random_games(make_machine(sheet), 2, 0, 20)]
    file = trace_file(folder, collection, sheet)
    assert file.name == "ticTacToe+ticTacToe.jsonl"
    text = "\n".join(lines) + "\n"
    file.write_text(text.replace("(mark a 1)", "(mark a 2)", 1) if wrong else text)


def test_earlier_versions_are_omitted(tmp_path):
    write_collection(tmp_path)
    files = {name: path.relative_to(tmp_path).as_posix() for name, path in sheet_files(tmp_path)}
    assert files == {
        "broken": "broken/broken.kif",
        "stuck": "stuck/v10/stuck.kif",
        "ticTacToe": "ticTacToe/ticTacToe.kif",
    }
    # Without METADATA the folder v1 is not a version, and all sheets of a folder are read.
    for name in ("games/a.kif", "games/b.kif", "games/v1/a.kif"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("(role a)")
    names = [name for name, _ in sheet_files(tmp_path / "games")]
    assert names == ["a", "b", "v1/a"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="has no rule sheets"):
        sheet_files(tmp_path / "empty")


@pytest.mark.slow
@pytest.mark.compiled
def test_speed_of_a_sheet_counts_steps_and_games():
    coverage = measure_speed(make_machine(find_sheet("tictactoe")), 0.05)
    assert coverage.dynamics == "sequential"
    assert coverage.faults == ""
    assert coverage.games > 100
    assert 6.5 < coverage.mean_plies < 9.5
    assert coverage.steps_per_second > 10_000
    simultaneous = measure_speed(make_machine(find_sheet("prisoners_dilemma")), 0.05)
    assert simultaneous.dynamics == "simultaneous"
    assert measure_speed(make_machine(find_sheet("eight_puzzle")), 0.05).dynamics == "one player"


@pytest.mark.compiled
def test_faults_of_a_sheet_are_found(tmp_path):
    file = tmp_path / "stuck.kif"
    file.write_text(STUCK)
    faults = measure_speed(make_machine(file), 0.01).faults
    assert "states without a legal move for a role" in faults
    assert "goals missing or not unique at the end" in faults


def test_bench_writes_page_and_numbers(tmp_path, capsys):
    collection, traces = tmp_path / "games", tmp_path / "traces"
    traces.mkdir()
    write_collection(collection)
    write_trace(traces, collection)
    page, numbers = tmp_path / "page.md", tmp_path / "numbers.json"
    bench_gdl(collection, traces, numbers, page, seconds=0.01, conformance="interpreted")
    out = capsys.readouterr().out
    assert "2 of 3 sheets (66.7 %) are compiled" in out
    assert "0 sheets differ. 0 sheets have 10 finished games or more among them" in out
    assert "2 of 2 sheets pass the conformance checks" in out
    text = page.read_text()
    assert "| broken |" in text
    assert "'(' is never closed |" in text
    rows = {row["name"]: row for row in json.loads(numbers.read_text())["sheets"]}
    assert "of GGP-Base, with their number: ticTacToe 2. Positions" in text
    assert rows["ticTacToe"]["compared"] > 10
    assert rows["ticTacToe"]["compared_games"] == 2
    assert rows["ticTacToe"]["conformance"] == "passed"
    assert rows["ticTacToe"]["differences"] == []
    assert rows["stuck"]["oracle_error"] == "not recorded"
    assert rows["broken"]["failure"]


def test_an_earlier_run_is_continued_and_its_results_are_kept(tmp_path, capsys):
    collection = tmp_path / "games"
    write_collection(collection)
    page, numbers = tmp_path / "page.md", tmp_path / "numbers.json"
    options = {"json": numbers, "page": page, "seconds": 0.01, "keep": True}
    bench_gdl(collection, only=("ticTac",), **options)
    content = json.loads(numbers.read_text())
    content["sheets"][0]["roles"] = 77  # a mark
    numbers.write_text(json.dumps(content))
    bench_gdl(collection, only=("stu",), **options)  # measures these only
    assert [result.name for result in bench_gdl(collection, **options)] == [
        "broken",
        "stuck",
        "ticTacToe",
    ]
    content = json.loads(numbers.read_text())
    assert len(content["earlier_runs"]) == 2
    assert content["sheets"][2]["roles"] == 77
    bench_gdl(collection, only=("ticTacToe",), **options)  # measures it again
    assert json.loads(numbers.read_text())["sheets"][2]["roles"] == 2
    assert "| broken |" in page.read_text()
    assert page.read_text().count("on 20") == 4  # the dates of four runs
    text = page.read_text()
    page.unlink()
    bench_gdl(collection, **options)  # nothing is left to measure
    assert page.read_text() == text
    capsys.readouterr()
    numbers.write_text("{}")
    with pytest.raises(ValueError, match=r"numbers\.json has no results of sheets: KeyError"):
        bench_gdl(collection, **options)
    with pytest.raises(ValueError, match="--keep needs --json"):
        bench_gdl(collection, keep=True)


def test_differences_from_a_trace_are_shown(tmp_path):
    write_collection(tmp_path)
    write_trace(tmp_path, tmp_path, wrong=True)
    sheet = tmp_path / "ticTacToe" / "ticTacToe.kif"
    coverage = measure_coverage("t", sheet, trace_file(tmp_path, tmp_path, sheet), 10.0, 0.01)
    assert "game 0, ply 0: legal moves of x: extra: (mark a 1)" in coverage.differences[0]


def test_sheet_that_exceeds_the_limits_ends_only_its_process():
    def allocate():
        return len(bytearray(1 << 40))  # 1 TiB

    def hang():
        while True:
            time.perf_counter()

    def fail():
        raise KeyError("three")

    for function, reason in (
        (allocate, "more than 6 GiB of memory"),
        (hang, "more than 1 s of CPU time"),
        (partial(os._exit, 5), "the process ended with status 5: out of time or memory"),
        (fail, "KeyError: 'three'"),
    ):
        with pytest.raises(ProcessError, match=f"^{re.escape(reason)}$"):
            run_in_limits(function, 1.0)
    assert run_in_limits(lambda: "done", 1.0) == "done"


def test_process_that_waits_without_cpu_time_is_ended(monkeypatch):
    monkeypatch.setattr(limited_process, "WALL_CLOCK_FACTOR", 0.02)
    start = time.monotonic()
    with pytest.raises(ProcessError, match=r"^more than 0\.22 s of wall-clock time$"):
        run_in_limits(partial(time.sleep, 60), 1.0)
    assert time.monotonic() - start < 30


def test_limited_process_ends_when_its_parent_is_killed():
    reader, writer = os.pipe()

    def write_and_sleep():
        os.write(writer, b"x")
        time.sleep(60)

    parent = multiprocessing.get_context("fork").Process(
        target=run_in_limits, args=(write_and_sleep, 60.0)
    )
    parent.start()
    os.close(writer)
    assert os.read(reader, 1) == b"x"  # the limited process runs
    parent.kill()
    parent.join()
    # The pipe ends when the limited process, its last writer, has ended.
    assert select.select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.interpreted
def test_conformance_is_checked_with_warnings_as_errors(tmp_path, monkeypatch):
    sheet = tmp_path / "stuck.kif"
    sheet.write_text(STUCK)  # its faults are no violations
    assert conformance_of(sheet, 30.0, compiled=False) == "passed"

    def warn(game):
        warnings.warn(f"{game.title} is odd", UserWarning, stacklevel=2)

    monkeypatch.setattr(conformance, "check_environments", warn)
    assert conformance_of(sheet, 30.0, compiled=False) == "UserWarning: stuck (GDL) is odd"
    sheet.write_text("(role a")
    assert "'(' is never closed" in conformance_of(sheet, 30.0, compiled=False)


@pytest.mark.slow
def test_compiled_game_of_a_sheet_conforms():
    assert conformance_of(find_sheet("prisoners_dilemma"), 30.0, compiled=True) == "passed"


@pytest.mark.compiled
def test_info_describes_a_sheet(capsys):
    status, out, _ = run(capsys, "gdl", "info", "tron", "--seconds", "0.01")
    assert status == 0
    assert "roles red, blue goals 0 50 100; 0 50 100 dynamics simultaneous" in out
    assert "groups 2 of exactly one, proved: (head blue ? ?) (head red ? ?); " in out
    assert "moves 8: east north south west" in out
    assert "actions 4: red 4, blue 4" in out
    assert "max_plies 200, a limit, as no bound is proved" in out
    assert "faults none found" in out
    assert "board 10 x 10, symmetries: 8" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gdl", "--sheets", "nowhere"], "there is no file or folder nowhere"),
        (["gdl", "--only", "nonsense"], "begins with nonsense"),
        (["gdl", "--strength"], "bench gdl takes no --strength"),
        (["gdl", "--seconds", "0"], "seconds must be positive, got 0"),
        (
            ["gdl", "--kernels", "--conformance", "compiled"],
            "--kernels takes no --traces, --conf",
        ),
        (["gdl", "--kernels", "--only", "nonsense"], "has no sheet nonsense"),
        (
            ["gdl", "--kernels", "--peers"],
            "takes one of --peers, --kernels, --playouts, got --peers, --kernels",
        ),
        (["gdl", "--playouts", "--keep"], "bench gdl --playouts takes no --traces"),
        (["envs", "--kernels"], "are for bench gdl, not bench envs"),
        (["envs", "--sheets", "x"], "are for bench gdl, not bench envs"),
        (["mcts", "--conformance", "compiled"], "are for bench gdl, not bench mcts"),
    ],
)
def test_invalid_arguments_of_bench_give_clear_errors(capsys, arguments, message):
    status, _, err = run(capsys, "bench", *arguments)
    assert status == 2
    assert message in err


@pytest.mark.slow
def test_bench_of_kernels_writes_page_and_numbers(tmp_path, capsys):
    page, numbers = tmp_path / "page.md", tmp_path / "numbers.json"
    options = ["--only", "tictactoe", "--seconds", "0.05", "--page", page, "--json", numbers]
    status, out, _ = run(capsys, "bench", "gdl", "--kernels", *map(str, options))
    assert status == 0
    assert out.startswith("tictactoe: gates 102; largest phase 84; compile, s ")
    (row,) = json.loads(numbers.read_text())["sheets"]
    assert len(row["steps"]) == len(row["simulations"]) == 5
    assert min(row["steps"]) > max(row["simulations"]) > 0
    assert "| tictactoe | 102 | 84 |" in page.read_text()


@pytest.mark.slow
def test_bench_of_playouts_writes_page_and_numbers(tmp_path, capsys):
    page, numbers = tmp_path / "page.md", tmp_path / "numbers.json"
    options = ["--only", "tictactoe", "--seconds", "0.05", "--page", page, "--json", numbers]
    status, out, _ = run(capsys, "bench", "gdl", "--playouts", *map(str, options))
    assert status == 0
    assert out.startswith("tictactoe: N = 1, playouts/s ")
    (row,) = json.loads(numbers.read_text())["sheets"]
    assert row["together"]
    assert [len(rates) for rates in row["playouts"].values()] == [5] * 4
    assert min(min(rates) for rates in row["playouts"].values()) > 0
    cells = page.read_text().splitlines()[-1].split("|")
    assert cells[1].strip() == "tictactoe"
    assert len(cells) == 2 + 10


def test_steps_have_three_digits():
    assert [format_rate(x) for x in (12_345_678, 54_321, 999)] == ["12.3 M", "54.3 k", "999"]


def test_summary_counts_slow_sheets_separately():
    sheets = [
        SheetCoverage("fast", load_seconds=1, gates=10, steps_per_second=1e6),
        SheetCoverage("slow", load_seconds=31, gates=30, steps_per_second=3e6),
        SheetCoverage("failing", failure="too large", load_seconds=30),
        SheetCoverage("limit", load_seconds=30, gates=20, steps_per_second=2e6),
        SheetCoverage("interpreted", limit="too many instances", load_seconds=9),
    ]
    assert summary(sheets) == (
        "2 of 5 sheets (40.0 %) are compiled within 30 s of CPU time each. 1 more are compiled, "
        "but take longer. 1 more exceed a limit and are interpreted. The median compiled sheet has "
        "20 gates and makes 2 M steps/s."
    )


def test_sheets_with_few_finished_games_are_listed():
    sheets = [
        SheetCoverage("whole", compared=200, compared_games=10),
        SheetCoverage("long", compared=300, compared_games=4),
        SheetCoverage("slow", compared=1),
        SheetCoverage("unrecorded"),
    ]
    assert "with their number: long 4, slow 0. " in unfinished(sheets)
    assert unfinished(sheets[:1]) == ""
    assert "1 sheets have 10 finished games" in summary(sheets)
