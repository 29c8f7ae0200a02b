"""Tests of recipes (short trainings with other libraries): discovery, execution, results, table."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_table import match_json
from ludoteca.evaluate.recipes import command, environments
from ludoteca.evaluate.recipes.command import RESULTS, check_scores, run_recipes
from ludoteca.evaluate.recipes.environments import find_recipes, make_environment
from ludoteca.evaluate.recipes.execute import read_results
from ludoteca.evaluate.recipes.table import TABLE, read_libraries, scores, table_text
from ludoteca.files import read_json

ROOT = Path(__file__).parents[2]
# Description of a library and a recipe, which needs no library.
ENTRY = """
[fake]
title = "Fake"
packages = ["numpy"]
works = "nothing"
glue_before = "1"
glue = "0"
"""
RECIPE = """
from ludoteca.evaluate.match import play_match

steps, seconds = 1000, 0.5
against_random = play_match("tictactoe", ["greedy", "random"], 400, seed=0)
self_play = play_match("tictactoe", ["greedy", "random"], 400, seed=1)
print("played")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with a recipe of the library `fake`, whose only requirement is NumPy."""
    folder = tmp_path / "docs" / "recipes"
    (folder / "requirements").mkdir(parents=True)
    (folder / "requirements" / "fake.txt").write_text("numpy\n")
    (folder / "libraries.toml").write_text(ENTRY)
    (folder / "fake.py").write_text(RECIPE)
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


@pytest.fixture
def _this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter of the tests run all recipes."""
    monkeypatch.setattr(command, "make_environment", lambda recipe: Path(sys.executable))


def match(agents: tuple[str, ...] = ("greedy", "random"), games: int = 400) -> Any:
    """Return the result of a match of tic-tac-toe."""
    return play_match("tictactoe", agents, games, seed=0)


@pytest.mark.slow
@pytest.mark.usefixtures("_this_interpreter")
def test_recipe_is_run_and_added_to_the_table(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "MIN_SCORE", 0.3)
    folder, page = checkout / "runs", checkout / "docs" / "recipes" / "README.md"
    (checkout / "tests" / "adapters").mkdir(parents=True)
    (checkout / "tests" / "adapters" / "test_fake.py").write_text("def test_it(): pass\n")
    run_recipes(("fake",), checkout, folder)
    results = json.loads((checkout / RESULTS / "fake.json").read_text())
    # The recipe has 5 lines of code.
    assert (results["recipe"], results["library"], results["lines"]) == ("fake", "fake", 5)
    assert (results["steps"], results["seconds"]) == (1000, 0.5)
    played = results["matches"]["against_random"]
    assert played["by_seat"] == json.loads(json.dumps(match_json(match())["by_seat"]))
    assert results["native"]["steps"] / results["native"]["seconds"] > 1000
    assert set(results["versions"]) == {"numpy"}
    assert results["about"]["command"] == "python -m ludoteca.evaluate.recipes fake"
    assert str(checkout) not in json.dumps(results)
    assert "played" in (folder / "fake.log").read_text()
    assert "1 passed" in (folder / "fake.tests.log").read_text()
    assert "fake: 2,000 steps/s, 0 s; against random" in capfd.readouterr().out
    table = page.read_text()
    first, second = scores(played)
    assert first.low < first.score < first.high
    assert f"| {first} | {second} |" in table
    assert "| 5 | 1,000 | 0 | 2,000 |" in table

    # The table is written again from the results alone.
    page.unlink()
    (checkout / "docs" / "recipes" / "fake.py").write_text("raise SystemExit('not to be run')")
    run_recipes((), checkout, folder, table_only=True)
    assert page.read_text() == table


@pytest.mark.usefixtures("_this_interpreter")
@pytest.mark.parametrize(
    ("program", "time_limit", "problem"),
    [
        (
            "1 / 0",
            60,
            r"fake: the recipe fake ended with status 1; end of the output(?s:.*)ZeroDivision",
        ),
        ("import time; time.sleep(60)", 1, "fake: the recipe fake took more than 1 s"),
    ],
)
def test_recipes_that_fail_are_reported(
    program: str,
    time_limit: float,
    problem: str,
    checkout: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (checkout / "docs" / "recipes" / "fake.py").write_text(program)
    with pytest.raises(ValueError, match="1 of 1 recipes failed: fake; their logs are in"):
        run_recipes((), checkout, checkout / "runs", time_limit)
    assert re.search(problem, capfd.readouterr().err)
    assert not (checkout / RESULTS / "fake.json").exists()


@pytest.mark.usefixtures("_this_interpreter")
def test_tests_that_fail_stop_the_recipes_of_their_library(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (checkout / "tests" / "adapters").mkdir(parents=True)
    (checkout / "tests" / "adapters" / "test_fake.py").write_text("def test_it(): assert False\n")
    (checkout / "docs" / "recipes" / "fake_more.py").write_text("print('not to be run')")
    with pytest.raises(ValueError, match="2 of 2 recipes failed: fake, fake_more"):
        run_recipes((), checkout, checkout / "runs")
    assert "the tests of fake ended with status 1" in capfd.readouterr().err


def test_recipes_have_the_requirements_with_the_longest_name(checkout: Path) -> None:
    folder = checkout / "docs" / "recipes"
    for name in ("fake_geese", "faker", "fake_more_geese"):
        (folder / f"{name}.py").write_text("")
    for name in ("faker", "fake_more"):
        (folder / "requirements" / f"{name}.txt").write_text("")
    libraries = {recipe.name: recipe.library for recipe in find_recipes(checkout)}
    assert libraries == {
        "fake": "fake", "fake_geese": "fake", "faker": "faker", "fake_more_geese": "fake_more",
    }  # fmt: skip
    assert [recipe.name for recipe in find_recipes(checkout, ("fake",))] == ["fake", "fake_geese"]
    assert [recipe.name for recipe in find_recipes(checkout, ("fake_geese",))] == ["fake_geese"]
    with pytest.raises(ValueError, match=r"unknown recipe 'fakes' \(did you mean 'fake'"):
        find_recipes(checkout, ("fakes",))
    (folder / "requirements" / "alone.txt").write_text("")  # a library without recipes
    (alone,) = find_recipes(checkout, ("alone",))
    assert (alone.name, alone.file.exists()) == ("alone", False)
    (folder / "other.py").write_text("")
    with pytest.raises(ValueError, match=r"the recipe other has no requirements: expected a file"):
        find_recipes(checkout)


def test_environments_are_made_again_when_requirements_change(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def run(arguments: list[Any], check: bool) -> None:
        calls.append([str(argument) for argument in arguments])
        Path(checkout / ".venv-recipes-fake").mkdir(exist_ok=True)
        if "broken" in (checkout / "docs/recipes/requirements/fake.txt").read_text():
            raise subprocess.CalledProcessError(1, arguments)

    monkeypatch.setattr(environments.subprocess, "run", run)
    recipe = find_recipes(checkout)[0]
    python = make_environment(recipe)
    assert python.is_relative_to(checkout / ".venv-recipes-fake")
    assert "--clear" in calls[0]
    assert calls[1][-5:] == ["-r", str(recipe.requirements), "-e", str(checkout), "pytest>=8"]
    make_environment(recipe)
    assert len(calls) == 2
    recipe.requirements.write_text("numpy>=2\n")
    make_environment(recipe)
    assert len(calls) == 4
    (checkout / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    make_environment(recipe)
    assert len(calls) == 4
    (checkout / "pyproject.toml").write_text('[project]\ndependencies = ["numba>=0.60"]\n')
    make_environment(recipe)
    assert len(calls) == 6
    recipe.requirements.write_text("broken\n")
    for _ in range(2):  # a failed installation is repeated
        with pytest.raises(OSError, match=r"environment of fake could not be made: .* status 1"):
            make_environment(recipe)
    assert len(calls) == 8


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"steps": None}, "steps must be the number of environment steps, at least 1, got None"),
        ({"steps": True}, "steps must be"),
        ({"steps": 0}, "steps must be"),
        ({"seconds": float("nan")}, "seconds must be the training time, positive, got nan"),
        ({"seconds": 0}, "seconds must be"),
        ({"self_play": 0.9}, r"self_play must be a result of play_match, got 0\.9"),
        (
            {"self_play": lambda: match(("random", "greedy"))},
            "one agent against random, the",
        ),
        (
            {"self_play": lambda: match(games=398)},
            "the same number from each seat; got 199",
        ),
        (
            {"self_play": lambda: match(games=401)},
            "the same number from each seat; got 201",
        ),
    ],
)
def test_invalid_recipe_results_raise(change: dict[str, Any], problem: str) -> None:
    variables = {"steps": 7, "seconds": 1.5, "against_random": match(), "self_play": match()}
    # Matches are played in the test, not when it is collected.
    change = {key: value() if callable(value) else value for key, value in change.items()}
    with pytest.raises(ValueError, match=problem):
        read_results(variables | change)


def test_recorded_recipe_results_are_validated() -> None:
    variables = {"steps": 7, "seconds": 1.5, "other": 1, "against_random": match()}
    with pytest.raises(ValueError, match="against_random and self_play, or in geese; got aga"):
        read_results(variables)
    both = read_results(variables | {"self_play": match()})
    assert (both["steps"], both["seconds"]) == (7, 1.5)
    assert set(both["matches"]) == {"against_random", "self_play"}
    with pytest.raises(ValueError, match=r"against random from each seat, got 0\.\d+, 0\.\d+"):
        check_scores(both)
    geese = read_results({"steps": 7, "seconds": 1, "geese": match()})
    check_scores(geese)  # Hungry Geese has no minimum score


def test_every_recipe_is_short_and_described() -> None:
    recipes = [recipe for recipe in find_recipes(ROOT) if recipe.file.exists()]
    libraries = read_libraries(ROOT, {recipe.library for recipe in recipes})
    for recipe in recipes:
        assert command.count_lines(recipe.file) <= 40, recipe.name
        assert "torch==2.13.0" in recipe.requirements.read_text(), recipe.library
        assert libraries[recipe.library].packages
        assert recipe.file.read_text().startswith('"""'), recipe.name


def test_committed_table_matches_the_committed_results() -> None:
    results = [read_json(path) for path in sorted((ROOT / RESULTS).glob("*.json"))]
    text = table_text(ROOT, read_libraries(ROOT), results)
    assert text == (ROOT / TABLE).read_text()


def test_cache_key_depends_on_the_requirements(checkout: Path) -> None:
    def key() -> str:
        script = [str(checkout / ".ci" / "recipes"), "--key", "fake"]
        environment = {**os.environ, "PYTHON": sys.executable}
        result = subprocess.run(script, capture_output=True, text=True, check=True, env=environment)
        return result.stdout

    (checkout / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "recipes", checkout / ".ci")
    before = key()
    assert before.startswith("recipes-fake-3.")
    assert key() == before
    (checkout / "docs" / "recipes" / "requirements" / "fake.txt").write_text("numpy>=2\n")
    assert key() != before


def test_recipe_names_do_not_shadow_packages() -> None:
    """Python would import the recipe: the folder of a program comes first on its path."""
    folder = ROOT / "docs" / "recipes"
    names = {path.stem for path in folder.glob("*.py")}
    lines = [
        line for path in folder.glob("requirements/*.txt") for line in path.read_text().splitlines()
    ]
    packages = {re.split(r"[^\w-]", line)[0].replace("-", "_") for line in lines}
    assert {"pettingzoo", "agilerl", "torchrl"} <= packages
    assert names.isdisjoint(packages)
