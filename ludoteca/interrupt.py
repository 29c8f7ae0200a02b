"""Handling of Ctrl-C in this package's programs: one line, exit status 130, no traceback.

Commands handle interruptions of their own work. This module handles those during imports, which
take seconds on some machines. Importing it installs the handler; it is imported before all slow
modules, and imports no other module of this package.
"""

import os
import sys
from pathlib import Path
from types import TracebackType

INTERRUPTED = 130  # exit status of a program ended by SIGINT, as in shells


def guard_programs() -> None:
    """Install an exception hook that reports interruptions of this package's programs in one line.

    Other programs that import this package keep their own hook. With LUDOTECA_DEBUG=1,
    interruptions are shown with tracebacks.
    """
    if is_our_program(sys.argv, sys.orig_argv) and not os.environ.get("LUDOTECA_DEBUG"):
        sys.excepthook = _report


def is_our_program(argv: list[str], original: list[str]) -> bool:
    """Return whether a process runs the script `ludoteca` or `python -m ludoteca...`.

    Args:
        argv: `sys.argv` during the import of the package: with `-m`, its first entry is `"-m"`.
        original: `sys.orig_argv`, which begins with the interpreter.
    """
    if argv[:1] == ["-m"] and len(original) >= len(argv):
        module = original[-len(argv)].rpartition("-m")[2]  # `-m module` or `-mmodule`
        return module == "ludoteca" or module.startswith("ludoteca.")
    # On Windows, the installed program is ludoteca.exe, which may start ludoteca-script.py.
    return bool(argv) and Path(argv[0]).stem in ("ludoteca", "ludoteca-script")


def _report(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Exception hook, see `sys.excepthook`."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    print("interrupted", file=sys.stderr, flush=True)
    raise SystemExit(INTERRUPTED)


guard_programs()
