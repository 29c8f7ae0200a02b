"""Tests of Python functions as agents: observations, validation, spec strings."""

import pickle
import sys

import gymnasium as gym
import numpy as np
import pytest

from ludoteca.agents.function import FunctionAgent
from ludoteca.agents.registry import make_agent
from ludoteca.envs import targets
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

GAME = make_game("tictactoe")


def first_legal(planes, masks):
    """Choose the first legal action."""
    return masks.argmax(1)


class Recorder:
    """Policy that records its arguments and chooses the first legal action."""

    def __init__(self):
        self.calls = []

    def __call__(self, planes, masks):
        self.calls.append((planes.copy(), masks.copy()))
        masks[:] = 1  # a policy may change its arguments
        return self.calls[-1][1].argmax(1).tolist()


def ask(agent, games=3, plies=2):
    """Return the agent's actions in `games` positions, game k after moves k, k + 1, ... % 9."""
    states = GAME.empty(games)
    for k in range(games):
        s = states.view(np.recarray)[k]
        GAME.init(s, k)
        for action in range(plies):
            GAME.step(s, (k + action) % 9)
    seats = np.full(games, plies % 2)
    return agent.act(states, seats, np.zeros((games, 1), np.uint64), np.arange(games))


def test_a_function_plays_matches_from_both_seats():
    result = play_match(
        GAME, [FunctionAgent(GAME, first_legal), "random"], 40, seed=0, num_replays=2
    )
    assert result.games == 40
    for replay in result.replays:
        seat = replay.players.index("FunctionAgent")
        free = set(range(9))
        for ply, action in enumerate(replay.actions):
            if ply % 2 == seat:
                assert action == min(free)
            free.remove(action)


def test_function_observes_what_environments_return():
    recorder = Recorder()
    env = GameEnv(GAME, opponent=FunctionAgent(GAME, recorder), agent_seat=1)
    env.reset(seed=0)
    env.step(4)
    (_, _), (planes, masks) = recorder.calls
    assert planes.dtype == np.int8
    assert masks.tolist() == [[0, 1, 1, 1, 0, 1, 1, 1, 1]]
    s = GAME.new()
    GAME.step(s, 0)
    GAME.step(s, 4)
    seen = np.zeros(GAME.observation_shape, np.int8)
    GAME.observe(s, 0, seen)
    assert np.array_equal(planes[0], seen)


def test_options_change_the_observations():
    recorder = Recorder()
    ask(FunctionAgent(GAME, recorder))
    planes = recorder.calls[0][0]
    for options, expected in (
        ({"dtype": "float32"}, planes.astype(np.float32)),
        ({"channels_last": True}, np.moveaxis(planes, 1, -1)),
        ({"flat": True}, planes.reshape(3, -1)),
        ({"flat": True, "channels_last": True}, np.moveaxis(planes, 1, -1).reshape(3, -1)),
    ):
        other = Recorder()
        ask(FunctionAgent(GAME, other, **options))
        assert other.calls[0][0].dtype == expected.dtype
        assert np.array_equal(other.calls[0][0], expected)


def test_simultaneous_games_and_vector_environments_accept_functions():
    tron = make_game("tron:rows=4,columns=5")
    batch_sizes = []

    def policy(planes, masks):
        batch_sizes.append(len(planes))
        return masks.argmax(1)

    assert play_match(tron, [FunctionAgent(tron, policy), "random"], 10, seed=1).games == 10
    assert max(batch_sizes) == 10
    env = gym.make_vec(
        "ludoteca/TicTacToe-v0", num_envs=4, opponent=FunctionAgent(GAME, first_legal)
    )
    _, info = env.reset(seed=0)
    _, rewards, *_ = env.step(info["action_mask"].argmax(1))
    assert rewards.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (np.zeros(2, int), "must return 3 integers, one per observation, got int64 of shape"),
        (np.zeros((3, 1), int), r"got int64 of shape \(3, 1\)"),
        (np.zeros((3, 9)), "float64 .*; for scores, return the argmax over the legal actions"),
        (np.ones(3, bool), "got bool"),
        ([[1], [2, 3], []], "is not an array"),
        (None, "got object of shape"),
        (np.array([5, 9, 5]), "chose 9 for observation 1, which is illegal"),
        (np.array([5, 5, -1]), "chose -1 for observation 2"),
        (np.array([5, 5, 2**63], np.uint64), f"chose {2**63} for observation 2"),
    ],
)
def test_returned_actions_are_validated(returned, problem):
    with pytest.raises(ValueError, match=problem) as caught:
        ask(FunctionAgent(GAME, lambda planes, masks: returned))
    assert "the policy " in str(caught.value)
    assert "test_returned_actions_are_validated.<locals>.<lambda>" in str(caught.value)


def test_error_of_an_illegal_action_shows_the_position():
    with pytest.raises(ValueError, match="legal actions are") as caught:
        ask(FunctionAgent(GAME, lambda planes, masks: np.full(len(masks), 1)))
    message = str(caught.value)
    problem = "chose 1 for observation 0, which is illegal"
    assert f"{problem}: legal actions are [2, 3, 4, 5, 6, 7, 8]" in message
    assert "tictactoe:board_size=3,line=3, player_0 to move:" in message
    board = message.partition("to move:\n")[2]
    assert "X" in board
    assert "O" in board


def test_errors_of_the_function_get_a_note():
    def broken(planes, masks):
        raise KeyError("weights")

    with pytest.raises(KeyError) as caught:
        ask(FunctionAgent(GAME, broken))
    assert "broken raised this, given planes int8 (3, " in caught.value.__notes__[0]


def test_a_spec_names_a_function_of_a_module_or_a_file(tmp_path, monkeypatch):
    file = tmp_path / "my_policies.py"
    file.write_text(
        "from my_helper import CHOSEN\n"
        "class Last:\n"
        "    def __call__(self, planes, masks):\n"
        "        assert planes.dtype == 'float32' and planes.ndim == 2\n"
        "        return 8 - masks[:, ::-1].argmax(1)\n"
        "    def first(self, planes, masks):\n"
        "        return masks.argmax(1) + CHOSEN\n"
        "last = Last()\n"
    )
    (tmp_path / "my_helper.py").write_text("CHOSEN = 0\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    try:
        agent = make_agent(f"function:{file}:last,dtype=float32,flat=True", GAME)
        assert ask(agent).tolist() == [8, 8, 8]
        assert ask(make_agent("function:my_policies:last.first", GAME)).tolist() == [2, 0, 0]
        copied = pickle.loads(pickle.dumps(agent))
        assert ask(copied).tolist() == [8, 8, 8]
        assert copied.policy_name == f"{file}:last"
    finally:
        for name in [name for name in sys.modules if name.startswith(("my_policies", "my_helper"))]:
            del sys.modules[name]


def test_functions_of_modules_are_pickled():
    agent = pickle.loads(pickle.dumps(FunctionAgent(GAME, np.argmax, flat=True)))
    assert "argmax" in agent.policy_name
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(FunctionAgent(GAME, lambda planes, masks: masks.argmax(1)))


@pytest.mark.parametrize(
    ("spec", "error", "problem"),
    [
        ("function", ValueError, "agent function needs policy"),
        ("function:policy", ValueError, r"expected module:attribute or .*, got 'policy'"),
        (
            "function:no_such_module:policy",
            ImportError,
            "no module named 'no_such_module'",
        ),
        ("function:no/such/file.py:policy", OSError, "there is no file /.*no/such/file.py"),
        ("function:json:dump_it", ValueError, r"json has no 'dump_it' \(did you mean 'dump"),
        (
            "function:json:decoder",
            ValueError,
            "expected a function of planes and masks",
        ),
        ("function:json:JSONDecoder", ValueError, "expected a function"),
        ("function:json:dumps,dtype=float16", ValueError, "dtype must be one of"),
        ("function:json:dumps,flat=2", ValueError, "flat must be one of False, True, got 2"),
    ],
)
def test_invalid_specs_raise(spec, error, problem):
    with pytest.raises(error, match=problem):
        make_agent(spec, GAME)


def test_search_folders_come_last_on_the_import_path(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(targets, "_search_folders", [])
    (tmp_path / "json.py").write_text("raise SystemExit\n")
    (tmp_path / "only_here.py").write_text("def policy(planes, masks):\n    return masks.argmax(1)")
    with pytest.raises(ModuleNotFoundError):
        targets.load_target("only_here:policy")
    targets.add_search_folder(tmp_path)
    assert targets.load_target("json:dumps")
    assert str(tmp_path) not in sys.path
    try:
        assert targets.load_target("only_here:policy")
    finally:
        sys.modules.pop("only_here", None)
    assert sys.path[-1] == str(tmp_path)


def test_error_names_the_failing_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "fails_early.py").write_text("1 / 0\n")
    with pytest.raises(ValueError, match="importing fails_early failed: ZeroDivisionError"):
        make_agent("function:fails_early:policy", GAME)
    with pytest.raises(ValueError, match=r"running .*fails_early.py failed: ZeroDivisionError"):
        make_agent(f"function:{tmp_path}/fails_early.py:policy", GAME)
