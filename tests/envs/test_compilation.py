"""Compilation is timed, announced once, and does not change Numba's settings."""

import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from numba import config
from numba.core.bytecode import FunctionIdentity

from ludoteca.envs import compilation
from ludoteca.envs.compilation import (
    LOCK,
    Compilation,
    announce_compilation,
    compilation_listener,
    compile_seconds,
)
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.registry import make_game


@factory("search", used_together=("add", "subtract"))
def make_pair(game: Any, constant: int) -> Any:
    """Return two compiled functions, which the cache expects to be used together."""

    @compiled
    def add(x: int) -> int:
        return x + constant

    @compiled
    def subtract(x: int) -> int:
        return x - constant

    return add, subtract


def make_slow_adder(game: Any, constant: int) -> Any:
    """Return one of two functions, which are expected to take 500 s each to compile."""
    for function in (pair := make_pair(game, constant)):
        function._cache.typical = 500.0
    return pair[0]


@factory()
def make_plain_adder(constant: int) -> Any:
    """Return a compiled function that adds a constant; its compilation is short."""

    @compiled
    def add(x: int) -> int:
        return x + constant

    return add


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the cache of compiled code, and the announced and measured compilations."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_announced", set())
    for name, value in {"measured_seconds": 0.0, "typical_seconds": 0.0, "messages": True}.items():
        monkeypatch.setattr(compilation._Progress, name, value)


def test_compilation_is_announced_once_per_game_and_purpose(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game("hex:board_size=5")
    assert make_slow_adder(game, 1)(1) == 2
    out, err = capsys.readouterr()
    assert err == "compiling hex 5x5 search (first time on this machine, about 1000 s)\n"
    assert out == ""
    assert make_slow_adder(game, 2)(1) == 3
    assert make_slow_adder(game, 1)(2.0) == 3.0
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(
        compilation._Progress, "typical_seconds", 0.0
    )  # as if no compilation had been measured on this machine
    make_slow_adder(make_game("hex:board_size=4"), 99)(1)
    assert "hex 4x4 search (first time on this machine, about " in capsys.readouterr().err


def test_loaded_and_short_code_is_not_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game("hex:board_size=5")
    make_plain_adder(3)(1)
    assert capsys.readouterr() == ("", "")

    make_slow_adder(game, 5)(1)
    monkeypatch.setattr(compilation, "_announced", set())
    capsys.readouterr()
    loaded, _ = make_pair.__wrapped__(game, 5)  # type: ignore[attr-defined]
    assert (loaded(1), sum(loaded.stats.cache_hits.values())) == (6, 1)
    assert capsys.readouterr() == ("", "")


def test_messages_can_be_silenced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game("hex:board_size=5")
    announce_compilation(False)
    make_slow_adder(game, 6)(1)
    announce_compilation(True)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())  # as in a worker
    make_slow_adder(game, 7)(1)
    monkeypatch.setattr("sys.stderr", None)  # as in a program without a console
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    make_slow_adder(game, 8)(1)
    assert capsys.readouterr() == ("", "")


def test_a_listener_is_called_when_compilation_begins_and_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    game, heard = make_game("hex:board_size=5"), list[Compilation | None]()
    with compilation_listener(heard.append):
        make_slow_adder(game, 10)(1)
        make_slow_adder(game, 10)(1)
    assert heard == [Compilation("hex 5x5", "search", 1000.0), None]
    make_plain_adder(11)(1)
    assert len(heard) == 2
    assert capsys.readouterr().err == "", "a listener takes the place of messages"


def test_the_expected_time_is_scaled_by_this_machine() -> None:
    game, heard = make_game("hex:board_size=5"), list[Compilation | None]()
    before = compile_seconds()
    make_slow_adder(game, 12)(1)
    took = compile_seconds() - before
    with compilation_listener(heard.append):
        make_slow_adder(game, 13)(1)
    assert heard[0] is not None
    # Both functions of the pair are expected; compile times vary.
    assert heard[0].expected_seconds == pytest.approx(2 * took, rel=0.5)


def test_compile_seconds_count_compilation_only() -> None:
    before = compile_seconds()
    assert compile_seconds() == before
    start = time.perf_counter()
    add = make_plain_adder(14)
    add(1)
    spent = compile_seconds() - before
    assert 0 < spent < time.perf_counter() - start
    add(2)
    assert compile_seconds() == before + spent, "it is compiled"
    # Waiting for the lock is not compilation.
    waited = threading.Event()

    def wait() -> None:
        with LOCK:
            waited.set()

    with LOCK:
        other = threading.Thread(target=wait)
        other.start()
        time.sleep(0.05)
    other.join()
    assert waited.is_set()
    assert compile_seconds() == before + spent


def test_settings_of_numba_are_restored_after_compilation() -> None:
    seen = []

    def note(event: Compilation | None) -> None:
        # The package counts its functions from a large number on, separately from the user's.
        seen.append((config.SLP_VECTORIZE, next(FunctionIdentity._unique_ids) > 2**40))

    before = config.SLP_VECTORIZE
    with compilation_listener(note):
        make_plain_adder(15)(1)
    assert seen[0] == (1, True), "while our code compiles"
    assert config.SLP_VECTORIZE == before == 0
    assert next(FunctionIdentity._unique_ids) < 2**40

    @factory()
    def make_broken() -> Any:
        @kernel
        def wrong(x: Any) -> Any:
            return x.nothing

        @compiled
        def run(x: int) -> Any:
            return wrong(x)

        return run

    with pytest.raises(Exception, match="nothing"):
        make_broken()(1)
    assert before == config.SLP_VECTORIZE, "after errors, too"
    depth = compilation._Progress.depth
    assert depth == 0
