"""Tables of docs/games, compared with the code.

`ludoteca.evaluate.new_game.pages` writes facts, parameters and names. The texts of other tables
(contents of planes, effects of actions, returns, ends of games) are keys of dictionaries in
`page_planes`, `page_actions` and `page_ends`, whose values compute their meaning from the cells of
the board. For the games of `PROVEN`, a test fails if a text is not listed, or is wrong in a
position of random games. Other games may use these texts, and are then tested, too.
"""

import importlib
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from boards import REPRESENTATIVES
from page_actions import PASSES, RIDES, check_action, check_step, moves_head, named_cells
from page_ends import END_CONDITIONS, RETURN_CONDITIONS
from page_planes import PLANE_MEANINGS
from page_views import View, finals, find_meaning, recorded, views_of

from ludoteca.envs.registry import GAMES, find_factory, make_game
from ludoteca.evaluate.new_game import pages
from ludoteca.evaluate.new_game.pages import (
    action_numbers,
    generated_pages,
    write_index,
    write_tables,
)

pytestmark = pytest.mark.interpreted

PAGES = Path(__file__).parents[2] / "docs" / "games"
NAMES = [factory.partition(":")[2] for factory in GAMES.values()]
all_pages = pytest.mark.parametrize("name", NAMES)
# Games that are played are compiled: most representative games by default, all in the slow tests.
PLAYED = {*REPRESENTATIVES} - {"HungryGeese-v0"}
played_pages = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if id_ in PLAYED else pytest.mark.slow)
        for id_, name in zip(GAMES, NAMES, strict=True)
    ],
)
# Actions and ends that random games rarely reach; the tests of the rules have such positions.
RARE_ACTIONS = {"free_for_all": {"pass, legal when nothing else is"}}
RARE_ENDS = {
    "hungry_geese": {"199 steps have been played"},
    "knight_through": {"a side has no knights"},
}


@cache
def page(name: str) -> str:
    """Return the text of the page of a game."""
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@cache
def tables(name: str) -> dict[str, list[list[str]]]:
    """Return the rows of each table, without the head, by the heading above it."""
    return pages.tables(page(name), name)


def sections(name: str, kind: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the spec and the rows of tables headed "Planes", "Planes of `spec`" and so on."""
    for heading, rows in tables(name).items():
        if heading == kind:
            yield name, rows
        elif match := re.fullmatch(f"{kind} of `(.*)`", heading):
            yield match[1], rows


def test_there_is_a_page_for_each_game_and_the_index_lists_it() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == {*NAMES, "README"}
    for name in NAMES:
        assert f"[{name}.md]({name}.md)" in page("README")


def test_the_tables_are_those_that_the_code_writes() -> None:
    command = "python -m ludoteca.evaluate.new_game.pages"
    for path, text in generated_pages(PAGES):
        assert path.read_text(encoding="utf-8") == text, f"run {command}"


def test_tables_are_written_from_the_game() -> None:
    wrong = page("hex").replace("| players | 2 |", "| players | 3 |").replace("`a11` to", "`a` to")
    wrong = wrong.replace("| `swap` | `False` |", "| `swop` | `True` |")
    assert wrong != page("hex")
    assert write_tables(wrong, "hex") == page("hex")
    index = page("README").replace("| Hex |", "| Hexagons |")
    assert index != page("README")
    assert write_index(index) == page("README")
    with pytest.raises(
        ValueError, match="the page of hex must have <!-- tables --> and <!-- end -->"
    ):
        write_tables("# Hex\n", "hex")


@all_pages
def test_page_has_a_title_an_image_and_all_tables(name: str) -> None:
    game = make_game(name)
    image = f"../images/{name}.png"
    assert page(name).startswith(f"# {game.title}\n\n![{game.title}]({image})\n")
    assert (PAGES / image).is_file()
    expected = [
        "Facts",
        "Parameters",
        "Actions",
        "Planes",
        "Rewards",
        "End",
        "Other parameter values",
    ]
    assert [heading for heading in tables(name) if " of " not in heading] == expected


@all_pages
def test_other_parameters_are_those_of_the_game(name: str) -> None:
    for spec, *_ in tables(name)["Other parameter values"]:
        assert make_game(spec.strip("`")).name == name


@all_pages
def test_action_numbers_and_names(name: str) -> None:
    for spec, rows in sections(name, "Actions"):
        game = make_game(spec)
        assert [a for row in rows for a in action_numbers(row[0])] == list(range(game.num_actions))
        for row in rows:
            actions = action_numbers(row[0])
            if game.layout.moves and row[2] != PASSES:
                check_step(game, actions, row[2])


@played_pages
def test_actions_have_the_effects_on_the_page(name: str) -> None:
    for spec, rows in sections(name, "Actions"):
        game, seen = make_game(spec), set()
        games = 8 if spec == name else 60
        trajectory = recorded(spec, games)
        texts = [row[2] for row in rows for _ in action_numbers(row[0])]
        sample = [
            View(game, trajectory, i, t) for i in range(games) for t in range(trajectory.plies[i])
        ]
        for view in sample[:: 1 + len(sample) // 400]:
            if game.simultaneous:
                for q, action in enumerate(view.action):
                    match = RIDES.fullmatch(texts[action])
                    assert match
                    assert moves_head(view, q, *match.groups())
                    seen.add(texts[action])
            else:
                check_action(view, texts[view.action])
                seen.add(texts[view.action])
        assert seen == set(texts) - RARE_ACTIONS.get(name, set())


def test_action_numbers_of_sheep_and_wolf_follow_the_formula_on_its_page() -> None:
    game = make_game("sheep_and_wolf")
    assert "Action `7 * row + column` moves up" in page("sheep_and_wolf")
    assert "action `49 + 7 * row + column` moves down" in page("sheep_and_wolf")
    for row in range(7):
        for column in range(7):
            square = {(r, c) for r in (row, row + 1) for c in (column, column + 1)}
            up, down = (named_cells(game, k + 7 * row + column) for k in (0, 49))
            assert up == down[::-1]
            assert up[0][0] == row + 1
            assert set(up) < square


@played_pages
def test_planes(name: str) -> None:
    for spec, rows in sections(name, "Planes"):
        game = make_game(spec)
        # Tables of other parameters may list only the planes that differ, which are the last ones.
        last = game.observation_shape[0]
        assert [int(row[0]) for row in rows] == list(range(last - len(rows), last))
        assert len(rows) == last or spec != name
        shown = [
            (int(number), text, find_meaning(PLANE_MEANINGS, text, name)) for number, text in rows
        ]
        for view in views_of(spec, 3 if spec == name else 1):
            seen = np.zeros(game.observation_shape, np.int8)
            game.observe(view.s, view.p, seen)
            for plane, text, expected in shown:
                assert np.array_equal(seen[plane], expected(view)), f"{text}, ply {view.t}"


@played_pages
def test_rewards(name: str) -> None:
    rows = {
        text: (float(Fraction(value.strip("`"))), find_meaning(RETURN_CONDITIONS, text, name))
        for value, text in tables(name)["Rewards"]
    }
    seen = set()
    for view in finals(name):
        for p, reward in enumerate(view.trajectory.returns[view.i, view.t]):
            true = [text for text, (_, holds) in rows.items() if holds(view.of(p))]
            assert len(true) == 1, f"game {view.i}, player {p}, reward {reward}: {true}"
            assert abs(rows[true[0]][0] - reward) < 1e-9, (
                f"game {view.i}, player {p}, reward {reward}"
            )
            seen.add(true[0])
    assert seen == set(rows)


@played_pages
def test_end(name: str) -> None:
    meanings = {text: find_meaning(END_CONDITIONS, text, name) for (text,) in tables(name)["End"]}
    assert recorded(name).plies.max() <= make_game(name).max_plies
    sample = [view for view in views_of(name, 4) if view.p == 0]
    seen = set()
    for view in [*sample, *finals(name)]:
        true = {text for text in meanings if meanings[text](view)}
        assert bool(true) == view.game.is_terminal(view.s), f"game {view.i}, ply {view.t}: {true}"
        seen |= true
    assert seen == set(meanings) - RARE_ENDS.get(name, set())


def test_hungry_geese_ends_after_max_plies_steps() -> None:
    game = make_game("hungry_geese")
    s = game.new(seed=3)
    s.steps = game.max_plies - 2
    with np.errstate(over="ignore"):
        for over in (False, True):
            assert not game.is_terminal(s)
            game.step(s, [0, 0, 0, 0])
            assert game.is_terminal(s) == over
    assert (s.length > 0).sum() > 1


@all_pages
def test_the_module_docstring_of_a_game_draws_its_cell_numbers(name: str) -> None:
    document = importlib.import_module(find_factory(name).__module__).__doc__ or ""
    assert re.search(r"^ {4,}.*\d +\d+ +\d+", document, flags=re.MULTILINE)
