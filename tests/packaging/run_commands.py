"""Runner of commands in one process, optionally as if some packages were not installed.

`python run_commands.py PACKAGES` reads commands as JSON from standard input and prints, for each,
the exit status and its standard error. PACKAGES are the missing ones, separated by commas.
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
    """Import finder that raises an error for missing packages, and finds no module itself."""

    def __init__(self, packages: set[str]):
        self.packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run(command: list[str]) -> tuple[int, str]:
    """Run `MODULE ARGUMENTS` as `python -m` does, or `import STATEMENT`.

    Returns:
        The exit status and the standard error.
    """
    from ludoteca.extras import explain

    stdout, stderr = io.StringIO(), io.StringIO()
    status: Any = 0
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            if command[0] == "import":
                exec(command[1], {"__name__": "__main__"})
            else:
                sys.argv = [command[0], *command[1:]]
                runpy.run_module(command[0], run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            status = stop.code or 0
        except BaseException as error:  # all that `sys.excepthook` handles
            part = command[0].partition(".")[2].partition(".")[0]
            line = explain(error, part)
            status = 1 if line is None else 2
            print(f"{type(error).__name__}: {error}" if line is None else line, file=sys.stderr)
    if isinstance(status, str):
        status, message = 1, status
        stderr.write(message)
    return status, stderr.getvalue()


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocker(set(sys.argv[1].split(","))))
    os.environ["COLUMNS"] = "80"
    print(json.dumps([run(command) for command in json.load(sys.stdin)]))
