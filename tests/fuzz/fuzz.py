"""Attack the package with inputs that are broken: `python tests/fuzz/fuzz.py --count 100000`.

Each input must be taken, or refused with one of the errors that the target names and a message, in
time and without gigabytes of memory. Anything else is a finding: it is shown with the number that
makes it again (`--only replays --first NUMBER --count 1 --exactly`). The exit status is 1 if there
are findings.
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

LONGEST = 9000  # characters of a message
MEMORY = 3 << 30  # bytes that a target may take
LIMIT = 10 << 30  # bytes that the process may take: an input must not take down the machine


class HangError(BaseException):
    """An input took too long."""


def main(arguments: list[str] | None = None) -> int:
    """Attack all targets, or some; return the exit status."""
    from fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--count", type=int, default=100_000, help="inputs, of all targets together"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--exactly", action="store_true", help="so many inputs of each target")
    parser.add_argument("--seconds", type=float, default=60.0, help="that an input may take")
    parser.add_argument("--findings", type=int, default=5, help="shown of each target")
    options = parser.parse_args(arguments)
    faulthandler.enable()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT if hard < 0 else min(LIMIT, hard), hard))
    warnings.simplefilter("ignore")
    logging.disable()
    share = sum(TARGETS[name][2] for name in options.only)
    total, found = 0, 0
    print(f"{'target':20} {'inputs':>8} {'taken':>8} {'refused':>8} {'1/CPU s':>8} {'findings':>8}")
    begun = time.perf_counter()
    for name in options.only:
        count = max(1, round(options.count * TARGETS[name][2] / share))
        findings = attack(name, options.count if options.exactly else count, options)
        total, found = total + (options.count if options.exactly else count), found + findings
    print(f"{total:,} inputs, {found} findings, {time.perf_counter() - begun:.0f} s")
    return 1 if found else 0


def attack(name: str, count: int, options: Any) -> int:
    """Attack a target, print a line about it, and return how many findings there are."""
    from fuzz_targets import INPUT, TARGETS

    make, allowed, _ = TARGETS[name]
    outcomes: Counter[str] = Counter()
    shown = 0
    folder = Path.cwd()
    memory = Path("/dev/shm")  # files are written often
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        attempt = make(Path(place))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        for number in range(options.first, options.first + count):
            rng = random.Random(f"{name}/{options.seed}/{number}")
            problem = one(attempt, rng, allowed, options.seconds)
            taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if taken - before > MEMORY >> 10:
                problem = f"took {(taken - before) >> 10} MiB\n"
                before = taken
            os.chdir(folder)
            outcomes["taken" if problem == "" else "refused" if problem is None else "found"] += 1
            if problem:
                shown += 1
                if shown <= options.findings:
                    print(f"{name} --seed {options.seed} --first {number}: {INPUT[0]!r:.600}")
                    print(f"  {problem}", flush=True)
    seconds = time.process_time() - begun
    print(
        f"{name:20} {count:8} {outcomes['taken']:8} {outcomes['refused']:8} "
        f"{count / max(seconds, 1e-9):8.0f} {outcomes['found']:8}",
        flush=True,
    )
    return outcomes["found"]


def one(attempt: Any, rng: random.Random, allowed: tuple[Any, ...], seconds: float) -> str | None:
    """Try one input; return "" if it was taken, None if it was refused, or what is wrong."""
    signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        attempt(rng)
    except allowed as error:
        message = str(error)
        if not message.strip() or len(message) > LONGEST:
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
