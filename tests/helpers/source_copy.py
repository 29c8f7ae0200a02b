"""Copy of `ludoteca.envs` with a separate cache of compiled code, which new processes import."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludoteca.envs import jit

SOURCES = Path(jit.__file__).parent

# Program that plays random games, and prints the results and whether the machine code came from the
# cache.
PLAY = """
import json
import numpy as np
from ludoteca.envs.engine.playouts import make_playouts
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game

game = make_game({spec!r})
playouts, totals = make_playouts(game), np.zeros((1, 2))
plies = playouts(batch_of_one(game), 1000, np.array([1], np.uint64), totals)
hit = sum(playouts.stats.cache_hits.values()) == 1
print(json.dumps({{"plies": plies, "wins": abs(totals[0]).max(), "hit": hit}}))
"""


@dataclass(frozen=True)
class SourceCopy:
    """Copy of the rules as the package `ludoteca.envs`, with its own cache."""

    folder: Path

    def start(self, code: str, **changes: str | None) -> "subprocess.Popen[str]":
        """Run code in a fresh process, with changes to its environment variables."""
        environment: dict[str, Any] = os.environ | {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",  # two edits within a second would look the same
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
        }
        environment = {k: v for k, v in (environment | changes).items() if v is not None}
        command = [sys.executable, "-c", code]
        return subprocess.Popen(
            command,
            env=environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, **changes: str | None) -> Any:
        """Run code in a fresh process and return its output, read as JSON."""
        return finish(self.start(code, **changes))

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text that occurs once in a file of `ludoteca/envs`."""
        path = self.folder / "ludoteca" / "envs" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} should hold {old!r} once"
        path.write_text(text.replace(old, new))


def finish(process: "subprocess.Popen[str]") -> Any:
    """Return the JSON output of a process; copy its warnings to standard error."""
    try:
        output, errors = process.communicate(timeout=100)
        print(errors, file=sys.stderr, end="")
    finally:
        process.kill()  # if it hangs; otherwise it has ended
    assert process.returncode == 0
    return json.loads(output)


def copy_sources(folder: Path) -> SourceCopy:
    """Copy the sources, without compiled code."""
    package = folder / "ludoteca"
    ignored = shutil.ignore_patterns("__pycache__", "render")
    shutil.copytree(SOURCES, package / "envs", ignore=ignored)
    for place in (package, package / "envs"):
        (place / "__init__.py").write_text("")  # the environments are not needed, and slow to load
    return SourceCopy(folder)
