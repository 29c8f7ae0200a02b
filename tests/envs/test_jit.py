"""Compiled code is cached on disk, and never stale: tried on a temporary copy of the sources."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.envs import jit
from ludoteca.envs.jit import compiled, source_digest

SOURCES = Path(jit.__file__).parent

# Plays random games, and tells the result and whether the machine code came from the cache.
PLAY = """
import json
import numpy as np
from ludoteca.envs.batch import make_playouts, root
from ludoteca.envs.registry import make_game

game = make_game({spec!r})
playouts, totals = make_playouts(game), np.zeros((1, 2))
plies = playouts(root(game), 1000, np.array([1], np.uint64), totals)
hit = sum(playouts.stats.cache_hits.values()) == 1
print(json.dumps({{"plies": plies, "wins": abs(totals[0]).max(), "hit": hit}}))
"""


@dataclass(frozen=True)
class Tree:
    """A copy of the rules as the package `ludoteca.envs`, with a cache of its own."""

    folder: Path

    def start(self, code: str) -> "subprocess.Popen[str]":
        environment = os.environ | {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",  # two edits within a second would look the same
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
        }
        command = [sys.executable, "-c", code]
        return subprocess.Popen(
            command, env=environment, cwd=self.folder, stdout=subprocess.PIPE, text=True
        )

    def run(self, code: str) -> Any:
        return finish(self.start(code))

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.folder / "ludoteca" / "envs" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} should hold {old!r} once"
        path.write_text(text.replace(old, new))


def finish(process: "subprocess.Popen[str]") -> Any:
    try:
        output, _ = process.communicate(timeout=100)
    finally:
        process.kill()  # if it hangs; otherwise it is over already
    assert process.returncode == 0
    return json.loads(output)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    package = tmp_path / "ludoteca"
    ignored = shutil.ignore_patterns("__pycache__", "render")
    shutil.copytree(SOURCES, package / "envs", ignore=ignored)
    for folder in (package, package / "envs"):
        (folder / "__init__.py").write_text("")  # the environments are not needed, and slow to load
    return Tree(tmp_path)


def test_edits_recompile_and_undoing_them_hits_the_cache_again(tree: Tree) -> None:
    play = PLAY.format(spec="tictactoe:board_size=6,line=5")
    # Two processes fill the empty cache at once; the last run below loads what they left.
    before, twin = (finish(process) for process in [tree.start(play), tree.start(play)])
    assert (before["plies"], before["wins"]) == (twin["plies"], twin["wins"])

    in_game = ("games/tictactoe.py", "out[1 - s.winner] = 1, -1", "out[1 - s.winner] = 3, -3")
    tree.edit(*in_game)
    edited = tree.run(play)
    assert edited == {"plies": before["plies"], "wins": 3 * before["wins"], "hit": False}

    in_helper = ("games/lines.py", ">= needed", ">= needed - 1")
    tree.edit(*in_helper)
    shorter = tree.run(play)
    assert shorter["plies"] < before["plies"], "four in a row win now"
    assert not shorter["hit"]

    in_helpers_helper = ("rng.py", "    z = rng[0]\n", "    z = rng[0] + GAMMA\n")
    tree.edit(*in_helpers_helper)
    other = tree.run(play)
    assert other["plies"] != shorter["plies"], "the random numbers are others"
    assert not other["hit"]

    for file, old, new in (in_helpers_helper, in_helper, in_game):
        tree.edit(file, new, old)
    assert tree.run(play) == before | {"hit": True}


def test_a_constant_from_another_file_recompiles(tree: Tree) -> None:
    play = PLAY.format(spec="tron")
    before = tree.run(play)
    tree.edit("symmetry.py", "DIRECTIONS = ((-1, 0), ", "DIRECTIONS = ((1, 0), ")  # no way north
    after = tree.run(play)
    assert after["plies"] != before["plies"]
    assert not after["hit"]


def test_code_cached_by_different_processes_may_meet_in_one(tree: Tree) -> None:
    """Kernels of two boards must not be taken for each other: numba issue 10486."""
    specs = "othello:board_size=4", "othello:board_size=8"
    expected = [tree.run(PLAY.format(spec=spec)) for spec in specs]
    both = "\n".join(PLAY.format(spec=spec) for spec in specs)
    both = both.replace("print(", "found = globals().get('found', []); found.append(")
    assert tree.run(f"{both}\nprint('[' + ','.join(found) + ']')") == [
        result | {"hit": True} for result in expected
    ]


def make_adder(constant: Any) -> Callable[[float], float]:
    def add(x: float) -> float:
        return float(x + constant)

    return add


def test_the_name_tells_constants_apart() -> None:
    digests = [source_digest(make_adder(c)) for c in (1, 2, np.float32(1), np.arange(2))]
    assert len(set(digests)) == 4
    assert source_digest(make_adder(1)) == digests[0]


def test_compile_options_change_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled(make_adder(1)).__name__
    assert compiled(make_adder(1)).__name__ == before
    monkeypatch.setitem(jit.OPTIONS, "fastmath", True)
    assert compiled(make_adder(1)).__name__ != before


def test_compiled_functions_keep_the_python_one() -> None:
    add = compiled(make_adder(5))
    assert add(1.5) == add.py_func(1.5) == 6.5
    assert add.__name__.startswith("add-")
