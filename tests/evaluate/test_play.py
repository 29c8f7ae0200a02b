"""People against agents: sessions, clicks, windows and the terminal."""

import io
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ludoteca.__main__ import main
from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.report import Candidate, SearchReport
from ludoteca.envs.games.bitboards import bit
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render.geometry import geometry
from ludoteca.envs.render.lettering import fit, wrap
from ludoteca.envs.render.shapes import Circle, Text
from ludoteca.envs.render.window import BoardWindow
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.cli import play as command
from ludoteca.evaluate.play import window
from ludoteca.evaluate.play.action_picker import ActionPicker, is_on_board
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.analysis import MoveAnalysis, think
from ludoteca.evaluate.play.controller import GameController
from ludoteca.evaluate.play.heat_map import heat_map
from ludoteca.evaluate.play.screen import Screen
from ludoteca.evaluate.play.session import HUMAN, Session, find_action
from ludoteca.evaluate.play.terminal import Terminal

SEQUENTIAL = [name for name in GAMES if not make_game(name).simultaneous]
# One game for each kind of input: cells, columns, pieces that move, and actions that are no cells.
KINDS = [
    "tictactoe",
    "connect4:rows=4,columns=4,connect=3",
    "sheep_and_wolf:board_size=4",
    "free_for_all:board_size=3,plies=6",
    "hex:board_size=2,swap=True",
    "othello:board_size=4",
]
PATIENCE = 60  # seconds


class First(Agent):
    """Plays the first legal action."""

    def act(self, states, seats, rngs, env_indices):
        return np.array([self.game.legal(s)[0] for s in states.view(np.recarray)])


class Illegal(Agent):
    """Plays action 0 whether it is legal or not."""

    def act(self, states, seats, rngs, env_indices):
        return np.zeros(len(states), np.int64)


class Throwing(Agent):
    """Cannot play."""

    def act(self, states, seats, rngs, env_indices):
        raise RuntimeError("out of\nmemory")


class Slow(First):
    """Waits for permission to move; records its positions."""

    def __init__(self, game):
        super().__init__(game)
        self.may_move = threading.Event()
        self.asked = []

    def act(self, states, seats, rngs, env_indices):
        self.asked.append(int((states["board"] >= 0).sum()))
        assert self.may_move.wait(PATIENCE)
        return super().act(states, seats, rngs, env_indices)


class Following(First):
    """Has to be asked about every own turn of a game, like OpenSpiel's search."""

    def __init__(self, game):
        super().__init__(game)
        self.discs = self.starts = 0

    def reset(self, env_indices):
        self.discs = 0
        self.starts += 1

    def act(self, states, seats, rngs, env_indices):
        discs = int((states["board"] >= 0).sum())
        if not 0 <= discs - self.discs <= 2:
            raise ValueError(f"{discs} discs after {self.discs}")
        self.discs = discs
        return super().act(states, seats, rngs, env_indices)


def sit(game, agent=None, human=0, adviser=None, **options):
    """Return a controller with a human in one seat and an agent in the other."""
    game = make_game(game) if isinstance(game, str) else game
    agent = agent or First(game)
    players = ["agent", "agent"]
    players[human] = HUMAN
    session = Session(game, players)
    adviser = None if adviser is None else ("adviser", adviser)
    return GameController(session, {1 - human: agent}, adviser, **{"pause": 0} | options)


def settle(controller):
    """Let time pass until a human is to move or nothing more happens."""
    end = time.monotonic() + PATIENCE
    while not controller.is_settled:
        assert time.monotonic() < end
        controller.tick()
        time.sleep(0.001)
    return controller


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def pixel(screen, cell):
    """Return a pixel of a cell, `row * columns + column`, off its center."""
    picture = screen.draw()
    layout = screen.controller.session.game.layout
    place = geometry(layout)
    x, y = place.center(*divmod(cell, layout.columns))
    above = (picture.height - (place.height + 30)) // 2
    return int(x + 0.3 * place.cell), int(y + above - 0.2 * place.cell)


def inputs(screen, action):
    """Yield what a user clicks or presses for an action, one at a time."""
    session = screen.controller.session
    layout = session.game.layout
    if not is_on_board(session.game, action):
        screen.draw()
        key = next(k for k, a in screen.controller.picker.keys().items() if a == action)
        area = next(area for area in screen.areas if area.key == key)
        yield key if session.mover else (int(area.x + 5), int(area.y + 5))
    elif layout.column_actions:
        yield pixel(screen, layout.columns + action)  # anywhere in the column
    elif layout.cell_actions:
        yield pixel(screen, action)
    else:
        for cell in layout.moves[action]:
            yield pixel(screen, cell)


def do(screen, action):
    """Play an action by clicks and keys."""
    for one in inputs(screen, action):
        if isinstance(one, str):
            screen.controller.key(one)
        else:
            screen.click(*one)


def texts(screen):
    return [shape.text for shape in screen.draw().shapes if isinstance(shape, Text)]


@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    from ludoteca.envs.render.window import _pygame

    module = _pygame()
    yield module
    module.display.quit()


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


# A session


def test_undo_goes_back_to_the_humans_last_decision():
    session = Session(make_game("tictactoe"), (HUMAN, "agent"))
    assert not session.undo()
    session.play_named(["a1", "b2"])
    assert session.undo()
    assert session.actions == []
    session.play_named(["a1", "b2", "c3"])  # the agent has not answered
    assert session.undo()
    assert session.actions == [0, 4]
    session = Session(make_game("tictactoe"), ("agent", HUMAN))
    session.play_named(["a1"])
    assert not session.undo()  # the human has not moved yet
    session = Session(make_game("tictactoe"), ("agent", "agent"))
    session.play_named(["a1", "b2"])
    assert session.undo()
    assert session.actions == [0]


def test_undo_after_the_end_resumes_from_the_same_position():
    session = Session(make_game("tictactoe"), (HUMAN, "agent"))
    session.play_named(["a1", "a2", "b1", "b2", "c1"])
    assert session.is_over
    assert session.mover is None
    assert session.legal() == []
    assert session.undo()
    assert (session.is_over, session.mover) == (False, 0)
    assert session.replay().returns is None
    session.play_named(["c1"])
    assert session.replay().returns == (1, -1)


def test_illegal_moves_are_refused():
    session = Session(make_game("tictactoe"), (HUMAN, HUMAN))
    session.play(4)
    with pytest.raises(ValueError, match=r"action 4 is illegal after \[4\]: legal are \[0, 1"):
        session.play(4)
    with pytest.raises(ValueError, match="b2 is illegal here"):
        session.play_named(["b2"])
    with pytest.raises(ValueError, match="no move 'z9' in tictactoe; moves look like a1, b2, c3"):
        session.play_named(["z9"])
    assert find_action(session.game, "C3", session.legal()) == 8


def test_sessions_refuse_invalid_games():
    with pytest.raises(ValueError, match="tron is simultaneous"):
        Session(make_game("tron"), (HUMAN, "agent"))
    with pytest.raises(ValueError, match="has 2 players, got 1"):
        Session(make_game("hex"), (HUMAN,))
    with pytest.raises(ValueError, match="a seed must be"):
        Session(make_game("hex"), (HUMAN, HUMAN), -1)


def test_a_game_taken_back_goes_the_same_way():
    session = Session(make_game("tictactoe"), (HUMAN, "random"), seed=3)
    agent = make_agent("random", session.game)
    session.play(4)
    first = think(agent, "random", session)
    session.play(first.action)
    session.undo()
    session.play(4)
    assert think(agent, "random", session).action == first.action
    assert session.rng() != session.rng(0)


# What agents find


def test_analysis_of_a_search_has_visit_shares_and_score():
    session = Session(make_game("tictactoe"), (HUMAN, "mcts"))
    session.play_named(["b2", "a1", "c1"])  # a3 must be stopped
    found = think(make_agent("mcts:simulations=400", session.game), "mcts", session)
    assert session.game.action_names[found.action] == "a3"
    assert (found.ply, found.seat, found.simulations) == (3, 1, 400)
    assert np.nansum(found.shares) == pytest.approx(1)
    assert np.isfinite(found.shares).tolist() == [a in session.legal() for a in range(9)]
    assert 0 <= found.score <= 1
    assert found.best(2)[0] == found.action == np.nanargmax(found.weights)
    session.play_named(["b1", "a3"])
    assert session.is_over


def test_reused_trees_are_found_again():
    session = Session(make_game("tictactoe"), (HUMAN, "mcts"))
    agent = make_agent("mcts:simulations=200,reuse=True", session.game)
    session.play(4)
    session.play(think(agent, "mcts", session).action)
    session.play(session.legal()[0])
    assert think(agent, "mcts", session).simulations > 200


def test_values_of_networks_and_heuristics_are_shown():
    session = Session(make_game("hex:board_size=3,swap=True"), (HUMAN, "heuristic"))
    session.play_named(["b2"])
    found = think(make_agent("heuristic", session.game), "heuristic", session)
    assert found.shares is None
    assert np.isnan(found.values[4])  # where a stone is
    assert np.isnan(found.values[9])  # a swap, which is no cell
    assert found.score == pytest.approx((np.nanmax(found.values) + 1) / 2)
    heat = heat_map(session.game, session.present, found, None)
    assert np.isfinite(heat.values).sum() == 8
    assert heat.labels == {}


def test_proven_results_replace_means():
    session = Session(make_game("tictactoe"), (HUMAN, "mcts"))
    candidates = (Candidate(4, "b2", 3, 0.9, ""), Candidate(0, "a1", 1, 0.7, "win"))
    report = SearchReport(0, "a1", 4, 0.5, 9, candidates, ("a1",), "win")
    agent = First(session.game)
    agent.search = lambda s, rng: report
    found = think(agent, "mcts", session)
    assert (found.score, found.proven) == (1, "win")
    assert found.values[[4, 0]].tolist() == [0.9, 1]
    assert found.shares[[4, 0]].tolist() == [0.75, 0.25]
    # A position may be solved without any simulation.
    report = replace(report, candidates=(Candidate(0, "a1", 0, 1.0, "win"),), simulations=0)
    found = think(agent, "mcts", session)
    assert (found.shares, found.score, found.best(3)) == (None, 1, [0])


def test_exact_endgames_have_disc_differences():
    session = Session(make_game("othello:board_size=4"), (HUMAN, "mcts"))
    found = think(make_agent("mcts:solver_empties=12", session.game), "mcts", session)
    assert (found.proven, found.exact) == ("loss", -10)  # the second player wins by ten discs
    assert "proven loss; exact score -10" in Terminal(session, {})._describe(found)


def test_agents_without_values_only_move():
    session = Session(make_game("tictactoe"), (HUMAN, "first"))
    found = think(First(session.game), "first", session)
    assert (found.action, found.weights, found.score, found.best(3)) == (0, None, None, [])


def test_heat_is_shown_where_a_player_clicks():
    game = make_game("breakthrough")
    s = game.new()
    shares = np.full(game.num_actions, np.nan)
    forward, capture = (game.action_names.index(name) for name in ("a2-a3", "a2-b3"))
    shares[forward], shares[capture] = 0.25, 0.5
    analysis = MoveAnalysis("mcts", 0, 0, capture, shares, shares)
    start = game.layout.moves[forward][0]
    assert heat_map(game, s, analysis, None).labels == {start: "0.75"}
    heat = heat_map(game, s, analysis, start)
    assert heat.labels == {}
    assert sorted(heat.values[np.isfinite(heat.values)]) == [0.25, 0.5]
    assert heat.covers(game.layout.moves[capture][1])
    s.pieces[1] |= bit(3, 1)  # something to capture on b3
    assert heat_map(game, s, analysis, start).labels == {game.layout.moves[capture][1]: "0.50"}
    best = MoveAnalysis("dqn", 0, 0, capture, None, shares)  # values are not added up
    assert heat_map(game, s, best, None).labels == {start: "0.50"}
    tiny = MoveAnalysis("mcts", 0, 0, capture, shares / 1000, shares)
    assert not np.isfinite(heat_map(game, s, tiny, None).values).any()


def test_agents_that_follow_games_catch_up_after_an_undo():
    controller = sit("connect4", Following(make_game("connect4")))
    for column in (3, 3, 3):
        do(Screen(controller), column)
        settle(controller)
    controller.key("u")
    controller.key("u")
    do(Screen(controller), 5)
    settle(controller)
    assert controller.failure is None
    assert controller.session.actions == [3, 0, 5, 0]


# Clicks


def test_pieces_are_moved_by_two_clicks():
    game = make_game("breakthrough")
    picker = ActionPicker(game, game.new(), game.legal(game.new()))
    names = game.layout.moves
    action = game.action_names.index("b2-c3")
    start, end = (divmod(cell, 6) for cell in names[action])
    front = picker.targets()
    assert len(front) == 6  # the front row
    assert picker.click(*end) is None
    assert picker.selected is None  # nothing of one's own stands there
    assert picker.click(*start) is None
    assert picker.selected == names[action][0]
    assert len(picker.targets()) == 3
    assert picker.click(*start) is None
    assert picker.selected is None  # put down again
    picker.click(*divmod(next(cell for cell in front if cell != names[action][0]), 6))
    picker.click(*start)  # another piece instead
    assert picker.selected == names[action][0]
    assert picker.click(0, 0) is None
    assert picker.selected is None
    picker.click(*start)
    assert picker.click(*end) == action


def test_moves_between_the_same_cells_are_asked_about():
    plain = make_game("tictactoe")
    moves = ((0, 4), (0, 4), (0, 5), *(((6, 7),) * 6))
    game = replace(plain, layout=replace(plain.layout, cell_actions=False, moves=moves))
    controller = GameController(Session(game, (HUMAN, HUMAN)), {})
    screen = Screen(controller)
    screen.click(*pixel(screen, 0))
    assert controller.picker.targets() == (4, 5)
    screen.click(*pixel(screen, 4))
    assert controller.picker.options == (0, 1)
    assert "which move?" in texts(screen)
    areas = {area.key: area for area in screen.areas}
    assert {"1", "2"} < set(areas)
    controller.key("3")  # there is no third
    assert controller.session.actions == []
    screen.click(areas["2"].x + 1, areas["2"].y + 1)
    assert controller.session.actions == [1]


def test_columns_are_clicked_anywhere_and_dots_are_where_discs_land():
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
    picker = ActionPicker(game, session.present, session.legal())
    assert picker.buttons() == (4,)
    assert picker.keys() == {"w": 4}  # s saves
    othello = make_game("othello")
    assert ActionPicker(othello, othello.new(), [64]).keys() == {"p": 64}


@pytest.mark.parametrize("name", SEQUENTIAL)
@pytest.mark.parametrize("human", [0, 1])
def test_a_move_and_an_undo_in_every_game(name, human):
    controller = settle(sit(name, human=human))
    screen = Screen(controller)
    session = controller.session
    assert len(session.actions) == human
    before = session.present.tobytes()
    targets = set(controller.picker.targets())
    assert targets
    circles = [shape for shape in screen.draw().shapes if isinstance(shape, Circle)]
    assert len(circles) >= len(targets)
    action = session.legal()[-1] if is_on_board(session.game, session.legal()[-1]) else 0
    action = action if action in session.legal() else session.legal()[0]
    do(screen, action)
    settle(controller)
    assert session.actions[human] == action
    assert len(session.actions) == human + 2
    controller.key("u")
    assert len(session.actions) == human
    assert session.present.tobytes() == before
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
    screen.click(*pixel(screen, 0))  # taken
    assert controller.session.actions == [0, 1]


# Time passing


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
    assert controller.session.actions == [8, 0]  # the answer to the first question has been dropped


def test_analysis_is_shown_before_the_move():
    controller = sit(
        "tictactoe", make_agent("mcts:simulations=50", make_game("tictactoe")), pause=60
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
    plain = len(screen.draw().shapes)
    controller.key("v")
    assert len(screen.draw().shapes) > plain
    do(screen, 8)
    assert controller.advice is None
    assert not controller.show_hint
    assert any("X wins: you win" in text for text in texts(screen))
    controller.key("h")
    assert controller.note == "no hint: it is not your turn"


def test_a_failing_adviser_ends_nothing():
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
        (Illegal, "agent failed: it chose action 0, which is illegal: legal are [1, 2, 3"),
        (Throwing, "agent failed: RuntimeError: out of memory"),
    ],
)
def test_a_failing_agent_ends_the_game_which_can_be_saved(agent, reason, tmp_path):
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


def test_agents_can_be_watched_and_stopped():
    game = make_game("tictactoe")
    session = Session(game, ("one", "two"))
    controller = GameController(session, {0: First(game), 1: First(game)}, pause=0)
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
    assert fit("short", 10, 100) == "short"
    assert fit("much too long for this", 10, 60) == "much too.."
    assert wrap("one two three", 10, 50) == ["one two", "three"]
    assert wrap("x" * 20, 10, 57) == ["x" * 10, "x" * 10]
    assert wrap("", 10, 56) == []


# The window


class User(BoardWindow):
    """A window whose user does what a script says; the script may look at the controller."""

    def __init__(self, pygame, script: Iterator[object]):
        super().__init__()
        self._pygame, self._script = pygame, script

    def events(self):
        pygame = self._pygame
        one = next(self._script, "q")
        if isinstance(one, str):
            event = pygame.event.Event(pygame.KEYDOWN, key=pygame.key.key_code(one))
            pygame.event.post(event)
        elif one is not None:
            event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=one)
            pygame.event.post(event)
        return super().events()


def whole_game(controller, seed=0):
    """Yield clicks and keys that play a game to its end, save it and take back the last move."""
    rng = np.random.default_rng(seed)
    screen = Screen(controller)
    while not controller.session.is_over:
        if controller.session.waits_for_human:
            choices = controller.picker.buttons() if rng.random() < 0.5 else ()
            yield from inputs(screen, int(rng.choice(choices or controller.session.legal())))
        else:
            yield None
    yield "s"
    yield "u"


@pytest.mark.parametrize("spec", KINDS)
@pytest.mark.parametrize("human", [0, 1])
def test_a_whole_game_by_clicks(spec, human, pygame, monkeypatch, tmp_path):
    monkeypatch.setattr(window, "rgb_array", lambda picture: np.zeros((9, 9, 3), np.uint8))
    monkeypatch.setattr(window, "IDLE", 0.001)
    game = make_game(spec)
    controller = sit(game, make_agent("random", game), human, file=tmp_path / "game.json")
    controller.session.seed = 5
    user = User(pygame, whole_game(controller))
    user.show(np.zeros((9, 9, 3), np.uint8))
    window.play_in_window(controller, user)
    assert user.closed
    assert controller.closed
    replay = Replay.load(tmp_path / "game.json")
    assert replay.returns is not None
    assert replay.players[human] == HUMAN
    assert len(controller.session.actions) < len(replay.actions)  # the undo
    assert controller.session.waits_for_human


@pytest.mark.parametrize(
    ("spec", "human", "action"),
    [("hex:board_size=2,swap=True", 1, 4), ("othello:board_size=4", 0, 16)],
)
def test_whole_games_have_swaps_and_passes(spec, human, action):
    """Games like those above, without a window, in some of which buttons are needed."""
    game = make_game(spec)
    pressed = 0
    for seed in range(4):
        controller = sit(game, make_agent("random", game), human)
        screen = Screen(controller)
        for one in whole_game(controller, seed):
            if one == "s":
                pressed += action in controller.session.actions[human::2]
                break
            if isinstance(one, str):
                controller.key(one)
            elif one is not None:
                screen.draw()
                screen.click(*one)
            controller.tick()
    assert pressed > 0


def test_a_window_shows_the_picture_and_closes(pygame, monkeypatch):
    controller = sit("tictactoe")
    opened = window.open_window(controller)
    picture = Screen(controller).draw()
    assert pygame.display.get_surface().get_size() == (picture.width, picture.height)
    assert pygame.display.get_caption()[0] == "Tic-Tac-Toe - Ludoteca"
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.play_in_window(controller, opened)
    assert opened.closed
    assert not pygame.display.get_init()


def test_windows_return_keys_and_clicks_in_order(pygame):
    opened = BoardWindow()
    opened.show(np.zeros((30, 40, 3), np.uint8))
    for key in (pygame.K_u, pygame.K_ESCAPE, pygame.K_SPACE):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=(7, key % 20)))
    pygame.event.post(pygame.event.Event(pygame.VIDEOEXPOSE))
    events = opened.events()
    assert [one for one in events if isinstance(one, str)] == ["u", "escape", "space"]
    assert [isinstance(one, str) for one in events] == [True, False] * 3
    assert opened.events() == []
    opened.close()


# The command and the terminal


def run(capsys, monkeypatch, arguments, lines=()):
    """Run `ludoteca play` with lines to read; return its status, its output and its errors."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    status = main(["play", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_game_in_the_terminal(capsys, monkeypatch, tmp_path):
    lines = ["?", "b2", "b2", "what", "undo", "hint", "C3", "save game.json", "quit"]
    arguments = ["tictactoe", "--terminal", "--agent", "mcts:simulations=100", "--seed", "1"]
    status, out, err = run(capsys, monkeypatch, arguments, lines)
    assert (status, err) == (0, "")
    assert "legal moves: a1 b1 c1 a2 b2 c2 a3 b3 c3" in out
    assert "X to move" in out
    assert "O plays " in out
    assert "visit shares" in out
    assert "simulations/s" in out
    assert "b2 is illegal here; ? lists the legal moves" in out
    assert "there is no move 'what' in tictactoe" in out
    assert "hint: " in out
    assert "saved: game.json" in out
    replay = Replay.load(tmp_path / "game.json")
    assert replay.actions[0] == 8
    assert len(replay.actions) == 2
    assert replay.players == (HUMAN, "mcts:simulations=100")


def test_a_finished_game_can_be_taken_back_in_the_terminal(capsys, monkeypatch):
    lines = ["a1", "a2", "b1", "b2", "c1", "a3", "undo", "c3", "new", "undo"]
    arguments = ["tictactoe", "--terminal", "--seat", "both", "--agent", "random"]
    status, out, _ = run(capsys, monkeypatch, arguments, lines)
    assert status == 0
    assert "X wins" in out
    assert "the game is over: undo, new, save or quit" in out
    assert "O to move, last move c3" in out
    assert out.rstrip().endswith("X>")  # input ended
    assert "there is nothing to take back" in out


def test_agents_play_each_other_in_the_terminal(capsys, monkeypatch, tmp_path):
    arguments = ["connect4", "--rows", "4", "--terminal", "--seat", "none"]
    arguments += ["--agent", "random", "greedy", "--replay", "games/a.json", "--seed", "2"]
    status, out, err = run(capsys, monkeypatch, arguments)
    assert (status, err) == (0, "")
    replay = Replay.load(tmp_path / "games" / "a.json")
    assert replay.returns is not None
    assert replay.players == ("random", "greedy")
    assert replay.seed == 2
    assert out.count(" plays ") == len(replay.actions)
    again = run(capsys, monkeypatch, [*arguments[:-3], "games/b.json", "--seed", "2"])
    assert again[0] == 0
    assert Replay.load(tmp_path / "games" / "b.json") == replay


@pytest.mark.parametrize("missing", ["display", "pygame", "PIL", "window"])
def test_without_a_window_games_run_in_the_terminal(capsys, monkeypatch, missing):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    if missing in ("pygame", "PIL"):
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        monkeypatch.setitem(sys.modules, missing, None)
    if missing == "window":
        monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    status, out, err = run(capsys, monkeypatch, ["tictactoe", "--agent", "random"], ["b2"])
    assert status == 0
    assert "O plays" in out
    assert err.endswith("; playing in the terminal\n")


def test_the_command_opens_a_window(capsys, monkeypatch, pygame, tmp_path):
    def user(controller):
        def script():
            yield from inputs(Screen(controller), 4)
            while not controller.session.waits_for_human:
                yield None

        opened = User(pygame, script())
        opened.show(np.zeros((9, 9, 3), np.uint8))
        return opened

    monkeypatch.setattr(window, "open_window", user)
    arguments = ["tictactoe", "--agent", "random", "--pause", "0", "--replay", "game.json"]
    status, out, err = run(capsys, monkeypatch, [*arguments, "--moves", "a1", "c3"])
    assert (status, out, err) == (0, "saved: game.json\n", "")
    replay = Replay.load(tmp_path / "game.json")
    assert replay.actions[:3] == [0, 8, 4]
    assert len(replay.actions) == 4


@pytest.mark.parametrize(
    ("spec", "agent"), [("tictactoe", "mcts:simulations=50"), *((kind, "random") for kind in KINDS)]
)
def test_screenshots(capsys, monkeypatch, spec, agent, tmp_path):
    arguments = [spec, "--agent", agent, "--values", "--screenshot", "new/a.png"]
    status, out, err = run(capsys, monkeypatch, [*arguments, "--seat", "second"])
    assert (status, out, err) == (0, "1 plies: new/a.png\n", "")
    data = (tmp_path / "new" / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 60_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tron"], "tron is simultaneous: only sequential games can be played"),
        (["hex", "--agent", "chess"], "unknown agent 'chess'"),
        (["hex", "--agent", "random", "random"], "two agents play each other with --seat none"),
        (["hex", "--moves", "a1", "a1"], "a1 is illegal here"),
        (["hex", "--moves", "z1"], "there is no move 'z1' in hex; moves look like a1, "),
        (["hex", "--pause", "-1"], "pause must be a number from 0 to 60"),
        (["hex", "--screenshot", "a.jpg"], "a.jpg must end in .png"),
        (["hex", "--seed", "-1"], "a seed must be an integer from 0"),
        (
            ["hex", "--board", "7"],
            "play does not know --board 7 (did you mean --board-size?); "
            "parameters of hex are --board",
        ),
    ],
)
def test_errors_are_one_line(capsys, monkeypatch, arguments, message):
    status, out, err = run(capsys, monkeypatch, arguments)
    assert (status, out) == (2, "")
    assert err.startswith("ludoteca: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("agent", [Illegal, Throwing])
def test_failing_agent_prints_one_line(capsys, monkeypatch, agent, tmp_path):
    monkeypatch.setattr("ludoteca.agents.registry.make_agent", lambda spec, game: agent(game))
    lines = ["a1", "b2", "undo", "save game.json", "quit"]
    status, out, err = run(capsys, monkeypatch, ["tictactoe", "--terminal"], lines)
    assert status == 2
    assert "O: mcts:simulations=1000 failed: " in out
    assert out.count("save [FILE] writes the game so far, quit ends") == 3
    assert Replay.load(tmp_path / "game.json").actions == [0]
    assert err.startswith("ludoteca: mcts:simulations=1000 failed: ")
    assert err.count("\n") == 1


def test_exceptions_become_failures():
    game = make_game("tictactoe")
    session = Session(game, (HUMAN, "agent"))
    session.play(0)
    found = AgentThread(Illegal(game), "it").think(session)
    assert isinstance(found, AgentFailure)
    assert str(found).startswith("it failed: it chose action 0")


def test_every_option_is_passed_on(capsys, monkeypatch):
    calls = []
    monkeypatch.setattr(command, "start_playing", lambda *g, **n: calls.append((g, n)))
    assert run(capsys, monkeypatch, ["hex:board_size=4", "--swap", "--seat", "both"])[0] == 0
    (game, agents, seat), named = calls[0]
    assert game.spec == "hex:board_size=4,first=black,swap=True"
    assert (agents, seat) == (("mcts:simulations=1000",), "both")
    assert not any(named[key] for key in ("seed", "moves", "values", "replay", "terminal"))
    assert named["pause"] == 0.5
