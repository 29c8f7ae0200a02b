"""The public conformance suite passes good games and agents, and finds deliberate bugs."""

from dataclasses import replace

import numpy as np
import pytest
from dots_and_boxes import dots_and_boxes, is_terminal

from ludoteca.agents import Agent, make_agent
from ludoteca.agents.function import FunctionAgent
from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.jit import kernel
from ludoteca.envs.registry import make_game
from ludoteca.envs.symmetry import Symmetry
from ludoteca.evaluate import environment_checks
from ludoteca.testing import (
    ContractError,
    check_agent,
    check_environments,
    check_game,
    check_kernels,
)

pytestmark = pytest.mark.interpreted

GAME = dots_and_boxes(size=1)
calls = iter(range(10**9))  # state outside the game, for kernels that are not deterministic


# Kernels of GAME, each with a deliberate bug.


def legal_repeats(s, out):
    n = GAME.legal_actions(s, out)
    out[:n] = out[0] if n else 0
    return n


def legal_descends(s, out):
    n = GAME.legal_actions(s, out)
    out[:n] = out[:n][::-1].copy()
    return n


def legal_too_high(s, out):
    n = GAME.legal_actions(s, out)
    out[:n] += 1
    return n


def legal_after_the_end(s, out):
    n = GAME.legal_actions(s, out)
    if n == 0:
        out[0] = 3
    return max(n, 1)


def legal_includes_drawn_lines(s, out):
    if GAME.is_terminal(s):
        return 0
    out[:4] = range(4)
    return 4


def both_win(s, out):
    out[:] = 1 if GAME.is_terminal(s) else 0


def returns_before_the_end(s, out):
    out[:] = 0
    out[0], out[1] = 0.5, -0.5


def returns_doubled(s, out):
    GAME.returns(s, out)
    out *= 2


def returns_of_one_player(s, out):
    out[0] = 0


def observes_nine(s, player, out):
    GAME.observe(s, player, out)
    out[0, 0, 0] = 9


def observes_below_zero(s, player, out):
    GAME.observe(s, player, out)
    out[0, 0, 0] = -1


def observes_chance(s, player, out):
    GAME.observe(s, player, out)
    out[0, 0, 0] = next(calls) % 2


def observe_changes_position(s, player, out):
    GAME.observe(s, player, out)
    s.to_move = 1


def step_by_chance(s, action):
    GAME.step(s, action)
    s.to_move = np.random.randint(2)  # noqa: NPY002


def init_keeps_the_board(s, seed):
    s.to_move = 0


def init_by_chance(s, seed):
    GAME.init(s, seed)
    s.to_move = next(calls) % 2


def third_player(s):
    return 2


def never_over(s):
    return False


def terminal_as_numpy_bool(s):
    return np.bool_(GAME.is_terminal(s))


def rejects_valid_positions(s):
    return "to_move is odd" if s.to_move else ""


IDENTITY = Symmetry("identity", np.arange(9), np.arange(4))
FLIPPED = Symmetry("flipped", np.arange(9)[::-1].copy(), np.array([0, 1, 2, 3]))
# By error of the suite: the fields of GAME that cause it.
BROKEN = {
    "legal actions must ascend": {"legal_actions": legal_repeats},
    r"legal actions must ascend, got \[3, 2, 1, 0\]": {"legal_actions": legal_descends},
    r"actions must be 0 to 3, got \[1, 2, 3, 4\]": {"legal_actions": legal_too_high},
    "is_terminal is True, but 1 actions are legal": {"legal_actions": legal_after_the_end},
    "max_plies of .* is 4, but the game continues": {"legal_actions": legal_includes_drawn_lines},
    r"finished game must add up to 0, got \[1.0, 1.0\]": {"returns": both_win},
    r"returns must be 0 before the end, got \[0.5, -0.5\]": {"returns": returns_before_the_end},
    r"returns must be in \[-1, 1\] for every player, got \[(2|-2).0": {"returns": returns_doubled},
    r"returns must be in \[-1, 1\] for every player, got \[0.0, 7.0\]": {
        "returns": returns_of_one_player
    },
    "observations must be 0 to 1, player 0 observes 0 to 9": {"observe": observes_nine},
    "player 0 observes -1 to": {"observe": observes_below_zero},
    "the second observation of player 0": {"observe": observes_chance},
    "reading or observing a position changes its field to_move": {
        "observe": observe_changes_position
    },
    "not deterministic: games of seed 0 played twice": {"step": step_by_chance},
    "init must overwrite a record of an ended game, .* field board": {"init": init_keeps_the_board},
    "init must overwrite|not deterministic": {"init": init_by_chance},
    "player must be from 0 to 1, got 2": {"player": third_player},
    "is_terminal is False, but 0 actions are legal": {"is_terminal": never_over},
    "is_terminal must return a bool": {"is_terminal": terminal_as_numpy_bool},
    "validate rejects a position reached by play: 'to_move is odd'": {
        "validate": rejects_valid_positions
    },
    "max_plies of .* is 3": {"max_plies": 3},
    "the layout needs a piece of player 1": {
        "layout": replace(GAME.layout, pieces=GAME.layout.pieces[:1])
    },
    "cells of the layout must be 0 to 2, of shape": {
        "layout": replace(GAME.layout, cells=lambda s: s.board + 3)
    },
    "two actions have the name": {"action_names": ("a", "b", "c", "a")},
    "without spaces at either end": {"action_names": ("a", "b", "c", " d")},
    "the name 'Dots' must consist of lower-case words": {"name": "Dots"},
    "the identity must come first": {"symmetries": lambda: (FLIPPED, IDENTITY)},
    "actions are not a permutation": {
        "symmetries": lambda: (IDENTITY, replace(FLIPPED, actions=np.array([0, 1, 1, 3])))
    },
    "image of a game by 'flipped' has other": {"symmetries": lambda: (IDENTITY, FLIPPED)},
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_bug_is_found(problem):
    with pytest.raises(ContractError, match=problem):
        check_kernels(replace(GAME, **BROKEN[problem]), games=5)


def test_messages_name_the_position():
    with pytest.raises(ContractError) as caught:
        check_kernels(replace(GAME, returns=both_win), games=1, seed=7)
    assert "dots_and_boxes:size=1, at ply 4 of a random game" in str(caught.value)
    assert "seed=7" in str(caught.value)


def test_good_games_pass():
    check_kernels(GAME)
    check_kernels("tron:rows=3,columns=3", games=5)
    check_kernels(replace(GAME, returns=both_win, zero_sum=False), games=3)
    with pytest.raises(TypeError, match="expected a game, its spec string or its factory, got 3"):
        check_kernels(3)


class FaultyEnv:
    """AEC environment with an attribute that is replaced by a wrong one."""

    def __init__(self, env, name, value):
        self._env = env
        setattr(self, name, value(env))

    def __getattr__(self, name):
        return getattr(self._env, name)


def ones_as_masks(env):
    """Return `observe` with masks that allow every action."""
    return lambda agent: env.observe(agent) | {"action_mask": np.ones(4, np.int8)}


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("observe", ones_as_masks, "turn 0, .* the masks of player_1 .* differ"),
        ("observe", lambda env: lambda agent: {"action_mask": 1}, "observation of player_0 is not"),
        ("state", lambda env: lambda: env.state() + 9, "turn 0, .* the state is not in its space"),
        ("rewards", lambda env: {"player_0": 0}, "an illegal action of player_0 at the start must"),
    ],
)
def test_a_bug_of_an_environment_is_found(monkeypatch, name, value, problem):
    monkeypatch.setattr(
        environment_checks, "aec_env", lambda game: FaultyEnv(aec_env(game), name, value)
    )
    check = (
        environment_checks._check_illegal_action
        if name == "rewards"
        else environment_checks._check_turns
    )
    with pytest.raises(ContractError, match=problem):
        check(GAME, 0)


@pytest.mark.slow
def test_environments_of_a_game_pass():
    check_environments(make_game("tictactoe"))


@pytest.mark.slow
def test_a_users_own_game_passes_all_tests():
    check_game(GAME)
    check_game("tron:rows=3,columns=3")


@kernel
def returns_that_overflow(s, out):
    out[:] = 0
    if is_terminal(s):
        lead = s.board[1, 1] * np.int8(100)  # 200: too much for int8 in NumPy, not compiled
        out[0] = np.sign(lead)
        out[1] = -np.sign(lead)


@pytest.mark.slow
def test_a_kernel_that_differs_when_compiled_is_found():
    problem = "the compiled game of seed 0 differs from the one in plain Python, in returns"
    with np.errstate(over="ignore"), pytest.raises(ContractError, match=problem):
        check_game(replace(GAME, returns=returns_that_overflow), environments=False)


class Wrong(Agent):
    """Agent that plays the first legal action, with a deliberate bug."""

    def __init__(self, game, bug=""):
        super().__init__(game)
        self.bug, self.num_calls = bug, 0

    def act(self, states, seats, rngs, env_indices):
        """Choose the first legal action, or the action of the bug."""
        actions = np.array([self.game.legal(s)[0] for s in states.view(np.recarray)])
        self.num_calls += 1
        if self.bug == "shape":
            return actions[:1]
        if self.bug == "type":
            return actions.astype(float)
        if self.bug == "illegal":
            return actions + 100
        if self.bug == "changes":
            states["to_move"] = 1
        if self.bug == "batch" and len(states) == 1:
            return np.array([self.game.legal(s)[-1] for s in states.view(np.recarray)])
        if self.bug == "memory":
            return np.array(
                [
                    self.game.legal(s)[self.num_calls % len(self.game.legal(s))]
                    for s in states.view(np.recarray)
                ]
            )
        return actions


@pytest.mark.parametrize(
    ("bug", "problem"),
    [
        (
            "shape",
            r"act must return integers of shape \(2,\) for two positions, got int64 of shape",
        ),
        ("type", "got float64 of shape"),
        ("illegal", "Wrong chose 100 at the start of tictactoe.*, illegal: the legal actions are"),
        ("changes", "act must not change the positions"),
        ("batch", "games of seed 0 differ when played one at a time"),
        ("memory", "games of seed 0 differ when played again"),
    ],
)
def test_a_bug_of_an_agent_is_found(bug, problem):
    game = make_game("tictactoe") if bug != "changes" else GAME
    with pytest.raises(ContractError, match=problem):
        check_agent(Wrong(game, bug))


def test_good_agents_pass():
    game = make_game("tictactoe")
    assert check_agent(Wrong(game)).games == 16
    assert check_agent("random", "tictactoe", games=2).games == 4
    assert check_agent(make_agent("greedy", game), games=2).games == 4
    rng = np.random.default_rng(0)

    def policy(planes, masks):
        return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])

    assert check_agent(FunctionAgent(game, policy), reproducible=False).games == 16
    with pytest.raises(TypeError, match="expected a game for the spec string"):
        check_agent("random")
    with pytest.raises(ContractError, match="plays tictactoe"):
        check_agent(Wrong(game), "tron")
