"""Tests of boards in notebooks: messages, the widget, and its page in a browser."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from arena_browser import chromium

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.notebook import NotebookGame, play_board

pytestmark = pytest.mark.interpreted

SCRIPT = Path(sys.modules[NotebookGame.__module__].__file__).with_name("widget.js")
SMALL = "connect4:rows=4,columns=4,connect=3"
# Page with the board and a model in place of that of anywidget; `window.script`, `values` and
# `send` call Python.
PAGE = """
<meta charset="utf-8"><div id="board"></div>
<script type="module">
const script = await window.script();
const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
const { default: widget } = await import(url);
const values = await window.values();
const listeners = new Set();
const model = {
  get: (name) => values[name],
  on: (_, listener) => listeners.add(listener),
  off: (_, listener) => listeners.delete(listener),
  send: async (message) => {
    values.position = await window.send(message);
    listeners.forEach((listener) => listener());
  },
};
window.close = widget.render({ model, el: document.getElementById("board") });
window.listeners = listeners;
</script>
"""


def do(game, kind, **more):
    """Send a message to a game, let its agents move, and return the position."""
    game.receive({"type": kind, **more})
    game.let_agents_move()
    return game.position()


def test_clicks_play_and_the_agent_answers():
    game = NotebookGame(SMALL, ("human", "greedy"))
    assert game.position()["targets"] == [12, 13, 14, 15]  # the bottom row, where discs land
    assert do(game, "click", cell=1)["ply"] == 2
    assert game.session.actions[0] == 1
    assert do(game, "undo")["ply"] == 0
    assert not game.position()["can_undo"]
    assert do(game, "play", action=3)["ply"] == 2
    assert do(game, "restart")["ply"] == 0
    assert game.session.seed == 1
    game.play("1")
    assert len(game.session.actions) == 2


def test_an_agent_in_the_first_seat_moves_first():
    game = NotebookGame(SMALL, ("random", "human"))
    shown = []
    game.let_agents_move(lambda: shown.append(game.position()))
    assert [(view["ply"], view["note"]) for view in shown] == [(0, "random is thinking"), (1, "")]
    assert game.session.waits_for_human


def test_pieces_are_moved_by_two_clicks():
    game = NotebookGame("breakthrough", ("human", "human"))
    start, end = game.session.game.layout.moves[game.session.legal()[0]]
    position = do(game, "click", cell=start)
    assert (position["ply"], position["selected"]) == (0, start)
    assert end in position["targets"]
    assert do(game, "click", cell=end)["ply"] == 1


def test_passes_and_swaps_are_buttons():
    game = NotebookGame("hex:board_size=3,swap=True", ("human", "human"))
    assert do(game, "click", cell=4)["buttons"] == [[9, "swap"]]
    assert do(game, "play", action=9)["ply"] == 2


@pytest.mark.parametrize(
    ("message", "note"),
    [
        ("play", "expected a JSON object, got 'play'"),
        ({"type": "fly"}, "unknown message 'fly'"),
        ({"type": "click", "cell": 16}, "cell must be an integer from 0 to 15, got 16"),
        ({"type": "click"}, "cell must be"),
        ({"type": "play", "action": 9}, "action 9 is not legal here"),
        ({"type": "play", "action": "1"}, "action must be"),
    ],
)
def test_invalid_messages_are_shown_as_notes(message, note):
    game = NotebookGame(SMALL, ("human", "random"))
    game.receive(message)
    position = game.position()
    assert position["note"].startswith(note)
    assert position["ply"] == 0


def test_finished_games_take_no_clicks():
    game = NotebookGame(SMALL, ("human", "human"))
    for column in (0, 1, 0, 1, 0):
        position = do(game, "click", cell=column)
    assert position["over"]
    assert position["targets"] == position["buttons"] == []
    assert do(game, "click", cell=2)["note"] == "the game is over"


def test_failed_agents_are_shown_as_notes(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text(
        "from ludoteca.agents.baselines import RandomAgent\n"
        "class Broken(RandomAgent):\n"
        "    def act(self, states, seats, rngs, env_indices):\n"
        "        if len(states) > 0:\n"
        "            raise RuntimeError('no memory')\n"
    )
    game = NotebookGame(SMALL, ("human", f"{file}:Broken"))
    assert "no memory" in do(game, "click", cell=0)["note"]
    assert do(game, "click", cell=0)["note"] == "an agent is to move"
    assert do(game, "undo")["note"] == ""


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="hungry_geese is simultaneous"):
        play_board("hungry_geese", ("human",) * 4)
    with pytest.raises(ValueError, match="players must include 'human', got random, random"):
        play_board(SMALL, ("random", "random"))
    with pytest.raises(ValueError, match="has 2 players, got 1"):
        play_board(SMALL, ("human",))


def test_board_is_a_picture_without_anywidget(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "ludoteca.evaluate.notebook.widget", raising=False)
    board = play_board(SMALL, ("random", "human"))
    assert isinstance(board, NotebookGame)
    assert len(board.session.actions) == 1
    before = board._repr_svg_()
    board.play("2")
    assert ElementTree.fromstring(board._repr_svg_()).tag.endswith("svg")
    assert board._repr_svg_() != before


def test_widget_follows_the_game():
    pytest.importorskip("anywidget", reason="needs anywidget: the extra `notebook`")
    widget = play_board(SMALL, ("human", "random"))
    seen = []
    widget.observe(lambda change: seen.append(change["new"]["ply"]), "position")
    widget._handle_custom_msg({"type": "click", "cell": 2}, [])
    # Plies after the person's move, while the agent thinks, and after the agent's move.
    assert seen == [1, 1, 2]
    assert widget.board["title"] == "Connect Four"
    assert widget.game.session.actions[0] == 2
    assert "render" in widget._esm


@pytest.mark.slow
def test_page_shows_the_board_and_sends_clicks():
    path = chromium()
    from playwright.sync_api import sync_playwright

    game, problems = NotebookGame(make_game("othello"), ("human", "human")), []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.expose_function("script", lambda: SCRIPT.read_text(encoding="utf-8"))
        page.expose_function("values", lambda: {"board": game.board(), "position": game.position()})
        page.expose_function(
            "send", lambda message: do(game, **{"kind": message.pop("type")}, **message)
        )
        page.set_content(PAGE)
        page.wait_for_selector(".ludoteca-target")
        assert page.locator(".ludoteca-target").count() == 4
        page.get_by_role("button", name="d3, empty").click()
        page.wait_for_function("document.querySelectorAll('.ludoteca-target').length == 3")
        assert game.session.actions == [game.session.game.action_names.index("d3")]
        assert page.get_by_role("status").inner_text() == game.position()["status"]
        page.get_by_role("button", name="c3, empty").press("Enter")
        page.wait_for_function("document.querySelector('[aria-label=\"c3, white\"]')")
        page.get_by_role("button", name="undo").click()
        page.wait_for_function("document.querySelector('[aria-label=\"c3, empty\"]')")
        assert len(game.session.actions) == 1
        page.evaluate("window.close()")
        assert page.evaluate("window.listeners.size") == 0
        browser.close()
    assert problems == []
