"""Runs our commands in one process, optionally as if some packages were not installed.

`python run_commands.py PACKAGES` reads commands as JSON from standard input and prints, for each,
the exit status and what it printed to standard error. PACKAGES are separated by commas.
"""

import contextlib
import importlib.abc
import io
import json
import os
import runpy
import sys
from typing import Any


class Blocker(importlib.abc.MetaPathFinder):
    """Finds nothing, and lets no one else find the packages that are missing."""

    def __init__(self, packages: set[str]):
        self.packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run(command: list[str]) -> tuple[int, str]:
    """Run `MODULE ARGUMENTS` as `python -m` does, or `import STATEMENT`."""
    from ludoteca.extras import explain

    printed, failed = io.StringIO(), io.StringIO()
    status: Any = 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(failed):
        try:
            if command[0] == "import":
                exec(command[1], {"__name__": "__main__"})
            else:
                sys.argv = [command[0], *command[1:]]
                runpy.run_module(command[0], run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            status = stop.code or 0
        except BaseException as error:  # what `sys.excepthook` gets
            part = command[0].partition(".")[2].partition(".")[0]
            line = explain(error, part)
            status = 1 if line is None else 2
            print(f"{type(error).__name__}: {error}" if line is None else line, file=sys.stderr)
    if isinstance(status, str):
        status, message = 1, status
        failed.write(message)
    return status, failed.getvalue()


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocker(set(sys.argv[1].split(","))))
    os.environ["COLUMNS"] = "80"
    print(json.dumps([run(command) for command in json.load(sys.stdin)]))
