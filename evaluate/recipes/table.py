"""The tables of the recipes, docs/recipes/README.md, written from the recorded results."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ludoteca.evaluate.markdown import number, percent, table
from ludoteca.evaluate.recipes.environments import RECIPES
from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.files import read_json, write_atomically

LIBRARIES = RECIPES / "libraries.toml"
TABLE = RECIPES / "README.md"
PAGES = Path("docs/libraries")  # folder with a page for each library
FIELDS = {"title", "packages", "works", "glue_before", "glue"}  # required; "tests" is optional


class Library(NamedTuple):
    """A library's entry in `docs/recipes/libraries.toml`.

    Attributes:
        title: the library's name in the tables.
        packages: its distributions, whose versions the tables show.
        works: supported features, in a few words.
        glue_before: lines that a user must write without the adapter, or the reason why it failed.
        glue: lines that a user must write with the adapter.
        tests: the files in tests/adapters that need it.
    """

    title: str
    packages: tuple[str, ...]
    works: str
    glue_before: str
    glue: str
    tests: tuple[str, ...]


class Score(NamedTuple):
    """An agent's score in one seat, or in all.

    Attributes:
        score: fraction of games won; in games of two players, a draw counts as half a win.
        low: lower end of the 95 % interval.
        high: upper end.
        games: the number of games.
    """

    score: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{100 * self.score:.1f} ({100 * self.low:.1f} to {100 * self.high:.1f})"


def read_libraries(root: Path, needed: Collection[str] = ()) -> dict[str, Library]:
    """Return the entries of `docs/recipes/libraries.toml`, by library.

    Args:
        root: the checkout's folder.
        needed: names of libraries that must have an entry.

    Raises:
        ValueError: if an entry is missing or has other fields.
    """
    path = root / LIBRARIES
    libraries = {}
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if not isinstance(entry, dict) or set(entry) - {"tests"} != FIELDS:
            raise ValueError(
                f"{path}: [{name}] must have the fields {', '.join(sorted(FIELDS))}, and no other "
                "but tests"
            )
        entry = {"tests": [f"test_{name}.py"], **entry}
        lists = {key: tuple(entry[key]) for key in ("packages", "tests")}
        libraries[name] = Library(**entry | lists)
    if missing := set(needed) - set(libraries):
        raise ValueError(f"{path} lacks {', '.join(f'[{name}]' for name in sorted(missing))}")
    return libraries


def scores(match: Mapping[str, Any]) -> list[Score]:
    """Return the score of a match's first agent from each seat, with 95 % intervals.

    Args:
        match: result of `match_json`.
    """
    return [_score(seat) for seat in match["agents"][0]["seats"]]


def _score(record: Mapping[str, Any]) -> Score:
    """Return the score of a record of `match_json` for two players."""
    wins, draws, games = record["wins"], record["draws"], record["games"]
    low, high = score_interval(wins, draws, games)
    return Score((wins + draws / 2) / games, low, high, games)


def summary(results: Mapping[str, Any]) -> str:
    """Return a recipe's training speed and time, and its scores from each seat, in one line."""
    parts = [f"{_rate(results)} steps/s, {results['seconds']:.0f} s"]
    for name, match in results["matches"].items():
        seats = ", ".join(f"{seat.score:.3f}" for seat in scores(match))
        parts.append(f"{name.replace('_', ' ')} {seats}")
    return "; ".join(parts)


def write_table(root: Path, folder: Path) -> Path:
    """Write `docs/recipes/README.md` from the results in a folder; return its path.

    Args:
        root: the checkout's folder.
        folder: folder with a file of results for each recipe.

    Raises:
        ValueError: if a file cannot be read.
    """
    libraries = read_libraries(root)
    results = [read_json(path) for path in sorted(folder.glob("*.json"))]
    path = root / TABLE
    write_atomically(path, table_text(root, libraries, results))
    return path


def table_text(root: Path, libraries: Mapping[str, Library], results: list[dict[str, Any]]) -> str:
    """Return the document with the tables.

    Args:
        root: the checkout's folder, for links to files that exist.
        libraries: the libraries in the order of the tables.
        results: the results of the recipes, see `ludoteca.evaluate.recipes.command.run_recipe`.
    """
    order = list(libraries)
    results = sorted(results, key=lambda result: (order.index(result["library"]), result["recipe"]))
    two_seats = [result for result in results if "against_random" in result["matches"]]
    geese = [result for result in results if "geese" in result["matches"]]
    parts = [
        HEAD,
        table(
            ("library", "supported"),
            [(_title(root, name, library), library.works) for name, library in libraries.items()],
            text_columns=2,
        ),
        GLUE,
        table(
            ("library", "lines without our adapters", "lines with our adapters"),
            [(library.title, library.glue_before, library.glue) for library in libraries.values()],
            text_columns=3,
        ),
    ]
    if two_seats:
        parts += [
            CONNECT_FOUR,
            table(
                (
                    "recipe",
                    "first seat",
                    "second seat",
                    "self-play, first seat",
                    "self-play, second seat",
                ),
                [_score_row(result) for result in two_seats],
            ),
        ]
    if geese:
        parts += [
            GEESE,
            table(
                ("recipe", "% of games won", "random agent"),
                [_geese_row(result) for result in geese],
            ),
        ]
    if results:
        parts += [
            SPEED,
            table(
                ("recipe", "lines", "learning steps", "seconds", "steps/s", "environment steps/s"),
                [_speed_row(result) for result in results],
            ),
        ]
    if results:
        parts += [
            MEASURED,
            table(
                ("recipe", "date", "processor", "cores", "Python", "load"),
                map(_origin, results),
                text_columns=3,
            ),
            table(("recipe", "versions"), map(_versions, results), text_columns=2),
        ]
    measured = {result["library"] for result in results}
    if missing := [
        library for library in libraries if library not in measured and _has_recipe(root, library)
    ]:
        parts.append(
            f"Not yet measured: {', '.join(libraries[library].title for library in missing)}."
        )
    return "\n\n".join(parts) + "\n"


HEAD = """# Recipes

Short training programs, at least one for each RL library, to copy from, and their measured
results. Most train on Connect Four against random moves, then by self-play, and end with matches
from both seats; the others train on Hungry Geese. To run a recipe, install its library as its
[page](../libraries/README.md) describes, then run `python docs/recipes/NAME.py`.

`make recipes` runs each recipe in a virtual environment of its own and writes this page from [the
results](../results/recipes):

```bash
make recipes                        # all recipes
make recipes RECIPES="sb3 rllib"    # the recipes of two libraries
```"""
GLUE = """## Adapter code

Lines of code that you write in addition to creating the environment and the algorithm, such as
wrappers, conversions and callbacks; counted by hand. Where a library failed without our adapter,
the table gives the reason."""
CONNECT_FOUR = """## Connect Four

Scores against random moves in percent (a draw counts as half) with 95 % intervals, from both
seats: first of the model trained against random moves, then of the model trained by self-play."""
GEESE = """## Hungry Geese

Games won against random agents, from all seats, with 95 % intervals. *Random agent* is the
percentage that a random agent would win in place of the model."""
SPEED = """## Speed

A step is a move of the agent and the replies of its opponents. *Steps/s* includes learning.
*Environment steps/s* is the speed of the native vector environment alone, with 64 games, random
actions and random opponents, measured after the recipe in the same process. *Lines* does not
count empty lines."""
MEASURED = """## Machines and versions

*Load* is the load average when the recipe started; if it exceeds the number of cores, other
programs slowed the recipe down."""


def _title(root: Path, name: str, library: Library) -> str:
    exists = (root / PAGES / f"{name}.md").exists()
    return f"[{library.title}](../libraries/{name}.md)" if exists else library.title


def _rate(results: Mapping[str, Any]) -> str:
    """Return the training steps per second as text."""
    return number(round(results["steps"] / results["seconds"]))


def _link(results: Mapping[str, Any]) -> str:
    return f"[{results['recipe']}]({results['recipe']}.py)"


def _score_row(results: Mapping[str, Any]) -> list[Any]:
    matches = results["matches"]
    seat_scores = [scores(matches[name]) for name in ("against_random", "self_play")]
    return [_link(results), *(seat for seats in seat_scores for seat in seats)]


def _geese_row(results: Mapping[str, Any]) -> list[Any]:
    agents = results["matches"]["geese"]["agents"]
    wins, games = agents[0]["total"]["wins"], agents[0]["total"]["games"]
    won = Score(wins / games, *wilson(wins, games), games)
    return [_link(results), won, percent(1 / len(agents), 0)]


def _speed_row(results: Mapping[str, Any]) -> list[Any]:
    native = results["native"]
    return [
        _link(results),
        results["lines"],
        number(results["steps"]),
        f"{results['seconds']:.0f}",
        _rate(results),
        number(round(native["steps"] / native["seconds"])),
    ]


def _origin(results: Mapping[str, Any]) -> list[Any]:
    """Return the row of the date and machine of a recipe's results."""
    about = results["about"]
    load = about["load_average_at_start"]
    return [
        results["recipe"],
        about["date"][:10],
        about["cpu"],
        about["cores"],
        results["python"],
        "" if load is None else f"{load[0]:.1f}",
    ]


def _versions(results: Mapping[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return [results["recipe"], versions]


def _has_recipe(root: Path, library: str) -> bool:
    return any((root / RECIPES).glob(f"{library}*.py"))
