"""Tests of the progress display: phases, rates, and a width of 80 columns."""

import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from ludoteca.duration import format_duration
from ludoteca.envs import compilation
from ludoteca.envs.registry import make_game
from ludoteca.progress import RateClock, RunStatus, display, show_progress
from ludoteca.train.evaluation import evaluate_in_time
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.next_command import next_command
from ludoteca.train.status import detail, phase
from ludoteca.train.time_limit import TimeLimit

# Status with long texts and numbers.
LONG = RunStatus(
    phase="evaluating",
    detail="game 1,234 of 12,000",
    done=123_456.5,
    total=1_000_000,
    unit="games",
    counts={"updates": 98_765},
    last="after 120,000 games: mixed:epsilon=0.2 as first 99.9 %, "
    "mixed:epsilon=0.2 as second 98.7 %, heuristic as first 100.0 %, heuristic as second 100.0 %",
    notice="stopping: what was learned is being saved; Ctrl-C again quits at once",
)


def render_lines(status: RunStatus, clock: RateClock, width: int = 80) -> list[str]:
    """Return the lines that the display shows in a terminal of this width."""
    console = Console(width=width, force_terminal=True, color_system=None, record=True, file=None)
    with console.capture() as capture:
        console.print(display(status, clock))
    return capture.get().splitlines()


def test_the_display_fits_into_80_columns():
    clock = RateClock()
    clock.add(0.0, replace(LONG, done=120_000, counts={"updates": 90_000}))
    clock.add(50.0, LONG)
    lines = render_lines(LONG, clock)
    assert len(lines) == 4
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("evaluating ━")
    assert lines[0].rstrip().endswith("123,456 of 1,000,000 games 3 h 31 min left")
    assert lines[1].rstrip() == "game 1,234 of 12,000 · 69 games/s, 175 updates/s"
    assert lines[2].startswith("after 120,000 games: mixed:epsilon=0.2 as first 99.9 %")
    assert lines[2].rstrip().endswith("…")
    assert lines[3].rstrip() == LONG.notice
    assert len(render_lines(replace(LONG, last="", notice=""), clock)) == 2


def test_bar_advances_within_an_iteration_and_with_time():
    status = replace(LONG, total=100, done=0.0)
    clock = RateClock()
    clock.add(0.0, status)
    bars = []
    for second in range(1, 50):
        clock.add(second, replace(status, done=2.0 * second))
        bars.append(clock.completed())
    assert bars == sorted(set(bars))
    assert clock.seconds_left() == pytest.approx(1)
    # The time limit comes before the last game: the bar shows the elapsed share of the time.
    clock = RateClock()
    clock.add(0.0, replace(status, seconds_left=100.0))
    clock.add(25.0, replace(status, done=0.5, seconds_left=75.0))
    assert clock.completed() == pytest.approx(0.25)
    assert clock.seconds_left() == 75


def test_remaining_time_is_estimated_from_the_last_minute():
    clock, status = RateClock(), replace(LONG, total=10_000)
    for second in range(300):  # the first 200 s without progress
        clock.add(second, replace(status, done=max(0.0, 10.0 * (second - 200))))
    assert clock.rates()["games"] == pytest.approx(10)
    assert clock.seconds_left() == pytest.approx((10_000 - 990) / 10)
    assert format_duration(clock.seconds_left()) == "15 min"
    assert format_duration(float("inf")) == "unknown time"


def test_rates_exclude_compilation_and_remaining_times_include_it():
    clock, status = RateClock(), replace(LONG, total=1_000, counts={}, seconds_left=1e9)
    for second in range(200):  # 100 s of compiling in between: longer than the window
        compiling = float(np.clip(second - 50, 0, 100))
        clock.add(second, replace(status, done=2 * (second - compiling)), compiling)
        if second > 0:
            assert clock.rates() == {"games": pytest.approx(2)}
    assert clock.seconds_left() == pytest.approx((1_000 - 2 * 99) / 2)
    # The time limit comes first: the bar shows the share of the time, compilation included.
    clock.add(200, replace(status, done=200, seconds_left=50.0), 100.0)
    assert clock.seconds_left() == 50
    assert clock.completed() == pytest.approx(200 / 250)


def test_rates_are_empty_during_compilation():
    clock, status = RateClock(), replace(LONG, counts={})
    for second in range(100):  # games are played by another thread during compilation
        clock.add(second, replace(status, done=float(second)), second + 1e-6 * (second % 2))
    assert clock.rates() == {}
    assert clock.seconds_left() == float("inf")


def compile_slowly(subject: str, seconds: float) -> None:
    """Announce a compilation as compiled functions do, and sleep for `seconds`."""
    with compilation.compiling():
        compilation.announce(subject, "environment", 12.0 / compilation.machine_factor())
        time.sleep(seconds)


def test_compilation_is_a_phase_in_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(compilation._Progress, "messages", True)
    terminal = StringIO()

    def console(stderr: bool) -> Console:
        return Console(file=terminal, force_terminal=True, width=80, color_system=None)

    monkeypatch.setattr("ludoteca.progress.Console", console)
    now = replace(LONG, last="", notice="")
    with show_progress(lambda: now):
        time.sleep(0.3)
        before = terminal.getvalue()
        compile_slowly("hex 7x7", 0.6)
        during = terminal.getvalue().removeprefix(before)
        time.sleep(0.6)
        after = terminal.getvalue().removeprefix(before + during)
    assert "compiling" not in before
    assert "compiling ━" in during
    assert "hex 7x7 environment, about 12 s" in during
    assert "evaluating ━" in after.splitlines()[-2]
    assert "first time on this machine" not in terminal.getvalue() + capsys.readouterr().err


def test_compilation_is_a_line_in_a_file(monkeypatch, capsys):
    monkeypatch.setattr(compilation._Progress, "messages", True)
    now = replace(LONG, last="", notice="")
    with show_progress(lambda: now):
        for _ in range(2):
            compile_slowly("tron 5x5", 0.6)
    message = "compiling tron 5x5 environment (first time on this machine, about 12 s)\n"
    assert capsys.readouterr().err == message, "once"
    with show_progress(lambda: now, enabled=False):
        compile_slowly("tron 9x9", 0.0)
    assert "compiling tron 9x9" in capsys.readouterr().err, "no display takes its place"
    monkeypatch.setattr(compilation._Progress, "messages", False)
    with show_progress(lambda: now):
        compile_slowly("tron 7x7", 0.6)
    assert capsys.readouterr().err == "", "messages are off"


def test_phases_compile_until_their_first_step_is_over():
    monitor = Monitor()
    for name, total, work in (("playing", 40, "move"), ("learning", 7, "update")):
        monitor.phase = name
        monitor.begin(name, total, work)
        assert phase(monitor) == "compiling"
        monitor.step(name, 1)
        assert phase(monitor) == name
        assert f"{work} 1 of " in detail(monitor)
        monitor.begin(name, total)
        assert phase(monitor) == name  # it is compiled only once
        assert f"{work} 0 of " in detail(monitor)
    monitor.stop("a reason")
    with pytest.raises(Stopped):
        monitor.step("learning", 2)
    monitor.extend(time.monotonic() + 100)
    monitor.step("learning", 3)
    monitor.extend(time.monotonic() - 1)
    with pytest.raises(Stopped):
        monitor.check()


def test_files_get_lines_at_growing_intervals(capsys, monkeypatch):
    monkeypatch.setattr("ludoteca.progress.MIN_INTERVAL", 0.5)
    now = replace(LONG, last="", notice="")
    with show_progress(lambda: now):
        time.sleep(1.2)
        now = replace(now, last="after 5 games: random 50.0 %")
        time.sleep(0.5)
        now = replace(now, notice="stopping")
    lines = capsys.readouterr().err.splitlines()
    # Lines after 0.5 s and perhaps 1 s, with the evaluation, and with the notice.
    assert 3 <= len(lines) <= 4
    assert lines[0].startswith("evaluating: 123,456 of 1,000,000 games, ")
    assert "random 50.0 %" in lines[-2]
    assert lines[-1] == "stopping"
    with show_progress(lambda: now, enabled=False):
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("spec", "kind", "command"),
    [
        ("hex:board_size=5", "dqn", "ludoteca play hex --board-size 5 --agent dqn:runs/demo"),
        ("othello", "az", "ludoteca play othello --agent az:runs/demo"),
        (
            "hex:board_size=5,swap=True",
            "az",
            "ludoteca play hex:board_size=5,swap=True --agent az:runs/demo",
        ),
        (
            "tron:rows=5,columns=5",
            "ac",
            "ludoteca match tron --rows 5 --columns 5 --agents ac:runs/demo random --games 100",
        ),
    ],
)
def test_next_command_is_suggested(spec, kind, command):
    assert next_command(make_game(spec), kind, Path("runs/demo")) == command


def test_time_is_reserved_for_evaluation_and_report():
    limit = TimeLimit(2.0, start=1000.0)  # minutes
    assert limit.deadline(None) == pytest.approx(1000 + 120 - 18)  # 15 %: the duration is unknown
    assert limit.deadline(1.0) == pytest.approx(1000 + 120 - 6)  # 1 s, and 5 s for the report
    assert limit.deadline(500.0) == pytest.approx(1000 + 120 - 24)  # at most 20 %
    assert limit.deadline(500.0) < limit.end < 1120
    assert TimeLimit(None, 0.0).deadline(None) == TimeLimit(None, 0.0).end == float("inf")


@pytest.mark.parametrize(
    ("cost", "seconds", "counts"),
    [
        (0.0, float("inf"), [40]),  # no limit: all at once
        (0.0, 100.0, [4, 16, 40]),
        (30.0, 100.0, [4, 16, 40]),  # the last one takes too long, and is dropped
        (60.0, 100.0, [4]),
    ],
)
def test_evaluations_end_at_the_time_limit(cost, seconds, counts, monkeypatch):
    now, monitor, played = [1000.0], Monitor(), []

    def evaluate(game, agent, opponent, games, seed, record, on_step):
        played.append(games)
        now[0] += cost * (1.5 if games == 40 else 1)
        on_step(games)
        return [{"games": games}], None

    monkeypatch.setattr("ludoteca.train.evaluation.evaluate", evaluate)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    game = make_game("tictactoe")
    result, _ = evaluate_in_time(game, None, "random", 40, 0, monitor, seconds)
    assert played == counts
    assert result[0]["games"] == (16 if cost == 30 else counts[-1])
    monitor.stop("a reason")
    with pytest.raises(Stopped):
        evaluate_in_time(game, None, "random", 40, 0, monitor, seconds)
