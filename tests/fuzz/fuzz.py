"""Fuzz the package with broken inputs: `python tests/fuzz/fuzz.py --count 100000`.

A target is a function of the package that reads inputs; `fuzz_targets.py` lists them. It must
accept each input, or refuse it with a message and one of the errors that the target declares, in
time and without gigabytes of memory. Anything else is a finding, which is printed with the number
that generates its input again (`--only replays --first NUMBER --count 1 --exactly`). The exit
status is 1 if there are findings.
"""

import argparse
import faulthandler
import logging
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

MAX_MESSAGE = 9000  # characters of a message
TARGET_MEMORY = 3 << 30  # bytes; an input for which a target needs more is a finding
PROCESS_MEMORY = 10 << 30  # bytes; a hard limit, so that no input exhausts the machine


class HangError(BaseException):
    """An input took too long."""


def main(arguments: list[str] | None = None) -> int:
    """Fuzz all targets, or some; return the exit status."""
    from fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--count", type=int, default=100_000, help="number of inputs of all targets together"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--exactly", action="store_true", help="--count is per target")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit per input")
    parser.add_argument("--findings", type=int, default=5, help="findings shown per target")
    options = parser.parse_args(arguments)
    faulthandler.enable()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = PROCESS_MEMORY if hard < 0 else min(PROCESS_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    warnings.simplefilter("ignore")
    logging.disable()
    total_weight = sum(TARGETS[name][2] for name in options.only)
    total, found = 0, 0
    print(
        f"{'target':20} {'inputs':>8} {'accepted':>8} {'refused':>8} {'1/CPU s':>8} {'findings':>8}"
    )
    start = time.perf_counter()
    for name in options.only:
        count = max(1, round(options.count * TARGETS[name][2] / total_weight))
        count = options.count if options.exactly else count
        total, found = total + count, found + fuzz_target(name, count, options)
    print(f"{total:,} inputs, {found} findings, {time.perf_counter() - start:.0f} s")
    return 1 if found else 0


def fuzz_target(name: str, count: int, options: Any) -> int:
    """Fuzz a target, print a line about it, and return the number of findings."""
    from fuzz_inputs import INPUT
    from fuzz_targets import TARGETS

    make, allowed, _ = TARGETS[name]
    outcomes: Counter[str] = Counter()
    shown = 0
    folder = Path.cwd()
    ram_disk = Path("/dev/shm")  # faster than the disk: many targets write files
    with tempfile.TemporaryDirectory(dir=ram_disk if ram_disk.is_dir() else None) as scratch:
        attempt = make(Path(scratch))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        for number in range(options.first, options.first + count):
            rng = random.Random(f"{name}/{options.seed}/{number}")
            problem = try_input(attempt, rng, allowed, options.seconds)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB
            if peak - before > TARGET_MEMORY >> 10:
                problem = f"took {(peak - before) >> 10} MiB\n"
                before = peak
            os.chdir(folder)
            outcome = "accepted" if problem == "" else "refused" if problem is None else "found"
            outcomes[outcome] += 1
            if problem:
                shown += 1
                if shown <= options.findings:
                    print(f"{name} --seed {options.seed} --first {number}: {INPUT[0]!r:.600}")
                    print(f"  {problem}", flush=True)
    seconds = time.process_time() - start
    print(
        f"{name:20} {count:8} {outcomes['accepted']:8} {outcomes['refused']:8} "
        f"{count / max(seconds, 1e-9):8.0f} {outcomes['found']:8}",
        flush=True,
    )
    return outcomes["found"]


def try_input(
    attempt: Any, rng: random.Random, allowed: tuple[Any, ...], seconds: float
) -> str | None:
    """Try one input; return "" if it was accepted, None if it was refused, or what is wrong."""
    signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        attempt(rng)
    except allowed as error:
        message = str(error)
        if not message.strip() or len(message) > MAX_MESSAGE:
            return f"{type(error).__name__} with a message of {len(message)} characters\n"
        return None
    except HangError:
        return f"took more than {seconds:g} s:\n{traceback.format_exc(limit=-4)}"
    except (Exception, SystemExit):
        return traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def hang(number: int, frame: Any) -> None:
    """End an input that takes too long."""
    raise HangError


if __name__ == "__main__":
    sys.exit(main())
