"""Settings, hooks and fixtures of all tests."""

import gc
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest

# Networks in tests are small, and tests run in parallel: threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What tests read from standard error must not depend on what other tests have compiled.
os.environ.setdefault("LUDOTECA_COMPILE_MESSAGES", "0")
# Compilation makes many small objects that stay; searching them for garbage takes 5% of its time.
gc.set_threshold(100_000, 50, 50)
# A shell may start background commands with SIGINT ignored; child processes would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Whether tests with the mark `interpreted` are compiled, too, as in `make test-compiled`.
COMPILED = os.environ.get("LUDOTECA_TEST_COMPILED", "0") not in ("", "0")


def runs_interpreted(item: pytest.Item) -> bool:
    """Return whether a test interprets games and agents.

    Of the marks `interpreted`, `compiled` and `slow`, the one nearest to the test counts.
    """
    names = (mark.name for mark in item.iter_markers())
    nearest = next((name for name in names if name in ("interpreted", "compiled", "slow")), "")
    return nearest == "interpreted" and not COMPILED


def pytest_collection_finish() -> None:
    """Exclude the objects made by test collection, which stay, from later garbage collections."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Interpret the games and agents of tests marked `interpreted`, in child processes, too.

    A test that plays little would spend most of its time on compilation.
    """
    if not runs_interpreted(item):
        return (yield)
    from ludoteca.envs.interpreted import interpreting

    with pytest.MonkeyPatch.context() as patch, interpreting():
        patch.setenv("LUDOTECA_INTERPRETED", "1")
        return (yield)


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Generator[Any, None, None]:
    """Return pygame with a dummy display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    from ludoteca.envs.render.window import _pygame

    module = _pygame()
    yield module
    module.display.quit()
