"""The table of the recipes: written from the results that runs have left, never by hand."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ludoteca.envs.files import read_json, write_whole
from ludoteca.evaluate.intervals import score_interval, wilson
from ludoteca.evaluate.markdown import number, percent, table
from ludoteca.evaluate.recipes.environments import RECIPES

LIBRARIES = RECIPES / "libraries.toml"
TABLE = RECIPES / "README.md"
PAGES = Path("docs/libraries")
FIELDS = {"title", "packages", "works", "glue_before", "glue"}  # and perhaps "tests"


class Library(NamedTuple):
    """What is known about a library without running anything.

    Attributes:
        title: what it is called.
        packages: its distributions, whose versions are shown.
        works: what works with it, in a few words.
        glue_before: lines that a user had to write before there was an adapter, or why it failed.
        glue: lines that a user writes now.
        tests: the files in tests/adapters that need it.
    """

    title: str
    packages: tuple[str, ...]
    works: str
    glue_before: str
    glue: str
    tests: tuple[str, ...]


class Score(NamedTuple):
    """How an agent did in one seat, or in all.

    Attributes:
        score: points per game: a draw counts as half, a first place of t seats as 1 / t.
        low: lower end of the 95 % interval.
        high: upper end.
        games: how many there were.
    """

    score: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{100 * self.score:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def read_libraries(root: Path, needed: Collection[str] = ()) -> dict[str, Library]:
    """Return what `docs/recipes/libraries.toml` says, by library.

    Raises:
        ValueError: if an entry is missing or has other fields.
    """
    path = root / LIBRARIES
    found = {}
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if not isinstance(entry, dict) or set(entry) - {"tests"} != FIELDS:
            raise ValueError(f"{path}: [{name}] must have the fields {', '.join(sorted(FIELDS))}")
        entry = {"tests": [f"test_{name}.py"], **entry}
        lists = {key: tuple(entry[key]) for key in ("packages", "tests")}
        found[name] = Library(**entry | lists)
    if missing := set(needed) - set(found):
        raise ValueError(f"{path} lacks {', '.join(f'[{name}]' for name in sorted(missing))}")
    return found


def scores(match: Mapping[str, Any]) -> list[Score]:
    """Return the score of a match's first agent from each seat, with 95 % intervals.

    Args:
        match: as `match_json` returns it.
    """
    return [_score(seat) for seat in match["agents"][0]["seats"]]


def _score(tally: Mapping[str, Any]) -> Score:
    wins, draws, games = tally["wins"], tally["draws"], tally["games"]
    low, high = score_interval(wins, draws, games)
    return Score((wins + draws / 2) / games, low, high, games)


def summary(results: Mapping[str, Any]) -> str:
    """Return what a recipe measured, in one line."""
    parts = [f"{_rate(results)} steps/s, {results['seconds']:.0f} s"]
    for name, match in results["matches"].items():
        seats = ", ".join(f"{seat.score:.3f}" for seat in scores(match))
        parts.append(f"{name.replace('_', ' ')} {seats}")
    return "; ".join(parts)


def write_table(root: Path, folder: Path) -> Path:
    """Write `docs/recipes/README.md` from the results in a folder; return its path.

    Args:
        root: the checkout's folder.
        folder: where each recipe has a file of results.

    Raises:
        ValueError: if a file cannot be read.
    """
    libraries = read_libraries(root)
    results = [read_json(path) for path in sorted(folder.glob("*.json"))]
    path = root / TABLE
    write_whole(path, table_text(root, libraries, results))
    return path


def table_text(root: Path, libraries: Mapping[str, Library], results: list[dict[str, Any]]) -> str:
    """Return the document with the table.

    Args:
        root: the checkout's folder, for links to what is there.
        libraries: what is known about them, in the order of the table.
        results: of the recipes, see `ludoteca.evaluate.recipes.command.run_recipe`.
    """
    order = list(libraries)
    results = sorted(results, key=lambda one: (order.index(one["library"]), one["recipe"]))
    two_seats = [one for one in results if "against_random" in one["matches"]]
    geese = [one for one in results if "geese" in one["matches"]]
    parts = [
        HEAD,
        table(
            ("library", "version", "what works", "lines of glue before", "now"),
            [_library_row(root, name, one, results) for name, one in libraries.items()],
            texts=5,
        ),
        GLUE,
    ]
    if two_seats:
        parts += [
            CONNECT_FOUR,
            table(
                (
                    "recipe", "lines", "steps/s through it", "steps/s natively", "learning",
                    "from the first seat", "from the second", "self-play: first seat", "second",
                ),
                [_recipe_row(one) for one in two_seats],
            ),
        ]  # fmt: skip
    if geese:
        parts += [
            GEESE,
            table(
                (
                    "recipe",
                    "lines",
                    "steps/s through it",
                    "steps/s natively",
                    "learning",
                    "wins",
                    "by chance",
                ),
                [_geese_row(one) for one in geese],
            ),
        ]
    if results:
        parts += [
            MEASURED,
            table(("recipe", "date", "machine", "Python", "load"), map(_origin, results), texts=3),
        ]
    return "\n\n".join(parts) + "\n"


HEAD = """# Recipes

One short program per library: it learns Connect Four against random moves, then by self-play, and
ends with matches from both seats. Each runs in the environment of its library:

```bash
make recipes                        # all of them, and this table
make recipes RECIPES="sb3 rllib"    # those of some libraries
```

By hand, `python docs/recipes/NAME.py` runs one in an environment that has the library. No recipe
has the name of a package, as Python would import it instead. This page is written by `make recipes`
from [the results](../results/recipes)."""
GLUE = """Glue is what a user writes beyond making the environment and the algorithm, counted by
hand: wrappers, conversions, callbacks."""
CONNECT_FOUR = """## Connect Four

Scores against random moves: a draw counts as half; 95 % intervals. Steps/s through a library
include learning. Natively: the vector environment with 64 games against random moves, random
actions, no learning, measured after the recipe in the same process."""
GEESE = """## Hungry Geese

Games won against random moves, from all seats, with 95 % intervals. An equal agent would win the
share in the last column."""
MEASURED = "## Measured"


def _library_row(
    root: Path, name: str, library: Library, results: list[dict[str, Any]]
) -> list[str]:
    page = PAGES / f"{name}.md"
    title = f"[{library.title}](../../{page})" if (root / page).exists() else library.title
    versions: dict[str, str] = next(
        (one["versions"] for one in results if one["library"] == name), {}
    )
    shown = ", ".join(f"{package} {version}" for package, version in versions.items())
    return [title, shown or "not run", library.works, library.glue_before, library.glue]


def _rate(results: Mapping[str, Any]) -> str:
    return number(round(results["steps"] / results["seconds"]))


def _common(results: Mapping[str, Any]) -> list[Any]:
    name, native = results["recipe"], results["native"]
    return [
        f"[{name}]({name}.py)",
        results["lines"],
        _rate(results),
        number(round(native["steps"] / native["seconds"])),
        f"{number(results['steps'])} steps, {results['seconds']:.0f} s",
    ]


def _recipe_row(results: Mapping[str, Any]) -> list[Any]:
    matches = results["matches"]
    found = [scores(matches[name]) for name in ("against_random", "self_play")]
    return _common(results) + [seat for seats in found for seat in seats]


def _geese_row(results: Mapping[str, Any]) -> list[Any]:
    agents = results["matches"]["geese"]["agents"]
    common = _common(results)
    if "against_random" in results["matches"]:  # steps and times are those of Connect Four
        common[2:] = ["", "", ""]
    wins, games = agents[0]["total"]["wins"], agents[0]["total"]["games"]
    won = Score(wins / games, *wilson(wins, games), games)
    return [*common, won, percent(1 / len(agents), 0)]


def _origin(results: Mapping[str, Any]) -> list[Any]:
    about = results["about"]
    load = about["load_average_at_start"]
    return [
        results["recipe"],
        about["date"][:10],
        f"{about['cpu']}, {about['cores']} cores",
        results["python"],
        "" if load is None else f"{load[0]:.1f}",
    ]
