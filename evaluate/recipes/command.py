"""Recipe runner: runs each recipe in its library's environment, and records the results.

A recipe is a short training program with an RL library, see
`ludoteca.evaluate.recipes.environments`.
"""

import json
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import IO, Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.child_processes import ChildProcess
from ludoteca.evaluate.recipes.environments import Recipe, find_recipes, make_environment
from ludoteca.evaluate.recipes.table import Library, read_libraries, scores, summary, write_table
from ludoteca.files import read_json, write_atomically
from ludoteca.provenance import run_info

ADAPTER_TESTS = Path("tests/adapters")
RESULTS = Path("docs/results/recipes")  # folder of the results, relative to a checkout
MIN_SCORE = 0.9  # minimum score against random moves from each seat
LOG_TAIL = 2000  # number of last characters of a log that an error message shows


def run_recipes(
    recipes: Annotated[
        Positional[tuple[str, ...]], arg(metavar="[RECIPE ...]", help_behavior_hint="")
    ] = (),
    root: Path = Path("."),
    folder: Path = Path("runs/recipes"),
    time_limit: float = 600.0,
    tests: bool = True,
    table_only: bool = False,
) -> None:
    """Run the recipes of docs/recipes, each with its library, and write the table of results.

    Each library has its own virtual environment, .venv-recipes-LIBRARY, which is created on first
    use. First the library's tests in tests/adapters run there, then its recipes. Results are
    written to docs/results/recipes, and their table to docs/recipes/README.md.

    Args:
        recipes: names of recipes, or of libraries for all their recipes; all by default.
        root: folder of the checkout.
        folder: folder for logs and raw results.
        time_limit: time limit in seconds of each recipe, and of the tests of each library.
        tests: run the tests of the libraries, too.
        table_only: run nothing: write the table from existing results.

    Raises:
        ValueError: if a recipe is unknown; after all recipes have run, if one failed.
    """
    root = root.absolute()
    selected = find_recipes(root, recipes)
    libraries = read_libraries(root, {recipe.library for recipe in selected})
    problems: dict[str, str] = {}
    for library, group in groupby([] if table_only else selected, lambda recipe: recipe.library):
        members = list(group)
        try:
            print(f"{library}: environment and tests", flush=True)
            python = make_environment(members[0])
            if tests:
                log = folder / f"{library}.tests.log"
                run_tests(members[0], libraries[library], python, log, time_limit)
        except (ValueError, OSError) as error:  # without environment or tests, all recipes fail
            problems |= {recipe.name: str(error) for recipe in members}
            print(error, file=sys.stderr, flush=True)
            continue
        for recipe in [member for member in members if member.file.exists()]:
            try:
                results = run_recipe(recipe, python, libraries[library], folder, time_limit)
                print(f"{recipe.name}: {summary(results)}", flush=True)
                check_scores(results)
                text = json.dumps(results, indent=2) + "\n"
                write_atomically(root / RESULTS / f"{recipe.name}.json", text)
            except (ValueError, OSError) as error:
                problems[recipe.name] = str(error)
                print(f"{recipe.name}: {error}", file=sys.stderr, flush=True)
    print(f"table: {write_table(root, root / RESULTS)}")
    if problems:
        raise ValueError(
            f"{len(problems)} of {len(selected)} recipes failed: {', '.join(problems)}; "
            f"their logs are in {folder}"
        )


def run_tests(recipe: Recipe, library: Library, python: Path, log: Path, time_limit: float) -> None:
    """Run the adapter tests of a recipe's library, if it has tests.

    Args:
        recipe: any recipe of the library.
        library: entry of the library in `libraries.toml`.
        python: the interpreter of the library's environment.
        log: the file for the output of the tests.
        time_limit: time limit in seconds.

    Raises:
        ValueError: if a test fails or the time limit is reached.
    """
    files = [recipe.root / ADAPTER_TESTS / name for name in library.tests]
    if existing := [path for path in files if path.exists()]:
        # "-W default": unlike in this package's tests, warnings are no errors, as libraries may use
        # deprecated functions. "-P": the folders of recipes and tests do not hide packages.
        command = [python, "-P", "-m", "pytest", "-q", "-rs", "-W", "default", *existing]
        _run(command, f"the tests of {recipe.library}", log, time_limit, recipe.root)


def run_recipe(
    recipe: Recipe, python: Path, library: Library, folder: Path, time_limit: float
) -> dict[str, Any]:
    """Run a recipe, write its results to `folder/NAME.json`, and return them.

    Args:
        recipe: the recipe.
        python: the interpreter of the recipe's environment.
        library: entry of the recipe's library in `libraries.toml`.
        folder: folder for the log and the results.
        time_limit: time limit in seconds.

    Raises:
        ValueError: if the recipe fails or reaches the time limit, or its results are malformed.
    """
    out = (folder / f"{recipe.name}.json").absolute()
    out.unlink(missing_ok=True)
    # The recorded command works in any checkout.
    about = run_info(command=f"python -m ludoteca.evaluate.recipes {recipe.name}")
    with tempfile.TemporaryDirectory() as working_folder:  # for files that the recipe saves
        arguments = [str(recipe.file), str(out), *library.packages]
        command = [python, "-P", "-m", "ludoteca.evaluate.recipes.execute", *arguments]
        _run(
            command,
            f"the recipe {recipe.name}",
            folder / f"{recipe.name}.log",
            time_limit,
            working_folder,
        )
    results: dict[str, Any] = {
        "recipe": recipe.name,
        "library": recipe.library,
        "lines": count_lines(recipe.file),
        **read_json(out),
        "about": about,
    }
    write_atomically(out, json.dumps(results, indent=2) + "\n")
    return results


def count_lines(file: Path) -> int:
    """Return the number of non-empty lines of a program."""
    return sum(bool(line.strip()) for line in file.read_text(encoding="utf-8").splitlines())


def check_scores(results: dict[str, Any]) -> None:
    """Validate that a recipe's agent beats random moves from each seat.

    Raises:
        ValueError: if a score is below `MIN_SCORE`.
    """
    if "against_random" in results["matches"]:
        seat_scores = [seat.score for seat in scores(results["matches"]["against_random"])]
        if min(seat_scores) < MIN_SCORE:
            listed = ", ".join(f"{score:.3f}" for score in seat_scores)
            raise ValueError(
                f"expected a score of at least {MIN_SCORE:g} against random from each seat, got "
                f"{listed}"
            )


def _run(command: list[Any], subject: str, log: Path, time_limit: float, cwd: str | Path) -> None:
    """Run a command, and write its output to a file.

    Args:
        command: the command with its arguments.
        subject: description of the command for error messages.
        log: file for the output.
        time_limit: time limit in seconds.
        cwd: working directory.

    Raises:
        ValueError: if it fails or reaches the time limit; the message has the end of its output.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w+") as output:
        with ChildProcess(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        ) as child:
            try:
                status = child.wait(time_limit)
            except subprocess.TimeoutExpired:
                child.kill()
                raise ValueError(
                    f"{subject} took more than {time_limit:g} s; end of the output:\n"
                    f"{_tail(output)}"
                ) from None
            except BaseException:
                child.kill()
                raise
        if status != 0:
            raise ValueError(
                f"{subject} ended with status {status}; end of the output:\n{_tail(output)}"
            )


def _tail(output: IO[str]) -> str:
    output.seek(0)
    return output.read()[-LOG_TAIL:].strip()
