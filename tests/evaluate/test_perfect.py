"""All lines of an agent against a plain walk through them, and moves against what is solved."""

import json
from functools import cache

import numpy as np
import pytest

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.exploit import all_lines, exploitability, solved_positions
from ludoteca.evaluate.exploit.__main__ import perfect
from ludoteca.evaluate.solve import solve


class Chooser(Agent):
    """Plays by a function of the position."""

    def __init__(self, game, choose):
        super().__init__(game)
        self.choose_one = choose

    def act(self, states, seats, rngs, lanes):
        return np.array([self.choose_one(s) for s in states.view(np.recarray)])


def walk(game, choose, seat):
    """Return the decisions and the ends of all games, by positions as text."""
    decisions, ends = set(), set()

    def go(s):
        if game.is_terminal(s):
            scores = np.zeros(2)
            game.returns(s, scores)
            ends.add((str(s), scores[seat]))
            return
        own = game.player(s) == seat
        if own and str(s) in decisions:
            return
        if own:
            decisions.add(str(s))
        for action in [choose(s)] if own else game.legal(s):
            later = s.copy()
            game.step(later, action)
            go(later)

    go(game.new())
    results = [result for _, result in ends]
    return len(decisions), *(results.count(one) for one in (1, 0, -1))


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "spec", ["tictactoe", "hex:board_size=3", "connect4:rows=3,columns=3,connect=3"]
)
def test_all_lines_are_those_of_a_plain_walk(spec, seat):
    game = make_game(spec)

    def last(s):
        return game.legal(s)[-1]

    found = all_lines(game, Chooser(game, last), seat)
    assert (found.decisions, found.wins, found.draws, found.losses) == walk(game, last, seat)
    assert found.losses > 0
    # The example is a game by the rules that the agent plays and loses.
    s = game.new()
    for name in found.example:
        assert not game.is_terminal(s)
        action = game.action_names.index(name)
        assert action in game.legal(s)
        if game.player(s) == seat:
            assert action == last(s)
        game.step(s, action)
    scores = np.zeros(2)
    game.returns(s, scores)
    assert scores[seat] == -1


def test_perfect_play_never_loses():
    game = make_game("hex:board_size=3")

    @cache
    def best(text):
        return game.action_names.index(
            solve(game, from_state=states[text], capacity=20_000).best[0]
        )

    states = {}

    def choose(s):
        states[str(s)] = s
        return best(str(s))

    first = all_lines(game, Chooser(game, choose), 0)
    assert (first.draws, first.losses) == (0, 0)
    assert first.wins > 0
    assert all_lines(game, Chooser(game, choose), 1).losses > 0


def test_moves_in_solved_positions():
    game = make_game("connect4:rows=4,columns=4")
    right = solved_positions(
        game, make_agent("mcts:simulations=5,solver_empties=16", game), 40, 2, 10
    )
    assert (right.positions, right.perfect, right.high) == (40, 40, pytest.approx(1))
    assert right.won[0] + right.drawn[0] == 40
    random = solved_positions(game, make_agent("random", game), 40, 2, 10)
    assert random.positions == 40
    assert 5 < random.perfect < 35
    assert random.won[0] == right.won[0]  # the same positions
    assert random.low < random.perfect / 40 < random.high


def test_the_command_tells_and_writes_what_it_found(tmp_path, capsys):
    out = tmp_path / "found.json"
    found = perfect("lines", "hex:board_size=2", "greedy", "second", out=out)
    assert (
        "as second player of hex:board_size=2, against every possible opponent"
        in capsys.readouterr().out
    )
    assert json.loads(out.read_text())["found"]["decisions"] == found["found"]["decisions"] > 0
    perfect("positions", "connect4:rows=4,columns=4", "random", count=5, least=2, most=8)
    assert "in 5 positions of connect4" in capsys.readouterr().out


def test_what_cannot_be_measured_is_refused():
    hex_game, geese = make_game("hex:board_size=3"), make_game("hungry_geese")
    agent = make_agent("random", hex_game)
    with pytest.raises(ValueError, match="only games in turn for two players without chance"):
        all_lines(geese, make_agent("random", geese), 0)
    with pytest.raises(ValueError, match="seat must be an integer from 0 to 1"):
        all_lines(hex_game, agent, 2)
    with pytest.raises(ValueError, match="more than 5 positions after 2 plies"):
        all_lines(hex_game, agent, 0, most=5)
    with pytest.raises(ValueError, match="endgames of hex cannot be solved"):
        solved_positions(hex_game, agent, 5, 0, 3)
    with pytest.raises(ValueError, match="most must be an integer from 4"):
        solved_positions(hex_game, agent, 5, 4, 3)


def test_exploitability_of_random_play_in_hex_2x2():
    # Checked by hand: the first player wins with either corner of the short diagonal, by force.
    # OpenSpiel agrees, see tests/adapters/test_openspiel.py.
    game = make_game("hex:board_size=2")
    found = exploitability(game, make_agent("random", game))
    assert found.gains == (0.5, 1.0)
    assert found.exploitability == 0.75


@pytest.mark.parametrize("spec", ["tictactoe", "hex:board_size=3"])
def test_a_best_response_gets_what_the_worst_line_says(spec):
    game = make_game(spec)
    agent = Chooser(game, lambda s: game.legal(s)[-1])
    found = exploitability(game, agent)
    for seat in (0, 1):
        lines = all_lines(game, agent, seat)
        expected = 1 if lines.losses else 0 if lines.draws else -1
        assert found.gains[seat] == expected
        assert found.decisions[seat] == lines.decisions
    assert found.exploitability == sum(found.gains) / 2


def test_exploitability_of_perfect_play_is_zero():
    game = make_game("connect4:rows=3,columns=3,connect=3")
    actions = {name: action for action, name in enumerate(game.action_names)}

    def perfect_move(s):
        return actions[solve(game, from_state=s).best[0]]

    found = exploitability(game, Chooser(game, perfect_move))
    assert found.exploitability == 0


def test_exploitability_of_samples_and_of_agents_that_play_illegally():
    game = make_game("hex:board_size=2")
    one, many = (
        exploitability(game, make_agent("greedy", game), samples=n, seed=1) for n in (1, 30)
    )
    assert many.decisions > one.decisions
    assert 0 <= many.exploitability <= 1
    with pytest.raises(ValueError, match=r"may choose \[0\] as player 0, but only"):
        exploitability(game, Chooser(game, lambda s: 0))
    with pytest.raises(ValueError, match="expected actions from 0 to 3, the agent chose"):
        exploitability(game, Chooser(game, lambda s: 4))
    with pytest.raises(ValueError, match="only games for two players without chance"):
        exploitability(make_game("geese"), make_agent("random", make_game("geese")))
    with pytest.raises(ValueError, match="more than 3 positions after"):
        exploitability(game, make_agent("random", game), most=3)


def test_the_command_prints_the_exploitability(capsys, tmp_path):
    out = tmp_path / "found.json"
    found = perfect("exploitability", "hex:board_size=2", "random", out=out)
    assert found["found"]["exploitability"] == 0.75
    assert json.loads(out.read_text())["found"] == json.loads(json.dumps(found["found"]))
    shown = capsys.readouterr().out
    assert "exploitability 0.7500" in shown
    assert "as player 1: a perfect opponent gets +1.0000" in shown
