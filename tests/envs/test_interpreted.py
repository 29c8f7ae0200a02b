"""Interpreted mode has the results of compiled code."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from boards import EVERY_GAME, small_spec

from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import interpreting, is_interpreted, with_attributes
from ludoteca.envs.jit import CompiledFunction, InterpretedFunction
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

STEPS = 12


def rollout(game: Game, autoreset: str, opponent: str | None, interpreted: bool) -> list[Any]:
    """Return all results of a vector environment in some steps with legal and illegal actions."""
    options = {} if opponent is None else {"opponent": opponent, "agent_seat": "random"}
    with interpreting(interpreted):
        env = GameVectorEnv(game, 3, autoreset_mode=autoreset, **options)
        returned: list[Any] = [env.reset(seed=5)]
        rng = np.random.default_rng(2)
        for _ in range(STEPS):
            masks = returned[-1][-1]["action_mask"]
            actions = np.where(masks, rng.random(masks.shape), -1).argmax(-1)
            actions[0] = 0  # often illegal
            # A copy: the environment reuses its arrays.
            returned.append(pickle.loads(pickle.dumps(env.step(actions))))
        env.close()
    return returned


@pytest.mark.parametrize(
    "id_",
    [
        pytest.param(id_, marks=() if id_ in ("TicTacToe-v0", "Tron-v0") else pytest.mark.slow)
        for id_ in GAMES
    ],
)
def test_interpreted_environments_step_equally(
    id_: str, make_small_game: Callable[[str], Game]
) -> None:
    results = [
        rollout(make_small_game(id_), "SameStep", "random", interpreted)
        for interpreted in (True, False)
    ]
    np.testing.assert_equal(*results)


@pytest.mark.slow
@pytest.mark.parametrize("id_", EVERY_GAME)
def test_interpreted_environments_in_self_play_step_equally(
    id_: str, make_small_game: Callable[[str], Game]
) -> None:
    for autoreset in ("NextStep", "SameStep"):
        results = [
            rollout(make_small_game(id_), autoreset, None, interpreted)
            for interpreted in (True, False)
        ]
        np.testing.assert_equal(*results)


@pytest.mark.parametrize("spec", ["tictactoe", small_spec("Tron-v0")])
def test_interpreted_searches_return_the_same(spec: str) -> None:
    game = make_game(spec)
    chosen = []
    for interpreted in (True, False):
        with interpreting(interpreted):
            match = play_match(
                game, ["mcts:simulations=20", "random"], games=2, seed=3, num_replays=1
            )
            chosen.append(match.replays[0].actions)
    assert chosen[0] == chosen[1]


def test_objects_keep_the_mode_in_which_they_were_made() -> None:
    game = make_game("tictactoe")
    with interpreting():
        assert is_interpreted()
        plain = make_stepper(game)
        with interpreting(False):
            assert not is_interpreted()
            assert isinstance(make_stepper(game).step, CompiledFunction)
        assert make_stepper(game) is plain
        assert isinstance(pickle.loads(pickle.dumps(plain.step)), InterpretedFunction)
    assert not is_interpreted()
    assert isinstance(plain.step, InterpretedFunction)
    assert isinstance(make_stepper(game).step, CompiledFunction)


def test_records_have_attributes_that_write_through() -> None:
    inner = np.dtype([("value", np.int8)])
    records = np.zeros(3, [("one", np.int8), ("inner", inner), ("many", inner, (2,))])
    array, (record, same) = with_attributes((records, (records[1], 5)))
    array[0].one = 7
    array[0].inner.value = 6
    array[0].many[1].value = 5
    record.one = 4
    record.inner.value = 3
    assert same == 5
    values = [(r["one"], r["inner"]["value"], *r["many"]["value"]) for r in records]
    assert values == [(7, 6, 0, 5), (4, 3, 0, 0), (0, 0, 0, 0)]


def test_records_are_copied_and_pickled_and_refuse_misspelled_fields() -> None:
    s = make_game("tictactoe").new()
    for same in (s.copy(), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        for name in s.dtype.names:
            np.testing.assert_array_equal(same[name], s[name])
        same.board[0, 0] = 1
        assert s.board[0, 0] != 1
    with pytest.raises(AttributeError, match="bord"):
        s.bord = 1


def test_the_environment_variable_interprets_a_process() -> None:
    code = (
        "import gymnasium, ludoteca, sys\n"
        "env = gymnasium.make('ludoteca/TicTacToe-v0', opponent='mcts:simulations=5')\n"
        "env.reset(seed=1); env.step(4)\n"
        "import ludoteca.envs.jit as jit\n"
        "print(jit.compile_seconds())"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=os.environ | {"LUDOTECA_INTERPRETED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) == 0


def test_a_debugger_stops_in_the_rules() -> None:
    seen = []

    def trace(frame: Any, event: str, argument: Any) -> Any:
        seen.append(frame.f_code.co_name)

    game = make_game("tictactoe")
    with interpreting():
        env = GameVectorEnv(game, 1)
        env.reset(seed=1)
        sys.settrace(trace)
        try:
            env.step(np.array([4]))
        finally:
            sys.settrace(None)
    assert "step" in seen
