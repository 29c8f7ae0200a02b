"""Tests of boards of rule sheets: planes, layouts, actions, and symmetries."""

import numpy as np
import pytest

from ludoteca.envs.contract import check_layout, check_symmetric_play, check_symmetries
from ludoteca.envs.gdl import symmetries
from ludoteca.envs.gdl.board_layout import fluent_bits
from ludoteca.envs.gdl.game import board, dynamics, rules
from ludoteca.envs.gdl.orders import binary_facts, find_order
from ludoteca.envs.gdl.own_sheets import GAME_SHEETS, find_sheet
from ludoteca.envs.gdl.parse import parse, read_sheet
from ludoteca.envs.gdl.term_shapes import group_terms
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.machine import make_machine
from ludoteca.evaluate.play.action_picker import ActionPicker

FAST = ("tictactoe", "connect4", "breakthrough")
own_sheets = pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in GAME_SHEETS]
)
# Tokens are placed on the cells a1 to c2, one in each turn. The token named last wins.
TOKENS = """
(role left) (role right) (init (turn left)) (after left right) (after right left)
(cell a1) (cell b1) (cell c1) (cell a2) (cell b2) (cell c2)
(<= (legal ?r (put ?c)) (true (turn ?r)) (cell ?c) (not (taken ?c)))
(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
(<= (taken ?c) (true (token ?c ?r)))
(<= (next (token ?c ?r)) (does ?r (put ?c)))
(<= (next (token ?c ?r)) (true (token ?c ?r)))
(<= (next (turn ?r)) (true (turn ?q)) (after ?q ?r))
(<= open (cell ?c) (not (taken ?c)))
(<= terminal (not open))
(<= (goal ?r 100) (true (token ?c ?r)) (prize ?c))
(<= (goal ?r 0) (role ?r) (not (has_prize ?r)))
(<= (has_prize ?r) (true (token ?c ?r)) (prize ?c))
"""
CENTER, CORNER = "(prize b1)", "(prize a1)"


def write(tmp_path, text):
    """Write a rule sheet; return its path."""
    path = tmp_path / "sheet.kif"
    path.write_text(text)
    return str(path)


def play_along(name, plies, seed=0):
    """Yield positions of the same random game, of a sheet and of our game with its rules."""
    sheet, own, rng = GAME_SHEETS[name], make_game(name), np.random.default_rng(seed)
    game = make_game("gdl", path=name)
    number = {action: i for i, action in enumerate(game.action_names)}
    s, t = game.new(), own.new()
    for _ in range(plies):
        yield game, s, own, t
        if own.is_terminal(t):
            return
        players = range(2) if own.simultaneous else [None]
        actions = [int(rng.choice(own.legal(t, player))) for player in players]
        images = [number[sheet.term(own.action_names[a]).strip("()")] for a in actions]
        game.step(s, np.array(images) if own.simultaneous else images[0])
        own.step(t, np.array(actions) if own.simultaneous else actions[0])


def owners(game, s):
    """Return the player whose piece each cell shows, or -1."""
    return np.array([-1, *(piece.player for piece in game.layout.pieces)])[game.layout.cells(s)]


@own_sheets
def test_boards_and_symmetries_are_those_of_our_games(name):
    game, own = make_game("gdl", path=name), make_game(name)
    assert (game.layout.rows, game.layout.columns) == (own.layout.rows, own.layout.columns)
    assert game.observation_shape[1:] == (own.layout.rows, own.layout.columns)
    names = [symmetry.name for symmetry in game.symmetries()]
    assert names == [symmetry.name for symmetry in own.symmetries()]
    assert game.layout.cell_actions == own.layout.cell_actions
    assert game.layout.column_actions == own.layout.column_actions
    assert bool(game.layout.moves) == bool(own.layout.moves)
    check_symmetries(game)
    check_layout(game)


@own_sheets
@pytest.mark.interpreted
def test_pictures_show_the_pieces_of_our_games(name):
    from_top = GAME_SHEETS[name].game.layout.coordinates != "a1 bottom" and name != "connect4"
    shown = 0
    for game, s, own, t in play_along(name, 30):
        pieces = owners(own, t)
        if name == "tron":  # the sheet does not know whose walls they are
            pieces, s_pieces = pieces >= 0, game.layout.cells(s) > 0
        else:
            s_pieces = owners(game, s)
        if name == "free_for_all":  # pieces on the spawn cells are no fluents
            pieces, s_pieces = pieces[:, 1:-1], s_pieces[:, 1:-1]
        assert np.array_equal(s_pieces[::-1] if from_top else s_pieces, pieces)
        shown += 1
    assert shown > 3


@pytest.mark.interpreted
def test_players_observe_their_own_pieces_in_the_same_planes():
    for game, s, own, t in play_along("connect4", 20):
        for player in range(2):
            out = np.zeros(game.observation_shape, np.int8)
            game.observe(s, player, out)
            assert np.array_equal(out[0], owners(own, t) == player)
            assert np.array_equal(out[1], owners(own, t) == 1 - player)
            assert (out[2] == (own.player(t) == player)).all()
            assert (out[3] == (own.player(t) != player)).all()


@pytest.mark.interpreted
def test_mirror_exchanges_the_players_of_breakthrough():
    game, machine = make_game("gdl:path=breakthrough"), make_machine(find_sheet("breakthrough"))
    mirror, exchange = game.mirror(), {"white": "black", "black": "white"}

    def image(term):
        """Exchange colors, and turn the board by half a turn."""
        columns = dict(zip("abcdef", "fedcba", strict=True))
        rows = dict(zip("123456", "654321", strict=True))
        return " ".join((exchange | columns | rows).get(x, x) for x in term.split())

    rng, s = np.random.default_rng(0), game.new()
    for _ in range(12):
        game.step(s, int(rng.choice(game.legal(s))))
        fluents = np.array(rules(game).fluents)[fluent_bits(s, len(rules(game).fluents))]
        machine.set_fluents([f"({image(f[1:-1])})" for f in fluents])
        player = game.player(s)
        legal = {f"({game.action_names[mirror.actions[a]]})" for a in game.legal(s)}
        assert legal == set(machine.legal()[1 - player])
        planes = np.zeros(game.observation_shape, np.int8)
        game.observe(s, player, planes)
        names = board(game).planes
        mirrored = mirror.observation(planes)
        for color in ("white", "black"):
            expected = planes[names.index(f"(cell ?x ?y {exchange[color]})")][::-1, ::-1]
            assert np.array_equal(mirrored[names.index(f"(cell ?x ?y {color})")], expected)


@pytest.mark.parametrize(("prize", "expected"), [(CENTER, 2), (CORNER, 1)])
def test_one_fact_can_break_a_symmetry(prize, expected, tmp_path):
    game = make_game("gdl", path=write(tmp_path, TOKENS + prize))
    assert (game.layout.rows, game.layout.columns) == (2, 3)
    assert game.layout.cell_actions
    assert game.action_names[:6] == ("put a2", "put b2", "put c2", "put a1", "put b1", "put c1")
    assert len(game.symmetries()) == expected
    assert game.symmetries()[-1].name == ("mirror columns" if expected == 2 else "identity")


def test_one_rule_can_break_the_symmetries_of_tic_tac_toe(tmp_path):
    text = find_sheet("tictactoe").read_text()
    broken = text.replace("(rising c 1)", "(rising c 2)")
    assert broken != text
    assert len(make_game("gdl", path=write(tmp_path, broken)).symmetries()) == 1
    # Only one player has the goal of the rising diagonal.
    unfair = text.replace("(<= (wins ?player) (role ?player) (not (gap_in_rising ?player)))", "")
    unfair += "(<= (wins x) (not (gap_in_rising x)))"
    game = make_game("gdl", path=write(tmp_path, unfair))
    assert len(game.symmetries()) == 4
    assert game.observation_shape == (6, 3, 3)  # with a plane for each observing player


def test_chance_keeps_the_symmetries_that_it_does_not_break(tmp_path):
    chance = """
    (role random) (side left) (side right) (init (coin left))
    (<= (legal random (flip ?s)) (side ?s)) (<= (next (coin ?s)) (does random (flip ?s)))
    """
    text = chance + find_sheet("tictactoe").read_text()
    game = make_game("gdl", path=write(tmp_path, text))
    assert game.num_players == 2
    assert game.observation_shape == (6, 3, 3)  # no planes of players: they are exchanged
    assert len(game.symmetries()) == 8
    check_symmetries(game)
    # The coin shows the right side only after x has marked the corner a1.
    text = text.replace("(flip ?s)) (side ?s))", "(flip ?s)) (side ?s) (can_flip ?s))", 1)
    text += "(can_flip left) (<= (can_flip right) (true (cell a 1 x)))"
    game = make_game("gdl", path=write(tmp_path, text))
    assert game.observation_shape == (8, 3, 3)
    assert [symmetry.name for symmetry in game.symmetries()] == ["identity", "antitranspose"]


def test_players_with_percepts_observe_no_board():
    game = make_game("gdl:path=kriegspiel_tictactoe")
    assert game.observation_shape[1:] == (1, 1)
    assert len(game.symmetries()) == 1
    assert game.mirror is None
    state = make_game("gdl:path=kriegspiel_tictactoe,observe=state")
    assert state.observation_shape[1:] == (3, 3)


def test_goals_that_no_random_game_reaches_prove_no_symmetry():
    assert len(make_game("gdl:path=eight_puzzle").symmetries()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("planes", ["board", "flat"])
@pytest.mark.parametrize("name", ["connect4", "breakthrough", "tron", "othello", "three_in_line"])
def test_images_of_games_are_games(name, planes):
    game = make_game("gdl", path=name, planes=planes)
    check_symmetries(game)
    check_symmetric_play(game)


def test_flat_observations_have_the_symmetries_of_the_board():
    game = make_game("gdl:planes=flat")
    assert game.observation_shape == (22, 1, 1)
    assert len(game.symmetries()) == 8
    check_symmetries(game)


def test_sheets_without_a_board_are_flat():
    game = make_game("gdl:path=prisoners_dilemma")
    assert board(game) is None
    assert game.observation_shape == (len(rules(game).fluents) + 2, 1, 1)
    with pytest.raises(ValueError, match="planes must be"):
        make_game("gdl:planes=round")


def test_sizes_of_heaps_are_no_board(tmp_path):
    text = """
    (role p) (init (heap 1 3)) (init (heap 2 3)) (pred 3 2) (pred 2 1) (pred 1 0)
    (<= (legal p (take ?h)) (true (heap ?h ?n)) (pred ?n ?m))
    (<= (next (heap ?h ?m)) (does p (take ?h)) (true (heap ?h ?n)) (pred ?n ?m))
    (<= (next (heap ?h ?n)) (true (heap ?h ?n)) (not (taken ?h)))
    (<= (taken ?h) (does p (take ?h)))
    (<= left (true (heap ?h ?n)) (pred ?n ?m)) (<= terminal (not left)) (goal p 50)
    """
    assert board(make_game("gdl", path=write(tmp_path, text))) is None


@pytest.mark.interpreted
def test_clicks_select_columns_and_moves():
    game = make_game("gdl:path=connect4")
    assert ActionPicker(game, game.new(), game.legal(game.new())).click(0, 3) == 3
    game = make_game("gdl:path=breakthrough")
    picker = ActionPicker(game, game.new(), game.legal(game.new()))
    assert picker.click(4, 1) is None  # row 2, column b
    action = picker.click(3, 2)
    assert game.action_names[action] == "move b 2 c 3"


def test_orders_of_constants():
    relations = binary_facts(parse("(next one two) (next two three) (color red blue)"))
    assert find_order(["10", "9", "11"], relations) == ("9", "10", "11")
    assert find_order(["three", "one", "two"], relations) == ("one", "two", "three")
    assert find_order(["row10", "row2", "row1"], relations) == ("row1", "row2", "row10")
    assert find_order(["a", "c", "b"], relations) == ("a", "b", "c")
    for unordered in (["x", "o", "b"], ["one", "three"], ["white", "black"]):
        assert find_order(unordered, relations) is None


def test_terms_are_grouped_by_shape():
    groups = group_terms(["(cell a1 x)", "(cell b2 x)", "done", "(at (pos 1 2) red)"])
    assert [group.shape for group in groups] == ["(cell {}{} {})", "{}", "(at (pos {} {}) {})"]
    assert groups[0].constants == (("a", "1", "x"), ("b", "2", "x"))
    assert groups[0].text(("a", "2", "o")) == "(cell a2 o)"
    assert groups[2].constants == (("1", "2", "red"),)


def test_the_search_for_an_exchange_of_players_is_limited(monkeypatch):
    game = make_game("gdl:path=breakthrough")
    network, tried = rules(game), []
    found = symmetries.find_sheet_board(
        read_sheet(find_sheet("breakthrough")), network, dynamics(game)
    )
    terms = len(network.fluents) + len(network.moves)
    monkeypatch.setattr(symmetries, "MAX_IMAGES", 3 * terms)
    monkeypatch.setattr(symmetries.SheetSymmetries, "_verify", lambda self, m: tried.append(m))
    sheet = symmetries.SheetSymmetries(network, dynamics(game), found, None, 0)
    assert sheet.exchange is None
    assert len(tried) == 3
    assert len(list(symmetries.exchange_maps(sheet._vocabulary))) > 3
