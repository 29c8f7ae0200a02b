"""Pages of the games in docs/games: tables generated from the code, prose by the author.

`python -m ludoteca.evaluate.new_game.pages` generates the tables of all pages. In a page, the
tables stand between the comments `START` and `END`, each in a section of its own. The tables of
facts and parameters are generated completely. In the tables of actions and of other parameter
values the author writes the spec strings, action numbers and meanings, and the code adds the names
of the actions and the sizes of the games.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, find_factory, game_id, make_game
from ludoteca.evaluate.docstring_params import describe_params
from ludoteca.evaluate.markdown import table
from ludoteca.files import write_atomically

PAGES = Path("docs/games")
START, END = "<!-- tables -->\n", "<!-- end -->\n"
SECTION = re.compile(r"^## (?P<heading>.*)\n(?P<body>(?:(?!## ).*\n)*)", re.MULTILINE)
Row = list[str]


def write_tables(text: str, name: str) -> str:
    """Return the page of a game with its tables generated from the code.

    Args:
        text: the page, in Markdown.
        name: name of the game.

    Raises:
        ValueError: if the page has no tables between the two comments.
    """
    before, sections, after = _split_page(text, name)
    sections = SECTION.sub(lambda section: _generate_section(section, name), sections)
    return f"{before}{START}{sections}{END}{after}"


def tables(text: str, name: str) -> dict[str, list[Row]]:
    """Return the rows of the tables of a page, without headings, by the heading of the section.

    Raises:
        ValueError: if the page has no tables between the two comments.
    """
    sections = SECTION.finditer(_split_page(text, name)[1])
    return {section["heading"]: rows_of(section["body"]) for section in sections}


def _split_page(text: str, name: str) -> tuple[str, str, str]:
    """Return the text before the tables, the sections of the tables, and the text after them."""
    if text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(
            f"the page of {name} must have {START.strip()} and {END.strip()} exactly once each"
        )
    before, sections_and_after = text.split(START)
    sections, after = sections_and_after.split(END)
    return before, sections, after


def _generate_section(section: re.Match[str], name: str) -> str:
    """Return a section with its table generated; sections with other headings stay unchanged.

    A heading may name another spec string than that of the game, as in "Actions of `go:size=9`".
    """
    heading, rows = section["heading"], rows_of(section["body"])
    title, _, spec = heading.partition(" of ")
    game = make_game(spec.strip("`") or name)
    if title == "Facts":
        body = table(["fact", "value"], facts(game), text_columns=2)
    elif title == "Parameters":
        body = table(["parameter", "default", "values"], parameters(name), text_columns=3)
    elif title == "Other parameter values":
        headings = ["spec", "observation", "actions", "longest game"]
        rows_with_sizes = [[row[0], *sizes(make_game(row[0].strip("`")))] for row in rows]
        body = table(headings, rows_with_sizes, text_columns=4)
    elif title == "Actions":
        rows_with_names = [[row[0], action_names(game, row[0]), row[2]] for row in rows]
        body = table(["actions", "names", "meaning"], rows_with_names, text_columns=3)
    else:
        return section[0]
    return f"## {heading}\n\n{body}\n\n"


def facts(game: Game) -> list[Row]:
    """Return the rows of the table of facts."""
    observation, actions, plies = sizes(game)
    return [
        ["id", f"`ludoteca/{game_id(game.name)}`"],
        ["spec", f"`{game.spec}`"],
        ["players", str(game.num_players)],
        ["dynamics", game.dynamics],
        ["observation", observation],
        ["actions", actions],
        ["longest game", plies],
        ["symmetries", str(len(game.symmetries()))],
    ]


def sizes(game: Game) -> Row:
    """Return three cells: shape and range of observations, number of actions, longest game."""
    unit = "plies (joint moves)" if game.simultaneous else "plies"
    shape = " x ".join(map(str, game.observation_shape))
    observation = f"{shape}, 0 to {game.observation_high}"
    return [observation, str(game.num_actions), f"{game.max_plies} {unit}"]


def parameters(name: str) -> list[Row]:
    """Return the rows of the table of parameters: name, default, and the factory's description."""
    factory = find_factory(name)
    descriptions = describe_params(factory, markup=True)
    return [
        [f"`{key}`", f"`{parameter.default}`", descriptions[key]]
        for key, parameter in inspect.signature(factory).parameters.items()
    ]


def action_names(game: Game, action_range: str) -> str:
    """Return the names of the first and the last action of a range, such as "`a1` to `c3`"."""
    names = [f"`{game.action_names[action]}`" for action in action_numbers(action_range)]
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def action_numbers(text: str) -> range:
    """Return the actions of a range, such as "0 to 8" or "9"."""
    first, _, last = text.partition(" to ")
    return range(int(first), int(last or first) + 1)


def index_rows() -> list[Row]:
    """Return the rows of the index of all pages."""
    return [
        [
            game.title,
            f"`ludoteca/{id_}`",
            f"{game.num_players}, {game.dynamics}",
            f"[{game.name}.md]({game.name}.md)",
        ]
        for id_ in GAMES
        for game in [make_game(id_)]
    ]


def write_index(text: str) -> str:
    """Return the index page `docs/games/README.md` with its table generated from the registry.

    Raises:
        ValueError: if it has no table of games, or several.
    """
    headings = ["game", "id", "players", "page"]
    written, count = re.subn(
        r"^\| game \| id \|.*\n(?:\|.*\n)+",
        lambda _: table(headings, index_rows(), text_columns=4) + "\n",
        text,
        flags=re.MULTILINE,
    )
    if count != 1:
        raise ValueError(
            "docs/games/README.md must have exactly one table with the columns game, id, ..., "
            f"got {count}"
        )
    return written


def rows_of(section: str) -> list[Row]:
    """Return the rows of the table in a section, without its headings."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = lines[2:]  # after the headings and the line below them
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def generated_pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each page of a folder with its newly generated text; the index comes last."""
    for id_ in GAMES:
        name = make_game(id_).name
        path = folder / f"{name}.md"
        yield path, write_tables(path.read_text(encoding="utf-8"), name)
    index = folder / "README.md"
    yield index, write_index(index.read_text(encoding="utf-8"))


def main() -> int:
    """Write the tables of all pages; print the pages that changed."""
    parser = argparse.ArgumentParser(
        prog="python -m ludoteca.evaluate.new_game.pages",
        description="Write the tables of the games' pages from the code.",
    )
    parser.add_argument("--folder", type=Path, default=PAGES, help="folder of the pages")
    folder = parser.parse_args().folder
    if not (folder / "README.md").is_file():
        parser.error(f"{folder} has no README.md: run this in the root of a checkout")
    for path, text in generated_pages(folder):
        if text != path.read_text(encoding="utf-8"):
            write_atomically(path, text)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
