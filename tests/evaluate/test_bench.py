"""Tests of the speed benchmark: measures, peers (other libraries) and report files."""

import json
import math
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from ludoteca.evaluate.bench import envs, install_peers, workloads
from ludoteca.evaluate.bench.envs import bench_envs, choose_groups
from ludoteca.evaluate.bench.measures import Comparison, groups
from ludoteca.evaluate.bench.own_workloads import SingleEnvWorkload, random_games
from ludoteca.evaluate.bench.report import Report
from ludoteca.evaluate.bench.rounds import PAIRED_ROUNDS, compare, measure_rounds
from ludoteca.evaluate.bench.sampler import MAX_TRIES, MaskSampler
from ludoteca.evaluate.bench.startup import measure_startup, time_process
from ludoteca.evaluate.bench.workloads import (
    PeerFailedError,
    PeerMissingError,
    PeerWorkload,
    ProcessWorkload,
    Sample,
)

PEER_SCRIPTS = sorted(workloads.SERVE_SCRIPT.parent.glob("*.py"))


# A measure against a peer, one without a peer, one of Python loops, and one of threads.
SOME_MEASURES = ("connect4", "deterministic_geese", "python_loops", "threads_tron")


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SOME_MEASURES, id="some"),
        pytest.param(None, id="all"),
    ],
)
@pytest.mark.slow
def test_every_measure_but_startup_runs_without_peers(tmp_path, monkeypatch, capsys, names):
    monkeypatch.setattr("ludoteca.evaluate.bench.measures.NUM_ENVS", 32)
    monkeypatch.setattr("ludoteca.evaluate.bench.measures.MANY_ENVS", 64)
    names = names or tuple(groups())  # after the patches: the names of some contain NUM_ENVS
    file = tmp_path / "new" / "bench.json"
    report = bench_envs(False, file, seconds=0.05, only=names)
    assert {row.group for row in report.rows} == set(names)
    assert all(row.ours is not None and row.ours > 0 for row in report.rows)
    threads = [row for row in report.rows if row.group.startswith("threads")]
    assert threads
    # Two threads must be 1.7 times as fast as one.
    assert all(row.verdict in ("pass", "miss") and row.floor == 1.7 for row in threads)
    without_peer = [row for row in report.rows if not row.peer_name]
    assert [row.group for row in without_peer] == ["deterministic_geese"]
    assert all(row.verdict in ("pass", "miss") and row.ratio is None for row in without_peer)
    engine = [row for row in report.rows if row.group.startswith("engine")]
    assert all(row.verdict == "information" and row.ratio is not None for row in engine)
    others = [row for row in report.rows if row not in threads + without_peer + engine]
    assert {row.verdict for row in others} == {"peers were not requested"}
    printed = capsys.readouterr().out
    assert "environment speed" in printed
    assert f"all numbers: {file}" in printed

    read = json.loads(file.read_text())
    assert set(read) == {"title", "rows", "samples", "startup", "about", "versions"}
    assert {"command", "date", "cpu", "cores", "rounds", "seconds_per_side"} <= set(read["about"])
    assert {"python", "numba", "ludoteca"} <= set(read["versions"])
    assert set(read["samples"]) == set(names)
    rounds = read["samples"]["connect4"]["vector"]
    assert len(rounds) == envs.ROUNDS
    assert all(
        0 < sample["inside"] < sample["seconds"] and sample["steps"] > 0 for sample in rounds
    )
    assert [path.name for path in file.parent.iterdir()] == ["bench.json"]  # no temporary file


@pytest.mark.slow
def test_a_fresh_process_is_timed_with_a_cold_and_a_warm_cache():
    startup = measure_startup("tictactoe", warm_runs=1)
    assert set(startup) == {"single", "vector"}
    for times in startup.values():
        assert times["cold"][0] > times["warm"][0] > 0


def test_a_failing_fresh_process_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="no_such_module"):
        time_process("import no_such_module", str(tmp_path))


def test_groups_are_chosen_by_name_or_prefix():
    assert choose_groups(("hex", "startup_tron")) == ["hex", "startup_tron"]
    assert choose_groups(("threads",)) == [n for n in groups() if n.startswith("threads")]
    with pytest.raises(ValueError, match="unknown measure 'chess'; there are othello, hex"):
        choose_groups(("chess",))


def test_time_must_be_positive():
    with pytest.raises(ValueError, match="seconds must be positive, got 0"):
        bench_envs(False, None, seconds=0)


@pytest.mark.parametrize("script", PEER_SCRIPTS, ids=lambda path: path.stem)
def test_peer_scripts_compile_and_do_not_import_ludoteca(script):
    text = script.read_text()
    compile(text, str(script), "exec")
    assert "ludoteca" not in text


@pytest.mark.parametrize(
    ("peer", "module", "options", "version"),
    [
        ("openspiel", "openspiel_loop", {"game": "othello", "sample_actions": True}, "open_spiel"),
        (
            "openspiel",
            "openspiel_loop",
            {"game": "connect_four", "sample_actions": False},
            "open_spiel",
        ),
        ("pettingzoo", "pettingzoo_aec", {"games": [[0, 1, 0, 1, 0, 1, 0]]}, "pettingzoo"),
        ("kaggle", "kaggle_geese", {}, "kaggle-environments"),
        (
            "pgx",
            "pgx_vector",
            {
                "game": "tic_tac_toe",
                "num_envs": 2,
                "cores": 1,
                "sampler": "count",
                "steps_per_call": 2,
            },
            "pgx",
        ),
    ],
)
def test_installed_peers_play(peer, module, options, version):
    try:
        workload = PeerWorkload(peer, module, **options)
    except PeerMissingError as error:
        pytest.skip(str(error))
    try:
        first, second = workload(0.02), workload(0.02)  # seconds
    finally:
        workload.close()
    assert version in workload.versions
    assert first.steps > 0
    assert second.seconds >= 0.02


@pytest.mark.slow
def test_a_missing_peer_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDOTECA_PEERS", str(tmp_path))
    missing = install_peers.Peer(("no_such_module",), ())
    monkeypatch.setitem(install_peers.PEERS, "kaggle", missing)
    report = bench_envs(True, None, seconds=0.01, only=("hungry_geese",))
    assert [row.verdict for row in report.rows] == [
        "kaggle is not installed: `make peers` installs it"
    ]
    assert report.rows[0].ours is not None


def run_install_peers(monkeypatch, *arguments: str) -> int:
    """Run the installer with command-line arguments; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["install_peers", *arguments])
    return install_peers.main()


def test_peer_installer_has_help(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("LUDOTECA_PEERS", str(tmp_path / "peers"))
    with pytest.raises(SystemExit) as end:
        run_install_peers(monkeypatch, "--help")
    assert not end.value.code
    text = " ".join(capsys.readouterr().out.split())
    assert "usage: python -m ludoteca.evaluate.bench.install_peers" in text
    assert "LUDOTECA_PEERS" in text
    assert all(name in text for name in install_peers.PEERS)
    assert not (tmp_path / "peers").exists()


def test_peers_are_installed_by_name_and_errors_are_messages(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("LUDOTECA_PEERS", str(tmp_path))
    assert run_install_peers(monkeypatch, "pgx", "kagle") == 2
    assert "unknown peer 'kagle' (did you mean 'kaggle'?)" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "none was installed"
    monkeypatch.setitem(install_peers.PEERS, "pgx", install_peers.Peer(("sys",), ()))
    assert run_install_peers(monkeypatch, "pgx") == 0
    assert capsys.readouterr().out == f"pgx: {sys.executable}\n"
    broken = install_peers.Peer(("no_such_module",), (("--no-index", "no-such-package"),))
    monkeypatch.setitem(install_peers.PEERS, "pgx", broken)
    monkeypatch.setattr(install_peers, "_interpreter_path", lambda folder: Path(sys.executable))

    def fail(command, check):
        raise subprocess.CalledProcessError(7, command)

    monkeypatch.setattr(subprocess, "run", fail)
    assert run_install_peers(monkeypatch, "pgx") == 2
    error = capsys.readouterr().err
    assert "pgx cannot be installed: " in error
    assert error.endswith("ended with status 7\n")


def test_failing_peer_is_reported_with_its_message(monkeypatch):
    monkeypatch.setattr(workloads, "find_interpreter", lambda peer: Path(sys.executable))
    with pytest.raises(PeerFailedError, match=r"(?s)pgx ended with code 1 .*no_such_script"):
        PeerWorkload("pgx", "no_such_script")


def test_peer_that_ends_between_rounds_is_an_error():
    workload = ProcessWorkload("pgx", ["sh", "-c", "echo '{}'; echo no room >&2; exit 3"])
    workload._process.wait(5)
    with pytest.raises(PeerFailedError, match="pgx ended with code 3 and wrote '': no room"):
        workload.measure(1.0)
    assert workload._errors.closed


def test_interrupt_while_a_peer_starts_leaves_no_thread_and_no_process(monkeypatch):
    started = []

    class RecordedProcess(workloads.ChildProcess):
        """Child process that is listed in `started`."""

        def __init__(self, command, **options):
            super().__init__(command, **options)
            started.append(self)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    monkeypatch.setattr(workloads, "ChildProcess", RecordedProcess)
    before = set(threading.enumerate())
    handler = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            ProcessWorkload("pgx", ["sleep", "60"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    for thread in set(threading.enumerate()) - before:
        assert thread.daemon
        thread.join(1)
        assert not thread.is_alive()
    assert [process.poll() is None for process in started] == [False]


def test_late_failure_of_a_peer_does_not_stop_the_others():
    class ConstantWorkload:
        """Workload that returns the same sample each time, or fails."""

        def __init__(self, failing: bool):
            self.failing, self.closed = failing, False

        def __call__(self, seconds: float) -> Sample:
            if self.failing:
                raise PeerFailedError("gone")
            return Sample(10, 2.0, 1.0)

        def close(self) -> None:
            self.closed = True

    ours, peer = ConstantWorkload(False), ConstantWorkload(True)
    skip_reasons: dict[str, str] = {}
    samples = measure_rounds({"ours": lambda: ours, "peer": lambda: peer}, skip_reasons, 0.01, {})
    assert skip_reasons == {"peer": "gone"}
    assert samples == {"ours": [Sample(10, 2.0, 1.0)] * envs.ROUNDS}
    assert ours.closed


def test_a_ratio_below_the_floor_is_a_miss():
    samples = {
        "fast": [Sample(30, 10.0, 5.0), Sample(10, 10.0, 5.0), Sample(20, 10.0, 5.0)],
        "slow": [Sample(10, 10.0)],
    }

    def row(floor, inside=(False, False)):  # `inside`: divide by the time within `step`
        return compare("g", Comparison("m", "fast", "slow", floor, ("", ""), inside), samples, {})

    assert (row(2).ratio, row(2).verdict) == (2.0, "pass")
    assert row(2.1).verdict == "miss"
    assert row(None).verdict == "information"
    assert row(4, (True, False)).verdict == "pass"  # 20 steps in 5 s inside, against 1 a second
    assert row(1).noise == 1.0  # (3 - 1) / 2, of 1, 2 and 3 steps a second


def test_ratio_of_many_rounds_is_that_of_the_rounds_with_an_interval():
    def row(rounds):
        # The machine is 100 times slower in odd rounds; the ratio is 2 or 8 by turns.
        rates = [((4, 2), (8, 1))[k % 2] for k in range(rounds)]
        scale = [(1, 0.01)[k % 2] for k in range(rounds)]
        samples = {
            name: [Sample(1, 1 / (rate[side] * x)) for rate, x in zip(rates, scale, strict=True)]
            for side, name in enumerate(("fast", "slow"))
        }
        return compare("g", Comparison("m", "fast", "slow", None, ("", "")), samples, {})

    few, many = row(PAIRED_ROUNDS - 1), row(PAIRED_ROUNDS)
    assert few.interval is None
    assert few.ratio == pytest.approx(2)  # of the medians, which are of even rounds
    assert many.ratio == pytest.approx(4)
    low, high = many.interval
    # Logarithms log 4 +- log 2: standard deviation log 2 * sqrt(10 / 9), t(0.975, 9) = 2.26216.
    assert math.log(high / low) == pytest.approx(2 * 2.26216 * math.log(2) / 3, abs=1e-4)
    assert low * high == pytest.approx(16)
    assert f"4 x ({low:.3g} to {high:.3g})" in str(Report(rows=[many]).table().rows)


def test_random_actions_are_legal_and_uniform():
    # The sampler tries random actions first, and counts legal ones if MAX_TRIES are illegal: row 0
    # is mostly decided by counting, row 1 by the tries.
    masks = np.zeros((2, 200), np.int8)
    masks[0, [3, 199]] = 1
    masks[1, 10:] = 1
    masks[1, ::2] = 0
    sampler = MaskSampler(seed=1)
    drawn = np.array([sampler(masks) for _ in range(4000)])
    assert (1 - 2 / 200) ** MAX_TRIES > 0.8  # tries of row 0 mostly fail
    assert set(drawn[:, 0]) == {3, 199}
    assert abs((drawn[:, 0] == 3).mean() - 0.5) < 0.04  # 5 standard errors
    assert set(drawn[:, 1]) == set(range(11, 200, 2))
    counts = np.unique(drawn[:, 1], return_counts=True)[1]
    expected = len(drawn) / len(counts)
    # The mean of chi-squared is its degrees of freedom, 94; 160 is beyond 4 standard deviations.
    assert ((counts - expected) ** 2 / expected).sum() < 160


def test_rows_without_legal_actions_get_action_0():
    assert MaskSampler()(np.zeros((2, 3, 4), np.int8)).tolist() == [[0, 0, 0]] * 2


def test_recorded_games_end_by_the_rules_of_connect_four():
    for actions in random_games("connect4", 5):
        assert 7 <= len(actions) <= 42
        assert max(np.bincount(actions)) <= 6


@pytest.mark.slow
def test_the_single_environment_plays_the_recorded_games_again():
    workload = SingleEnvWorkload(num_games=5)
    final_rewards = []
    for _ in range(2):
        workload._env.reset(seed=0)
        for action in workload._actions:
            _, reward, terminated, _, info = workload._env.step(action)
            assert not info["illegal_action"]
            if terminated:
                final_rewards.append(reward)
                workload._env.reset()
    assert len(final_rewards) == 10
    assert final_rewards[:5] == final_rewards[5:]
    workload.close()


def test_reports_are_written_atomically(tmp_path):
    file = tmp_path / "bench.json"
    file.write_text("before")
    report = Report(about={"not JSON": object()})
    with pytest.raises(TypeError):
        report.write(file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]
