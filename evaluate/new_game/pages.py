"""Pages of the games in docs/games: tables generated from the code, prose by the author.

`python -m ludoteca.evaluate.new_game.pages` generates the tables of all pages, which stand between
two comments. The tables of facts and parameters are generated completely. In other tables the
author writes spec strings, action numbers and meanings, and the code adds the names of actions and
the shapes.
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
    sections = SECTION.sub(lambda match: _generate_section(match, name), sections)
    return f"{before}{START}{sections}{END}{after}"


def tables(text: str, name: str) -> dict[str, list[Row]]:
    """Return the rows of the tables of a page, without headings, by the title of the section.

    Raises:
        ValueError: if the page has no tables between the two comments.
    """
    sections = SECTION.finditer(_split_page(text, name)[1])
    return {match["heading"]: rows_of(match["body"]) for match in sections}


def _split_page(text: str, name: str) -> tuple[str, str, str]:
    """Return the text before the tables, the sections of the tables, and the text after them."""
    if text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(f"the page of {name} needs {START.strip()} and {END.strip()}, once each")
    before, sections_and_after = text.split(START)
    sections, after = sections_and_after.split(END)
    return before, sections, after


def _generate_section(match: re.Match[str], name: str) -> str:
    """Return a section of the page with its table generated, if the code knows such a table."""
    heading, rows = match["heading"], rows_of(match["body"])
    title, _, spec = heading.partition(" of ")
    game = make_game(spec.strip("`") or name)
    if title == "Facts":
        body = table(["fact", "value"], facts(game), text_columns=2)
    elif title == "Parameters":
        body = table(["parameter", "default", "values"], parameters(name), text_columns=3)
    elif title == "Other parameter values":
        headings = ["spec", "observation", "actions", "longest game"]
        sized = [[row[0], *sizes(make_game(row[0].strip("`")))] for row in rows]
        body = table(headings, sized, text_columns=4)
    elif title == "Actions":
        named = [[row[0], action_names(game, row[0]), row[2]] for row in rows]
        body = table(["actions", "names", "meaning"], named, text_columns=3)
    else:
        return match[0]
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
    """Return the shape of an observation, the number of actions, and the longest game."""
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


def action_names(game: Game, numbers: str) -> str:
    """Return the names of the first and the last action of a range, such as "`a1` to `c3`"."""
    names = [f"`{game.action_names[action]}`" for action in action_numbers(numbers)]
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
    """Return the index with its table of games generated from the registry."""
    headings = ["game", "id", "players", "page"]
    written, count = re.subn(
        r"^\| game \| id \|.*\n(?:\|.*\n)+",
        lambda _: table(headings, index_rows(), text_columns=4) + "\n",
        text,
        flags=re.MULTILINE,
    )
    if count != 1:
        raise ValueError("docs/games/README.md needs one table of games")
    return written


def rows_of(section: str) -> list[Row]:
    """Return the rows of the table in a section, without its heading."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


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
