"""Tests of the display of boards, replays and tables in notebooks."""

import copy
import pickle
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from boards import small_game

from ludoteca.agents.games.endgame import solve_endgame
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.decoupled_search import DecoupledSearchResult
from ludoteca.agents.search.network.search import SearchResult
from ludoteca.agents.search.report import SearchReport
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.game import Game
from ludoteca.envs.position import Position
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render import render, scene
from ludoteca.envs.render.__main__ import middle_position
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_table import match_text
from ludoteca.evaluate.solve import solve
from ludoteca.evaluate.tournament.results import Results
from ludoteca.html_table import html_table

pytestmark = pytest.mark.interpreted
every_game = pytest.mark.parametrize("name", list(GAMES))


class Table(HTMLParser):
    """Parser of HTML tables: checks that tags are balanced and collects the cells by row."""

    def __init__(self, html: str):
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in ("script", "style", "link", "iframe")
        assert not {"src", "href", "onclick"} & {name for name, _ in attrs}
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif data.strip():
            self.text.append(data)


def svg_root(text: str) -> ElementTree.Element:
    """Return the root of an SVG picture, which must not load anything."""
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "href" not in text
    return root


def random_replay(game: Game, players: tuple[str, ...] = ()) -> Replay:
    """Return a game of random legal moves."""
    game_batch = GameBatch(game, 1, record=True)
    game_batch.reset([7])
    rng = np.random.default_rng(7)
    while not game_batch.episode_states["over"][0]:
        noise = rng.random(game_batch.masks.shape) + 0.01  # above that of masked actions, 0
        game_batch.step((noise * game_batch.masks).argmax(2).astype(np.int64))
    return Replay.from_batch(game_batch, 0, players)


@every_game
def test_games_and_positions_are_drawn(name: str) -> None:
    game = small_game(name)
    s, _ = middle_position(game)
    position = np.array([s], game.state).view(game.position_dtype)[0]
    assert isinstance(position, Position)
    svg_root(position._repr_svg_())
    assert position._repr_svg_() == render(game, s, "svg") == scene(game, s)._repr_svg_()
    assert game._repr_svg_() == render(game, game.new(), "svg") != position._repr_svg_()


@every_game
def test_positions_remain_records_of_their_game(name: str) -> None:
    game = make_game(name)
    s = game.new(3)
    assert s.dtype == game.state
    for other in (s.copy(), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert type(other) is type(s)
        assert other == s
    before = s.copy()
    other = s.copy()
    actions = game.legal(s, 0) if game.simultaneous else game.legal(s)
    move: Any = np.full(game.num_players, actions[0]) if game.simultaneous else actions[0]
    with np.errstate(over="ignore"):
        game.step(other, move)
    assert s == before != other
    with pytest.raises(AttributeError):
        s.no_such_field = 1


@every_game
def test_replays_are_animated(name: str) -> None:
    game = small_game(name)
    replay = random_replay(game, tuple(f"<agent {p}> & co" for p in range(game.num_players)))
    root = svg_root(replay._repr_svg_())
    frames = [node for node in root if node.find("{http://www.w3.org/2000/svg}animate") is not None]
    assert len(frames) == len(replay.actions) + 1


def test_a_match_is_a_table_with_the_numbers_of_its_text() -> None:
    result = play_match("tictactoe", ["random", "random"], 10, seed=1)
    table = Table(result._repr_html_())
    assert table.rows[0] == ["agent", "seat", "games", "wins", "draws", "losses", "win %", "score"]
    assert [row[0] for row in table.rows[1:]] == ["random #1", "", "", "random #2", "", ""]
    assert table.rows[1][3] == str(result.totals[0].wins)
    text = match_text(result, 10**6)
    for row in table.rows[1:]:
        assert any(line.split()[:5] == row[1:6] for line in text.splitlines())
    for line in table.text:
        assert line in text
    geese = play_match("hungry_geese", ["random"] * 4, 2, seed=1)
    assert Table(geese._repr_html_()).rows[0][-1] == "rank"


@pytest.mark.parametrize("name", ["tictactoe", "tron:rows=5,columns=5"])
def test_a_search_is_a_table_of_its_moves(name: str) -> None:
    game = make_game(name)
    report = make_agent("mcts:simulations=40", game).search(game.new())
    assert isinstance(report, SearchReport)
    html = report._repr_html_()
    tables = Table(html)
    named = {moves.name: moves for moves in report.candidates}
    rows = [row for row in tables.rows if row[0] in named]
    assert len(rows) >= min(len(named), 10)
    assert html.count("font-weight:bold") == len(rows[0])  # the cells of the chosen move
    assert any(f"best move {report.name}" in line for line in tables.text)
    visits = {row[0]: int(row[1].replace(",", "")) for row in tables.rows[1 : len(named) + 1]}
    assert visits[report.name] == named[report.name].visits


def test_batched_searches_are_tables() -> None:
    counts = np.arange(30 * 3, dtype=np.int32).reshape(30, 3)
    result = SearchResult(
        counts,
        (counts / counts.sum(1, keepdims=True)).astype(np.float32),
        np.full((30, 3), 0.25, np.float32),
        np.full(30, -0.5, np.float32),
        np.full(30, 2),
    )
    table = Table(result._repr_html_())
    assert len(table.rows) == 21  # a heading and 20 of 30 searches
    # Search 1 has the visits 3, 4 and 5.
    assert table.rows[2] == ["1", "2", "-0.500", "+0.250", "5", "12", "41.7%"]
    assert "10 more searches" in table.text
    visits = np.array([[[1, 3], [0, 0]]], np.int32)
    decoupled = DecoupledSearchResult(visits, np.full((1, 2, 2), 0.5), np.full((1, 2, 2), 0.5))
    rows = Table(decoupled._repr_html_()).rows[1:]
    assert rows == [["0", "0", "1", "+0.500", "50.0%", "3", "4"], ["0", "1", *["-"] * 5]]


def test_solutions_are_tables() -> None:
    game = make_game("connect4:rows=3,columns=3,connect=3")
    solution = solve(game)
    rows = Table(solution._repr_html_()).rows[1:]
    assert {move: float(row[0]) for row in rows for move in row[1].split()} == solution.actions
    exact = solve_endgame(game, game.new())
    assert Table(exact._repr_html_()).rows[1:] == [[exact.name, f"{exact.score:+d}"]]


def test_a_tournament_is_the_table_of_its_text() -> None:
    names = ["<a>", "b"]
    tournament: Any = SimpleNamespace(
        games=["tictactoe"],
        names=names,
        agents=names,
        pairs=[(0, 1)],
        repeats=1,
        draws="half",
        total_games=4,
        games_per_match=4,
        games_per_pair=4,
        seed=5,
    )
    outcomes = np.array([1, 1, 0, 1], np.int8).reshape(1, 1, 1, 4)
    # 3 wins and a draw of agent 0.
    results = Results(tournament, outcomes, np.ones((1, 1)), np.ones(1))
    table = Table(results._repr_html_())
    assert [row[0] for row in table.rows] == ["agent", "<a>", "b"]
    assert table.rows[1][1:3] == ["3.5", "87.5"]
    assert table.text[0] == "4 games, seed 5"


def test_texts_of_tables_are_escaped() -> None:
    html = html_table(["<a>"], [["<script>"]], title="&", notes=["<b>"])
    assert "<script>" not in html
    table = Table(html)
    assert table.rows == [["<a>"], ["<script>"]]
    assert table.text == ["&", "<b>"]
    with pytest.raises(ValueError, match="expected 1 cells, got 2"):
        html_table(["a"], [["b", "c"]])
