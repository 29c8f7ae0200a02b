"""The disk cache of compiled code is never stale, tested on a temporary copy of the sources."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from source_copy import PLAY, Tree, copy_sources, finish

from ludoteca.envs import jit
from ludoteca.envs.jit import compiled, source_digest


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return copy_sources(tmp_path)


def test_edits_recompile_and_undoing_them_hits_the_cache_again(tree: Tree) -> None:
    play = PLAY.format(spec="tictactoe:board_size=6,line=5")
    # Two processes fill the empty cache at once; the last run below loads what they left.
    before, twin = (finish(process) for process in [tree.start(play), tree.start(play)])
    assert (before["plies"], before["wins"]) == (twin["plies"], twin["wins"])

    in_returns = ("games/winner.py", "out[1 - s.winner] = 1, -1", "out[1 - s.winner] = 3, -3")
    tree.edit(*in_returns)
    edited = tree.run(play)
    assert edited == {"plies": before["plies"], "wins": 3 * before["wins"], "hit": False}

    in_game = ("games/tictactoe.py", "s.moves_left == 0)", "s.moves_left <= 1)")
    tree.edit(*in_game)
    edited = tree.run(play)
    assert edited["plies"] < before["plies"], "the last cell stays empty"
    assert not edited["hit"]
    tree.edit(*in_game[:1], *reversed(in_game[1:]))

    in_helper = ("games/lines.py", ">= needed", ">= needed - 1")
    tree.edit(*in_helper)
    shorter = tree.run(play)
    assert shorter["plies"] < before["plies"], "four in a row win now"
    assert not shorter["hit"]

    in_helpers_helper = ("rng.py", "    z = rng[0]\n", "    z = rng[0] + GAMMA\n")
    tree.edit(*in_helpers_helper)
    other = tree.run(play)
    assert other["plies"] != shorter["plies"], "the random numbers differ"
    assert not other["hit"]

    for file, old, new in (in_helpers_helper, in_helper, in_returns):
        tree.edit(file, new, old)
    assert tree.run(play) == before | {"hit": True}


def test_a_constant_from_another_file_recompiles(tree: Tree) -> None:
    play = PLAY.format(spec="tron")
    before = tree.run(play)
    tree.edit("symmetry.py", "DIRECTIONS = ((-1, 0), ", "DIRECTIONS = ((1, 0), ")  # no way north
    after = tree.run(play)
    assert after["plies"] != before["plies"]
    assert not after["hit"]


def test_code_cached_by_different_processes_can_be_loaded_in_one(tree: Tree) -> None:
    """Kernels of two boards must not be confused: numba issue 10486."""
    specs = "othello:board_size=4", "othello:board_size=8"
    expected = [tree.run(PLAY.format(spec=spec)) for spec in specs]
    both = "\n".join(PLAY.format(spec=spec) for spec in specs)
    both = both.replace("print(", "results = globals().get('results', []); results.append(")
    assert tree.run(f"{both}\nprint('[' + ','.join(results) + ']')") == [
        result | {"hit": True} for result in expected
    ]


def make_adder(constant: Any) -> Callable[[float], float]:
    def add(x: float) -> float:
        return float(x + constant)

    return add


def test_the_name_depends_on_constants() -> None:
    digests = [source_digest(make_adder(c)) for c in (1, 2, np.float32(1), np.arange(2))]
    assert len(set(digests)) == 4
    assert source_digest(make_adder(1)) == digests[0]


def make_ratio(over: int, under: int, rounded: Callable[..., Any]) -> Callable[[float], float]:
    def ratio(x: float) -> float:
        return float(rounded(x * over / under))

    return ratio


def test_the_name_depends_on_the_values_of_names() -> None:
    """The same file, the same constants, other functions or another order of them."""

    def up(x: float) -> float:
        return x + 1

    def down(x: float) -> float:
        return x - 1

    makers = [(2, 3, up), (3, 2, up), (2, 3, down), (2, 3, round), (2, 3, abs), (2, 2, up)]
    digests = {source_digest(make_ratio(*given)) for given in makers}
    assert len(digests) == len(makers)
    assert source_digest(make_ratio(2, 3, up)) in digests


def test_the_name_depends_on_functions_of_modules(tree: Tree) -> None:
    ask = """
import json
from ludoteca.agents_like import choose
from ludoteca.envs.jit import source_digest
print(json.dumps(source_digest(choose)))
"""
    (tree.folder / "ludoteca" / "agents_like.py").write_text(
        "from ludoteca.envs import rng\n\n\ndef choose(x):\n    return rng.below(x, 3)\n"
    )
    before = tree.run(ask)
    assert tree.run(ask) == before
    tree.edit("rng.py", "    z = rng[0]\n", "    z = rng[0] + GAMMA\n")
    assert tree.run(ask) != before


def test_the_name_depends_on_the_cell_of_a_notebook() -> None:
    """Code without a file is represented by its constants, names and inner functions."""

    def cell(code: str) -> Any:
        names: dict[str, Any] = {}
        exec(code, names)
        return names["f"]

    bodies = ("x + 1", "x + 2", "x - 1", "abs(x)", "len(x)", "max(i + 1 for i in x)")
    digests = [source_digest(cell(f"def f(x):\n    return {body}")) for body in bodies]
    digests.append(source_digest(cell("def f(x, step=1):\n    return x + 1")))
    assert len(set(digests)) == len(digests)
    assert source_digest(cell("def f(x):\n    return x + 1")) == digests[0]


def test_the_name_depends_on_compile_options(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled(make_adder(1)).__name__
    assert compiled(make_adder(1)).__name__ == before
    monkeypatch.setitem(jit.OPTIONS, "fastmath", True)
    assert compiled(make_adder(1)).__name__ != before


def test_compiled_functions_have_their_python_function() -> None:
    add = compiled(make_adder(5))
    assert add(1.5) == add.py_func(1.5) == 6.5
    assert add.__name__.startswith("add-")
