"""What all tests share."""

import gc
import os
import signal
from collections.abc import Generator

import pytest

# Networks in tests are small, and tests run side by side: threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What tests read from standard error must not depend on what other tests have compiled.
os.environ.setdefault("LUDOTECA_COMPILE_MESSAGES", "0")
# Compiling makes many small objects that stay: looking for garbage among them is a twentieth of it.
gc.set_threshold(100_000, 50, 50)
# A shell may ignore Ctrl-C in commands in the background, and what tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Interpret the games and agents that a test with the mark `interpreted` makes.

    Processes that the test starts interpret them, too. Most of a short test is compilation. Of the
    marks `interpreted` and `compiled`, the one nearest to the test counts.
    """
    marks = [mark.name for mark in item.iter_markers() if mark.name in ("interpreted", "compiled")]
    if marks[:1] != ["interpreted"]:
        return (yield)
    from ludoteca.envs.interpreted import interpreting

    with pytest.MonkeyPatch.context() as patch, interpreting():
        patch.setenv("LUDOTECA_INTERPRETED", "1")
        return (yield)
