"""Disk cache of compiled code: never stale when a copy of the sources is edited."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from source_copy import PLAY, SourceCopy, copy_sources, finish

from ludoteca.envs import jit
from ludoteca.envs.jit import compiled, source_digest

# Module that plays one game by a function that is compiled sooner than the playouts of PLAY, and
# prints as PLAY does.
PLAY_ONE_GAME = """
import json
import numpy as np
from ludoteca.envs.jit import compiled
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game

game = make_game("tictactoe")
step, is_terminal, returns = game.step, game.is_terminal, game.returns

@compiled
def play(states, scores):
    s, plies = states[0], 0
    while not is_terminal(s):
        step(s, plies)
        plies += 1
    returns(s, scores)
    return plies

scores = np.zeros(2)
plies = play(batch_of_one(game), scores)
hit = sum(play.stats.cache_hits.values()) == 1
print(json.dumps({"plies": plies, "wins": abs(scores).max(), "hit": hit}))
"""


@pytest.fixture
def sources(tmp_path: Path) -> SourceCopy:
    """Return a copy of the sources with an empty cache."""
    return copy_sources(tmp_path)


@pytest.mark.parametrize("all_edits", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_edits_recompile_and_undoing_them_hits_the_cache_again(
    sources: SourceCopy, all_edits: bool
) -> None:
    (sources.folder / "play_one_game.py").write_text(PLAY_ONE_GAME)
    play = (
        PLAY.format(spec="tictactoe:board_size=6,line=5") if all_edits else "import play_one_game"
    )
    # Two processes fill the empty cache at once; the last run below loads their code.
    original, other = (finish(process) for process in [sources.start(play), sources.start(play)])
    assert (original["plies"], original["wins"]) == (other["plies"], other["wins"])

    returns_edit = ("games/winner.py", "out[1 - s.winner] = 1, -1", "out[1 - s.winner] = 3, -3")
    sources.edit(*returns_edit)
    edited = sources.run(play)
    assert edited == {"plies": original["plies"], "wins": 3 * original["wins"], "hit": False}

    if all_edits:
        check_edits_of_other_files(sources, play, original)

    sources.edit(returns_edit[0], *reversed(returns_edit[1:]))
    assert sources.run(play) == original | {"hit": True}


def check_edits_of_other_files(sources: SourceCopy, play: str, original: dict[str, Any]) -> None:
    """Edit several files, run the code after each edit, and undo the edits."""
    end_edit = ("games/tictactoe.py", "s.moves_left == 0)", "s.moves_left <= 1)")
    sources.edit(*end_edit)
    edited = sources.run(play)
    assert edited["plies"] < original["plies"], "the last cell stays empty"
    assert not edited["hit"]
    sources.edit(*end_edit[:1], *reversed(end_edit[1:]))

    line_edit = ("games/lines.py", ">= length", ">= length - 1")
    sources.edit(*line_edit)
    shorter = sources.run(play)
    assert shorter["plies"] < original["plies"], "four in a row win now"
    assert not shorter["hit"]

    rng_edit = ("rng.py", "    z = rng[0]\n", "    z = rng[0] + GOLDEN_GAMMA\n")
    sources.edit(*rng_edit)
    edited = sources.run(play)
    assert edited["plies"] != shorter["plies"], "the random numbers differ"
    assert not edited["hit"]

    for file, old, new in (rng_edit, line_edit):
        sources.edit(file, new, old)


@pytest.mark.slow
def test_an_edited_constant_of_another_file_recompiles(sources: SourceCopy) -> None:
    play = PLAY.format(spec="tron")
    original = sources.run(play)
    sources.edit("symmetry.py", "DIRECTIONS = ((-1, 0), ", "DIRECTIONS = ((1, 0), ")  # not north
    edited = sources.run(play)
    assert edited["plies"] != original["plies"]
    assert not edited["hit"]


@pytest.mark.slow
def test_code_cached_by_two_processes_can_be_loaded_in_one(sources: SourceCopy) -> None:
    """Kernels of two boards must not be confused, as in numba issue 10486."""
    specs = "othello:board_size=4", "othello:board_size=8"
    expected = [sources.run(PLAY.format(spec=spec)) for spec in specs]
    both = "\n".join(PLAY.format(spec=spec) for spec in specs)
    both = both.replace("print(", "results = globals().get('results', []); results.append(")
    assert sources.run(f"{both}\nprint('[' + ','.join(results) + ']')") == [
        result | {"hit": True} for result in expected
    ]


def make_adder(constant: Any) -> Callable[[float], float]:
    """Return a function that adds a constant of its closure."""

    def add(x: float) -> float:
        return float(x + constant)

    return add


def test_the_digest_depends_on_constants() -> None:
    digests = [source_digest(make_adder(c)) for c in (1, 2, np.float32(1), np.arange(2))]
    assert len(set(digests)) == 4
    assert source_digest(make_adder(1)) == digests[0]


def make_ratio(
    numerator: int, denominator: int, rounding: Callable[..., Any]
) -> Callable[[float], float]:
    """Return a function whose closure has three variables."""

    def ratio(x: float) -> float:
        return float(rounding(x * numerator / denominator))

    return ratio


def test_the_digest_depends_on_the_values_of_closure_variables() -> None:
    """Functions of one file differ in a closure variable, or in the order of its constants."""

    def up(x: float) -> float:
        return x + 1

    def down(x: float) -> float:
        return x - 1

    closures = [(2, 3, up), (3, 2, up), (2, 3, down), (2, 3, round), (2, 3, abs), (2, 2, up)]
    digests = {source_digest(make_ratio(*values)) for values in closures}
    assert len(digests) == len(closures)
    assert source_digest(make_ratio(2, 3, up)) in digests


def test_the_digest_depends_on_functions_of_imported_modules(sources: SourceCopy) -> None:
    print_digest = """
import json
from ludoteca.some_agent import choose
from ludoteca.envs.jit import source_digest
print(json.dumps(source_digest(choose)))
"""
    (sources.folder / "ludoteca" / "some_agent.py").write_text(
        "from ludoteca.envs import rng\n\n\ndef choose(x):\n    return rng.below(x, 3)\n"
    )
    digest = sources.run(print_digest)
    assert sources.run(print_digest) == digest
    sources.edit("rng.py", "    z = rng[0]\n", "    z = rng[0] + GOLDEN_GAMMA\n")
    assert sources.run(print_digest) != digest


def test_the_digest_of_code_without_a_file_depends_on_its_body() -> None:
    """In a notebook cell, bytecode, constants, names and inner functions change the digest."""

    def define(code: str) -> Any:
        names: dict[str, Any] = {}
        exec(code, names)
        return names["f"]

    bodies = ("x + 1", "x + 2", "x - 1", "abs(x)", "len(x)", "max(i + 1 for i in x)")
    digests = [source_digest(define(f"def f(x):\n    return {body}")) for body in bodies]
    digests.append(source_digest(define("def f(x, step=1):\n    return x + 1")))
    assert len(set(digests)) == len(digests)
    assert source_digest(define("def f(x):\n    return x + 1")) == digests[0]


def test_the_cached_name_depends_on_compile_options(monkeypatch: pytest.MonkeyPatch) -> None:
    name = compiled(make_adder(1)).__name__
    assert compiled(make_adder(1)).__name__ == name
    monkeypatch.setitem(jit.OPTIONS, "fastmath", True)
    assert compiled(make_adder(1)).__name__ != name


def test_py_func_of_compiled_code_is_the_python_function() -> None:
    add = compiled(make_adder(5))
    assert add(1.5) == add.py_func(1.5) == 6.5
    assert add.__name__.startswith("add-")
