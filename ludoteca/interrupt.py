"""Ctrl-C in one of this package's programs: one line and exit status 130, no traceback.

Commands handle an interruption of their own work. This module handles the rest: importing and
compiling, which take seconds on some machines, and which no command can guard. Importing it is
enough; so it comes before all imports that take long, and imports nothing of this package itself.
"""

import os
import sys
from pathlib import Path
from types import TracebackType

INTERRUPTED = 130  # exit status of a program that SIGINT ended, as shells count


def guard_programs() -> None:
    """Report an interruption in one line if this process runs one of this package's programs.

    Programs that import this package keep their own way. With LUDOTECA_DEBUG=1, interruptions come
    with tracebacks.
    """
    if is_our_program(sys.argv, sys.orig_argv) and not os.environ.get("LUDOTECA_DEBUG"):
        sys.excepthook = _report


def is_our_program(argv: list[str], original: list[str]) -> bool:
    """Return whether a process runs the script `ludoteca` or `python -m ludoteca...`.

    Args:
        argv: `sys.argv` while the package is imported: with `-m`, its first entry is still `"-m"`.
        original: `sys.orig_argv`: everything after the name of the interpreter.
    """
    if argv[:1] == ["-m"] and len(original) >= len(argv):
        module = original[-len(argv)].rpartition("-m")[2]  # `-m module` or `-mmodule`
        return module == "ludoteca" or module.startswith("ludoteca.")
    return bool(argv) and Path(argv[0]).stem in ("ludoteca", "ludoteca-script")


def _report(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    print("interrupted", file=sys.stderr, flush=True)
    raise SystemExit(INTERRUPTED)


guard_programs()
