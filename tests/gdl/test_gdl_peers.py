"""Tests of the comparison of rule sheets with Sancho and GGP-Base."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import run

from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.bench import gdl_peers
from ludoteca.evaluate.bench.gdl_comparison import (
    HEADINGS,
    bench_gdl_peers,
    markdown_page,
    summary,
    table_row,
)
from ludoteca.evaluate.bench.gdl_peers import (
    BATCH,
    PROVER,
    SANCHO,
    SINGLE,
    GameSample,
    SheetSpeed,
    find_java,
    measure_sheet,
)
from ludoteca.evaluate.bench.rounds import ROUNDS

BUILT = all((path / f"{name}.class").exists() for name, path in gdl_peers.CLASSES.items())


def example(name: str, batch: int) -> SheetSpeed:
    """Return the rates of a sheet: a batch, Sancho at 1,000 steps/s, GGP-Base at 10 steps/s."""
    samples = {
        BATCH: [GameSample(batch * k, k, 20, 200, [1000, 500]) for k in (1, 2, 3)],
        SANCHO: [GameSample(rate, 1.0, 10, 110, [300, 700]) for rate in (1, 1000, 9999)],
        PROVER: [GameSample(10, 1.0, 1, 9, [100, 0])],
    }
    return SheetSpeed(name, 12_345, 1.5, samples, {SANCHO: {"prepare_seconds": 2.5}}, {})


def test_rates_are_medians_over_rounds():
    speed = example("a", 25_000)
    assert speed.rate(SANCHO) == 1000
    assert speed.rate(SINGLE) is None
    assert speed.ratio(BATCH, SANCHO) == 25
    assert (speed.mean_plies(BATCH), speed.mean_plies(PROVER)) == (10, None)  # one game: no mean
    assert speed.mean_goals(SANCHO) == [30, 70]
    cells = dict(zip(HEADINGS, table_row(speed), strict=True))
    assert cells["batch / Sancho"] == "25.0"
    assert cells["batch / GGP-Base"] == "2,500"
    assert (cells["gates"], cells["Sancho loads, s"]) == ("12,345", "2.50")


def test_sheets_below_the_target_and_failures_are_named():
    failed = SheetSpeed(
        "c", 9, 0.1, {BATCH: [GameSample(9, 1, 9, 9, [9])]}, {}, {SANCHO: "no\nroom"}
    )
    text = summary([example("a", 10_000), example("b", 9_000), failed])
    assert "at least 10 times Sancho's steps per second on 1 of 2 sheets, but not on b." in text
    assert text.endswith("No result: no room.")
    about = {"command": "x", "date": "2026-11-26T10", "cpu": "C", "java_options": ""}
    loads = {"load_average_at_start": [1.0], "load_average_at_end": [2.0]}
    content = {"about": about | loads, "versions": {"java": "openjdk 17"}}
    assert "| c | 9 |  |" in markdown_page([failed], content)


@pytest.mark.parametrize(
    ("program", "message"),
    [("java-that-does-not-exist", "there is no program java"), ("sh", "has no SanchoSpeed.class")],
)
def test_missing_programs_are_explained(program, message, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gdl_peers, "JAVA", (program,))
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "bench", "gdl", "--peers")
    assert status == 2
    assert message in err
    assert "`make gdl-peers` compiles Sancho and GGP-Base" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--traces", "."], "bench gdl --peers takes no --traces"),
        (["--only", "nonsense"], "has no sheet nonsense"),
        (["--seconds", "0"], "seconds must be positive, got 0"),
        (["--sheets", "nowhere"], "there is no file or folder nowhere"),
    ],
)
def test_invalid_options_give_clear_errors(capsys, options, message):
    status, _, err = run(capsys, "bench", "gdl", "--peers", *options)
    assert status == 2
    assert message in err


ROUND = GameSample(10, 1.0, 1, 10, [100, 0])


def use_scripts(monkeypatch, sancho, prover):
    """Replace Sancho and GGP-Base by shell scripts; ours by a game and constant workloads."""
    scripts = {"SanchoSpeed": ["sh", "-c", sancho], "ProverSpeed": ["sh", "-c", prover]}
    monkeypatch.setattr(gdl_peers, "find_java", lambda: scripts)
    monkeypatch.setattr(gdl_peers, "compile_sheet", lambda path, use_cache: None)
    monkeypatch.setattr(gdl_peers, "gdl", lambda path: None)
    monkeypatch.setattr(gdl_peers, "rules", lambda game: SimpleNamespace(num_gates=7))
    for name in ("BatchWorkload", "SingleWorkload"):
        monkeypatch.setattr(gdl_peers, name, lambda game: lambda seconds: ROUND)


def test_peer_that_ends_in_a_round_does_not_stop_the_others(monkeypatch):
    answer = f"echo '{json.dumps(ROUND._asdict())}'"
    use_scripts(
        monkeypatch,
        sancho=f"echo '{{}}'; read line; {answer}; read line; echo no room >&2; exit 4",
        prover=f"echo '{{}}'; while read line; do {answer}; done",
    )
    speed = measure_sheet("tictactoe", find_sheet("tictactoe"), 1.0)
    reason = "Sancho on tictactoe ended with code 4 and wrote '': no room"
    assert speed.failures == {SANCHO: reason}
    assert speed.samples == {name: [ROUND] * ROUNDS for name in (BATCH, SINGLE, PROVER)}


def test_sheet_above_the_limits_does_not_stop_the_others(monkeypatch, tmp_path, capsys):
    def compile_sheet(path, use_cache):
        raise GDLLimitError(f"{path.stem} has too many gates")

    use_scripts(monkeypatch, "", "")
    monkeypatch.setattr(gdl_peers, "compile_sheet", compile_sheet)
    monkeypatch.setattr("ludoteca.evaluate.bench.gdl_comparison.find_java", dict)
    monkeypatch.setattr("ludoteca.evaluate.bench.gdl_comparison.java_version", str)
    page = tmp_path / "page.md"
    bench_gdl_peers(page=page, only=("hex", "tictactoe"))
    assert "tictactoe: batch ; single ;" in capsys.readouterr().out
    text = page.read_text()
    assert "| hex |  |" in text
    assert "No result: Ludoteca on tictactoe: tictactoe has too many gates." in text


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.skipif(not BUILT, reason="`make gdl-peers` has not run")
def test_all_implementations_play_the_same_game(monkeypatch):
    monkeypatch.setattr(gdl_peers, "WARM_UP_SECONDS", 0.1)
    monkeypatch.chdir(Path(__file__).parents[2])
    assert set(find_java()) == {"SanchoSpeed", "ProverSpeed"}
    speed = measure_sheet("tictactoe", find_sheet("tictactoe"), 1.0)
    assert speed.failures == {}
    for workload in (BATCH, SINGLE, SANCHO, PROVER):
        assert speed.mean_plies(workload) == pytest.approx(7.63, abs=0.5)  # of random games
        x, o = speed.mean_goals(workload)
        assert x == pytest.approx(64.8, abs=10)
        assert x + o == pytest.approx(100, abs=0.1)
