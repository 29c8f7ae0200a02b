"""Tests of the controller of interactive games: clicks, keys and time.

Helpers of `interactive`: `sit` returns the controller of a game with a person in one seat, `do`
plays an action by clicks and keys, `pixel` finds a point of a cell, `settle` waits until a person
is to move.
"""

import threading
import time
from dataclasses import replace

import pytest
from interactive import TIMEOUT, First, Following, Illegal, Throwing, do, pixel, settle, sit

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render.lettering import shorten, wrap
from ludoteca.envs.render.shapes import Circle, Text
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.play.action_picker import ActionPicker, is_on_board
from ludoteca.evaluate.play.controller import GameController
from ludoteca.evaluate.play.screen import Screen
from ludoteca.evaluate.play.session import HUMAN, Session

pytestmark = pytest.mark.interpreted

SEQUENTIAL = [n for n in GAMES if not make_game(n).simultaneous]


class Slow(First):
    """Agent that waits for `may_move`; `asked` has the number of pieces in its positions."""

    def __init__(self, game):
        super().__init__(game)
        self.may_move = threading.Event()
        self.asked = []

    def act(self, states, seats, rngs, env_indices):
        self.asked.append(int((states["board"] >= 0).sum()))
        assert self.may_move.wait(TIMEOUT)
        return super().act(states, seats, rngs, env_indices)


def wait_for(condition):
    """Wait until a condition holds; fail after `TIMEOUT` seconds."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def texts(screen):
    """Return all texts that a screen shows."""
    return [shape.text for shape in screen.draw().shapes if isinstance(shape, Text)]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Run the test in an empty folder, where games are saved, with short error messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def test_pieces_are_moved_by_two_clicks():
    game = make_game("breakthrough")
    picker = ActionPicker(game, game.new(), game.legal(game.new()))
    moves = game.layout.moves  # (start cell, end cell) of each action
    action = game.action_names.index("b2-c3")
    start, end = (divmod(cell, 6) for cell in moves[action])
    movable = picker.targets()
    assert len(movable) == 6  # the pieces of the front row
    assert picker.click(*end) is None
    assert picker.selected is None  # the cell has no own piece
    assert picker.click(*start) is None
    assert picker.selected == moves[action][0]
    assert len(picker.targets()) == 3
    assert picker.click(*start) is None
    assert picker.selected is None  # a second click puts the piece down
    picker.click(*divmod(next(cell for cell in movable if cell != moves[action][0]), 6))
    picker.click(*start)  # another piece instead
    assert picker.selected == moves[action][0]
    assert picker.click(0, 0) is None
    assert picker.selected is None
    picker.click(*start)
    assert picker.click(*end) == action


def test_ambiguous_moves_offer_a_choice():
    tictactoe = make_game("tictactoe")
    moves = ((0, 4), (0, 4), (0, 5), *(((6, 7),) * 6))
    # Tic-tac-toe with actions that move pieces between cells: actions 0 and 1 are the same move.
    game = replace(tictactoe, layout=replace(tictactoe.layout, cell_actions=False, moves=moves))
    controller = GameController(Session(game, (HUMAN, HUMAN)), {})
    screen = Screen(controller)
    screen.click(*pixel(screen, 0))
    assert controller.picker.targets() == (4, 5)
    screen.click(*pixel(screen, 4))
    assert controller.picker.options == (0, 1)
    assert "which move?" in texts(screen)
    areas = {area.key: area for area in screen.areas}
    assert {"1", "2"} < set(areas)
    controller.key("3")  # there are only two options
    assert controller.session.actions == []
    screen.click(areas["2"].x + 1, areas["2"].y + 1)
    assert controller.session.actions == [1]


def test_columns_accept_clicks_anywhere_and_mark_the_landing_cell():
    controller = sit("connect4")
    screen = Screen(controller)
    assert controller.picker.targets() == tuple(range(35, 42))
    screen.click(*pixel(screen, 3))
    settle(controller)
    assert controller.session.actions == [3, 0]
    assert controller.picker.targets() == (28, 36, 37, 31, 39, 40, 41)


def test_other_actions_are_buttons_with_keys():
    game = make_game("hex:board_size=2,swap=True")
    session = Session(game, (HUMAN, HUMAN))
    session.play(0)
    picker = ActionPicker(game, session.current, session.legal())
    assert picker.buttons() == (4,)
    assert picker.keys() == {"w": 4}  # not "s", the key that saves
    othello = make_game("othello")
    assert ActionPicker(othello, othello.new(), [64]).keys() == {"p": 64}


@pytest.mark.parametrize("name", SEQUENTIAL)
@pytest.mark.parametrize("human", [0, 1])
def test_a_move_and_an_undo_in_every_game(name, human):
    controller = settle(sit(name, human=human))
    screen = Screen(controller)
    session = controller.session
    assert len(session.actions) == human
    before = session.current.tobytes()
    targets = set(controller.picker.targets())
    assert targets or controller.picker.buttons()
    circles = [shape for shape in screen.draw().shapes if isinstance(shape, Circle)]
    assert len(circles) >= len(targets)
    action = session.legal()[-1] if is_on_board(session.game, session.legal()[-1]) else 0
    action = action if action in session.legal() else session.legal()[0]
    do(screen, action)
    settle(controller)
    assert session.actions[human] == action
    assert session.game.player(session.current) == human  # the agent has moved, if it was to move
    assert len(session.actions) > human
    controller.key("u")
    assert len(session.actions) == human
    assert session.current.tobytes() == before
    assert set(controller.picker.targets()) == targets


def test_clicks_beside_the_board_or_out_of_turn_do_nothing():
    game = make_game("tictactoe")
    agent = Slow(game)
    controller = sit(game, agent)
    screen = Screen(controller)
    screen.click(1, 1)
    controller.key("f12")
    assert controller.session.actions == []
    do(screen, 0)
    wait_for(lambda: controller.tick() or agent.asked)
    screen.click(*pixel(screen, 5))
    assert controller.session.actions == [0]
    agent.may_move.set()
    settle(controller)
    screen.click(*pixel(screen, 0))  # an occupied cell
    assert controller.session.actions == [0, 1]


def test_the_window_stays_alive_while_an_agent_thinks():
    game = make_game("tictactoe")
    agent = Slow(game)
    controller = sit(game, agent)
    screen = Screen(controller)
    do(screen, 4)
    start = time.monotonic()
    for _ in range(5):
        controller.tick()
        assert any(text.startswith("O is thinking") for text in texts(screen))
    assert time.monotonic() - start < 5
    controller.key("u")  # while it thinks
    assert controller.session.actions == []
    do(screen, 8)
    wait_for(lambda: controller.tick() or agent.asked)
    agent.may_move.set()
    settle(controller)
    assert controller.session.actions == [8, 0]  # the move before the undo was dropped


def test_analysis_is_shown_before_the_move():
    controller = sit(
        "tictactoe", make_agent("mcts:simulations=50", make_game("tictactoe")), move_delay=60
    )
    controller.key("v")
    screen = Screen(controller)
    do(screen, 4)
    wait_for(lambda: controller.tick() and controller.analysis is not None)
    shown = texts(screen)
    assert len(controller.session.actions) == 1
    assert any(text.startswith("O plays") for text in shown)
    assert "expected score" in shown
    assert sum(text.endswith(" %") for text in shown) == 6
    assert any(text.startswith("50 simulations") for text in shown)


def test_hints_and_values_are_for_the_human_to_move():
    game = make_game("tictactoe")
    controller = sit(game, adviser=make_agent("mcts:simulations=400", game))
    controller.session.play_named(["a1", "a2", "b2", "b1"])
    controller.key("h")
    settle(controller)
    screen = Screen(controller)
    assert controller.session.game.action_names[controller.advice.action] == "c3"
    assert "hint: c3" in texts(screen)
    num_shapes = len(screen.draw().shapes)
    controller.key("v")
    assert len(screen.draw().shapes) > num_shapes
    do(screen, 8)
    assert controller.advice is None
    assert not controller.show_hint
    assert any("X wins: you win" in text for text in texts(screen))
    controller.key("h")
    assert controller.note == "no hint: it is not your turn"


def test_failing_adviser_does_not_end_the_game():
    game = make_game("tictactoe")
    controller = sit(game, adviser=Throwing(game))
    controller.key("h")
    settle(controller)
    assert controller.failure is None
    assert controller.note == "adviser failed: RuntimeError: out of memory"
    do(Screen(controller), 4)
    settle(controller)
    assert len(controller.session.actions) == 2


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (
            Illegal,
            "agent failed: it chose action 0, which is illegal: the legal actions are [1, 2, 3",
        ),
        (Throwing, "agent failed: RuntimeError: out of memory"),
    ],
)
def test_failing_agent_ends_the_game_but_it_can_be_saved(agent, reason, tmp_path):
    game = make_game("tictactoe")
    controller = sit(game, agent(game))
    screen = Screen(controller)
    do(screen, 0)
    settle(controller)
    assert str(controller.failure).startswith(reason)
    assert set(controller.commands()) == {"s", "q"}
    screen.click(*pixel(screen, 5))
    controller.key("u")
    assert controller.session.actions == [0]
    assert not controller.tick()
    controller.key("s")
    assert controller.note.startswith("saved: tictactoe_")
    (file,) = tmp_path.iterdir()
    replay = Replay.load(file)
    assert (replay.actions, replay.returns, replay.players) == ([0], None, (HUMAN, "agent"))


def test_failed_save_shows_a_message(tmp_path):
    (tmp_path / "file").write_text("")
    controller = sit("tictactoe", file=tmp_path / "file" / "game.json")
    controller.key("s")
    assert controller.note.startswith("not saved: ")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_new_games_have_new_seeds_and_agents_forget():
    game = make_game("connect4")
    agent = Following(game)
    controller = sit(game, agent)
    for _ in range(3):
        do(Screen(controller), 3)
        settle(controller)
    controller.key("n")
    assert (controller.session.seed, controller.session.actions, controller.analysis) == (
        1,
        [],
        None,
    )
    do(Screen(controller), 3)
    settle(controller)
    assert (agent.discs, agent.starts) == (1, 1)


def test_games_between_agents_can_be_paused():
    game = make_game("tictactoe")
    session = Session(game, ("one", "two"))
    controller = GameController(session, {0: First(game), 1: First(game)}, move_delay=0)
    wait_for(lambda: controller.tick() and len(session.actions) == 3)
    assert controller.picker.targets() == ()
    controller.key("u")
    assert len(session.actions) == 2
    assert controller.paused
    assert not controller.tick()
    assert "paused" in texts(Screen(controller))
    controller.key("space")
    wait_for(lambda: controller.tick() and session.is_over)
    assert "X wins" in texts(Screen(controller))


def test_long_texts_are_shortened_and_wrapped():
    assert shorten("short", 10, 100) == "short"
    assert shorten("much too long for this", 10, 60) == "much too.."
    assert wrap("one two three", 10, 50) == ["one two", "three"]
    assert wrap("x" * 20, 10, 57) == ["x" * 10, "x" * 10]
    assert wrap("", 10, 56) == []
