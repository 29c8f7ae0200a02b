"""`docs/adding_a_game.md`, followed literally in a copy of the repository.

Blocks tagged `file=PATH` become files; those tagged `into=PATH:NAME` go to the end of the
dictionary `NAME`. The commands of blocks tagged `bash` are run.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ludoteca.evaluate.new_game.write import write_game

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "adding_a_game.md"
BLOCK = re.compile(r"^```(?P<info>\S[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = ("envs", "agents", "train", "evaluate")
PROGRAMS = {
    ".venv/bin/pytest": ("pytest", "-p", "no:cacheprovider", "-v"),
    ".venv/bin/ludoteca": ("ludoteca",),
}
# Parts of the rules of the document's game, Domineering, which tests replace by wrong ones.
RULE = " and s.board[row + down, column + right] == NOBODY"  # both cells must be free
WINNER = "return right if s.misere else 1 - right"


def blocks() -> list[tuple[list[str], str]]:
    """Return the tags and the text of each block of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return [(block["info"].split(), block["text"]) for block in BLOCK.finditer(text)]


def commands() -> list[str]:
    """Return the commands of the document, in order."""
    return [line for tags, text in blocks() if tags == ["bash"] for line in text.splitlines()]


@dataclass(frozen=True)
class Copy:
    """Copy of the repository, whose packages are found before the installed ones."""

    root: Path

    def run(self, command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of the document with the sources of the copy."""
        program, *arguments = shlex.split(command)
        return self.python("-m", *PROGRAMS[program], *arguments)

    def python(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run Python with the sources of the copy, without settings of this pytest."""
        inherited = {
            key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")
        }
        environment = inherited | {
            "PYTHONPATH": str(self.root / "build"),
            "PYTHONDONTWRITEBYTECODE": "1",  # two edits within a second would look the same
            "NUMBA_CACHE_DIR": str(self.root / "cache"),
            "COLUMNS": "120",
        }
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            env=environment,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=500,
            check=False,
        )

    def follow(self) -> None:
        """Write and edit files as the document says."""
        for tags, text in blocks():
            for kind, _, where in (tag.partition("=") for tag in tags):
                if kind == "file":
                    path = self.root / where
                    assert not path.exists(), f"{where} would be overwritten"
                    path.write_text(text)
                elif kind == "into":
                    file, _, name = where.partition(":")
                    self.insert(file, name, text)

    def insert(self, file: str, name: str, text: str) -> None:
        """Put `text` at the end of the dictionary `name` in a file."""
        path = self.root / file
        start = rf"(^{name} = {{\n.*?)(?=^}}$)"
        edited, count = re.subn(
            start,
            lambda match: match[1] + text,
            path.read_text(),
            count=1,
            flags=re.MULTILINE | re.DOTALL,
        )
        assert count == 1, f"{file} has no dictionary {name}"
        path.write_text(edited)

    @contextmanager
    def edited(self, old: str, new: str) -> Iterator[None]:
        """Replace text in the new game's rules; restore it at the end of the context."""
        path = self.root / "envs" / "games" / "domineering.py"
        text = path.read_text()
        assert text.count(old) == 1, f"the rules should hold {old!r} once"
        path.write_text(text.replace(old, new))
        yield
        path.write_text(text)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return a copy of the repository after the document was followed."""
    root = tmp_path_factory.mktemp("repository")
    package = root / "build" / "ludoteca"
    skip = shutil.ignore_patterns("__pycache__", "golden", "oracles")
    shutil.copytree(ROOT / "ludoteca", package, ignore=skip)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, root / name, ignore=skip)
        (package / name).symlink_to(root / name)
    shutil.copytree(ROOT / "tests", root / "tests", ignore=skip)
    for name in ("games", "images"):
        shutil.copytree(ROOT / "docs" / name, root / "docs" / name)
    shutil.copy(ROOT / "pyproject.toml", root)
    made = Copy(root)
    made.follow()
    return made


def results(output: str) -> dict[str, str]:
    """Return the result of each test from the output of `pytest -v`."""
    found = re.findall(r"^(\S+::.*?) (PASSED|FAILED|ERROR|SKIPPED)\b", output, flags=re.MULTILINE)
    return dict(found)


def passed(copy: Copy, words: str) -> set[str]:
    """Run the only command that contains `words`; return the names of its tests, which all pass."""
    (command,) = (command_text for command_text in commands() if words in command_text)
    done = copy.run(command)
    assert done.returncode == 0, done.stdout
    test_results = results(done.stdout)
    skipped = {test for test, result in test_results.items() if result == "SKIPPED"}
    assert set(test_results.values()) <= {"PASSED", "SKIPPED"}
    assert f"{len(test_results) - len(skipped)} passed" in done.stdout
    assert all("domineering" in test.lower() for test in test_results)
    return set(test_results) - skipped


def functions(tests: set[str]) -> set[str]:
    """Return the names of the test functions of parametrized tests."""
    return {test.partition("::")[2].partition("[")[0] for test in tests}


def test_the_packages_of_the_copy_are_imported(copy: Copy) -> None:
    code = "import ludoteca.agents, ludoteca.envs as e; print(e.__file__, *ludoteca.__path__)"
    done = copy.python("-c", code)
    package = copy.root / "build" / "ludoteca"
    assert done.stdout.split() == [str(package / "envs" / "__init__.py"), str(package)]


@pytest.mark.slow
def test_perft_and_perfect_play_of_the_new_game_pass(copy: Copy) -> None:
    tests = passed(copy, "test_perft.py")
    names = {test.partition("::")[2] for test in tests}
    assert {f"test_perft[domineering-4x4-{depth}]" for depth in range(1, 9)} <= names
    assert {f"test_perft[domineering-{depth}]" for depth in range(1, 4)} <= names
    assert {"test_perfect_play", "test_a_finished_game"} <= functions(tests)


@pytest.mark.slow
def test_contract_of_the_new_game_passes(copy: Copy) -> None:
    tests = passed(copy, "test_contract.py")
    source = copy.root / "tests" / "games" / "test_contract.py"
    defined = set(re.findall(r"^def (test_\w+)\(spec: str", source.read_text(), re.MULTILINE))
    assert len(defined) >= 8
    assert defined <= functions(tests)
    assert any("misere=True" in test for test in tests)


@pytest.mark.slow
def test_commands_of_the_document_know_the_new_game(copy: Copy) -> None:
    outputs = {}
    for command in commands():
        if command.startswith(".venv/bin/ludoteca"):
            done = copy.run(command)
            assert done.returncode == 0, done.stdout
            outputs[" ".join(command.split()[1:3])] = done.stdout
    assert set(outputs) == {"list", "list domineering", "match domineering", "render domineering"}
    assert "Domineering-v0" in outputs["list"]
    assert "misere=False" in outputs["list"]
    assert "whether the player who cannot move wins instead" in outputs["list domineering"]
    assert re.search(r"\b20 games", outputs["match domineering"])
    assert (copy.root / "domineering.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_the_example_of_the_document_runs(copy: Copy) -> None:
    done = copy.python("-W", "error::UserWarning", "try_domineering.py")
    assert done.returncode == 0, done.stdout
    *_, first, last = done.stdout.splitlines()
    assert first == "player_0"
    assert last == "1 [] True"


@pytest.mark.slow
def test_conformance_suites_pass_for_the_new_game(copy: Copy) -> None:
    tests = functions(passed(copy, "test_conformance.py"))
    assert tests >= {
        "test_pettingzoo_api_test",
        "test_pettingzoo_parallel_api_test",
        "test_pettingzoo_render_test",
        "test_gymnasium_check_env",
        "test_sb3_check_env",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "caught_by"),
    [
        pytest.param(RULE, "", "test_perft[domineering-4x4-2]", id="dominoes overlap"),
        pytest.param(
            WINNER,
            "return 1 - right if s.misere else right",
            "test_perfect_play[rows=5,columns=5]",
            id="the loser wins",
        ),
    ],
)
def test_a_wrong_rule_fails(copy: Copy, old: str, new: str, caught_by: str) -> None:
    (command,) = (command_text for command_text in commands() if "test_perft.py" in command_text)
    with copy.edited(old, new):
        # Overlapping dominoes make games longer than max_plies, which crashes the solver.
        done = copy.run(f"{command} --exitfirst")
    by_name = {test.partition("::")[2]: result for test, result in results(done.stdout).items()}
    assert done.returncode == 1, done.stdout
    assert by_name[caught_by] == "FAILED", done.stdout


@pytest.mark.slow
def test_new_game_writes_files_that_pass_the_tests_of_all_games(copy: Copy) -> None:
    done = copy.run(".venv/bin/ludoteca new-game three_stones")
    assert done.returncode == 0, done.stdout
    written = [
        "envs/games/three_stones.py",
        "envs/registry.py",
        "tests/games/perft/three_stones.txt",
        "docs/games/three_stones.md",
        "docs/games/README.md",
        "docs/images/three_stones.png",
    ]
    assert done.stdout.splitlines()[:-1] == written
    assert "| `three_stones:rows=3,columns=4` | 2 x 3 x 4, 0 to 1 | 12 | 12 plies |" in (
        copy.root / "docs/games/three_stones.md"
    ).read_text(encoding="utf-8")
    files = [f"tests/games/test_{name}.py" for name in ("perft", "pages", "contract")]
    tested = copy.run(f".venv/bin/pytest {' '.join(files)} -m '' -k 'three_stones or ThreeStones'")
    assert tested.returncode == 0, tested.stdout
    names = functions(set(results(tested.stdout)))
    assert {"test_perft", "test_planes", "test_rewards", "test_end"} <= names
    again = copy.run(".venv/bin/ludoteca new-game three_stones")
    assert again.returncode == 2
    assert "'three_stones' is already a name of ThreeStones-v0" in again.stdout


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Three-Stones", "lower-case letters, digits and single underscores"),
        ("class", "lower-case letters, digits and single underscores"),
        ("connect_four", "'connect_four' is already a name of connect4"),
    ],
)
def test_new_game_refuses_names(name: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        write_game(name, ROOT)


def test_new_game_needs_the_checkout_that_is_imported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not the checkout that ludoteca is imported from"):
        write_game("three_stones", tmp_path)
    assert not list(tmp_path.iterdir())
