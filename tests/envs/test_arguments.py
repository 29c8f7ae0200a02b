"""Invalid values of every argument of every environment: a clear error, or the documented meaning.

An error is clear if it names the argument and shows the value.
"""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.parallel import parallel_env
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.grid_world import GridWorld
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.validation import check_seed

pytestmark = pytest.mark.interpreted

Make = Callable[..., Any]


class Odd:
    """Object of a type that no argument accepts."""

    def __repr__(self) -> str:
        return "Odd()"


# Values that every argument is given; most are invalid.
VALUES: tuple[Any, ...] = (
    None, True, 1.5, float("nan"), "a", "", b"x", Odd(), [], {}, {"a": 1}, (1,), np.array([1, 2]),
    -1, 10**30, np.int64(1), np.float64(1.0), 1j, set(), int,
)  # fmt: skip
# By argument: the valid ones of `VALUES`, as `repr` shows them. No argument is named "wrong".
# `-1` and `10**30` are valid but illegal actions, and `(1,)` is an array of one integer.
VALID_VALUES: dict[str, tuple[str, ...]] = {
    "game": (),
    "opponent": ("None",),  # of vector environments: self-play
    "agent_seat": (),
    "illegal_action": (),
    "observation": (),
    "autoreset_mode": (),
    "num_envs": ("np.int64(1)",),
    "num_threads": ("np.int64(1)",),
    "max_cycles": ("None", "np.int64(1)"),
    "dtype": (),
    "channels_last": ("True",),
    "keys": (),
    "mask_dtype": (),
    "end_mask": ("None",),
    "keep_eliminated": ("True",),
    "render_mode": ("None",),
    "wrong": (),
    "seed": ("None", "np.int64(1)"),
    "options": ("None", "{}", "{'a': 1}"),
    "action": ("(1,)", "-1", str(10**30), "np.int64(1)"),
    "actions": ("array([1, 2])",),
    "agent": (),
}
# Arguments of the constructors of the environment APIs.
CONSTRUCTOR = (
    "illegal_action", "observation", "dtype", "channels_last", "keys", "mask_dtype", "end_mask",
    "render_mode", "wrong",
)  # fmt: skip
ARGUMENTS = {
    "single": (*CONSTRUCTOR, "opponent", "agent_seat"),
    "self-play": (
        *CONSTRUCTOR, "opponent", "agent_seat", "num_envs", "num_threads", "autoreset_mode",
    ),
    "opponents": ("agent_seat",),
    "aec": (*CONSTRUCTOR, "max_cycles", "keep_eliminated"),
    "parallel": (*CONSTRUCTOR, "max_cycles", "keep_eliminated"),
    "sb3": (*CONSTRUCTOR, "opponent", "agent_seat", "num_envs", "num_threads", "seed"),
}  # fmt: skip
kinds = pytest.mark.parametrize("kind", ARGUMENTS)
games = pytest.mark.parametrize("game", ["tictactoe", "tron:rows=3,columns=3"])


def make(kind: str, game: Any, **options: Any) -> Any:
    """Make an environment of an API."""
    if kind == "single":
        return GameEnv(game, **options)
    if kind in ("aec", "parallel"):
        return (aec_env if kind == "aec" else parallel_env)(game, **options)
    if kind == "sb3":
        from ludoteca.envs.adapters.sb3 import SB3VecEnv

        return SB3VecEnv(game, **{"num_envs": 2} | options)
    opponent = {"opponent": "random"} if kind == "opponents" else {}
    return GameVectorEnv(game, **{"num_envs": 2} | opponent | options)


def check_call(name: str, value: Any, call: Callable[[], Any], names: tuple[str, ...] = ()) -> None:
    """Check that a call accepts a valid value, and refuses an invalid one with a clear error.

    Args:
        name: the argument.
        value: the value that the call gives it.
        call: the call.
        names: other names of the argument that the error may have.
    """
    if repr(value) in VALID_VALUES[name]:
        call()
        return
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    text = str(error.value)
    assert any(accepted in text for accepted in (name, *names)), f"{name}={value!r}: {text}"
    if name != "wrong":  # Python's own error
        shown = [repr(value), *(repr(item) for item in value)] if isinstance(value, tuple) else []
        shown += ["array(", "of shape"] if isinstance(value, np.ndarray) else [repr(value)]
        shown += ["of shape", "got 0"] if name in ("actions", "seed", "opponent") else []
        assert any(part in text for part in shown), f"{name}={value!r}: {text}"


@kinds
@games
def test_constructors_refuse_invalid_arguments(kind: str, game: str) -> None:
    for value in VALUES:
        check_call("game", value, lambda value=value: make(kind, value))
        for name in ARGUMENTS[kind]:
            if name == "opponent" and value is None and kind != "self-play":
                continue  # refused with an error that says why
            call = lambda name=name, value=value: make(kind, game, **{name: value})  # noqa: E731
            check_call(name, value, call, ("agent",) if name == "opponent" else ())


@kinds
@games
def test_resets_refuse_invalid_seeds_and_options(kind: str, game: str) -> None:
    env = make(kind, game)
    for value in VALUES:
        if kind == "sb3":
            check_call("seed", value, lambda value=value: (env.seed(value), env.reset()))
            if not isinstance(value, list):
                check_call("options", value, lambda value=value: env.set_options(value))
            continue
        several = kind in ("self-play", "opponents") and isinstance(
            value, np.ndarray | list | tuple
        )
        if not several:  # vector environments accept one seed for each game
            check_call("seed", value, lambda value=value: env.reset(seed=value))
        check_call("options", value, lambda value=value: env.reset(options=value))


@kinds
@games
def test_steps_refuse_invalid_actions(kind: str, game: str) -> None:
    for value in VALUES:
        env = make(kind, game)
        env.reset()
        if kind in ("single", "aec"):
            check_call("action", value, lambda env=env, value=value: env.step(value))
        elif kind == "parallel":
            if not isinstance(value, dict):
                with pytest.raises(ValueError, match="actions must be a dictionary with the"):
                    env.step(value)
            actions = dict.fromkeys(env.agents, value)
            check_call("action", value, lambda env=env, actions=actions: env.step(actions))
        elif kind == "sb3":
            check_call("actions", value, lambda env=env, value=value: env.step_async(value))
        else:
            if kind == "self-play" and "tron" in game and isinstance(value, np.ndarray):
                value = np.array([1.0, 2.0])  # the integers would be of the wrong shape
            check_call("actions", value, lambda env=env, value=value: env.step(value))


@pytest.mark.parametrize("kind", ["aec", "parallel"])
@games
def test_agents_are_identified_by_name(kind: str, game: str) -> None:
    env = make(kind, game)
    env.reset()
    methods = ["observation_space", "action_space"] + ["observe"] * hasattr(env, "observe")
    for method in methods:
        getattr(env, method)(env.possible_agents[1])
        for value in VALUES:
            check_call("agent", value, lambda m=method, value=value: getattr(env, m)(value))


@pytest.mark.parametrize("kind", ["single", "self-play", "aec", "parallel"])
def test_numpy_integers_are_seeds_like_python_integers(kind: str) -> None:
    env = make(kind, "tictactoe")
    env.reset(seed=3)
    before = env.save()
    for seed in (np.int64(3), np.uint8(3), np.int32(3)):
        env.reset(seed=seed)
        assert env.save() == before
    if kind != "self-play":
        with pytest.raises(ValueError, match="must be an integer from 0 to"):
            env.reset(seed=True)
        assert env.save() == before


def test_numpy_seeds_are_accepted_by_gymnasiums_wrappers_and_the_grid_world() -> None:
    gym.make("ludoteca/TicTacToe-v0").reset(seed=np.int64(1))
    world = GridWorld(random_start=True)
    assert world.reset(seed=np.int64(5))[0] == world.reset(seed=5)[0]
    for seed in (True, 1.5, -1, "a", np.bool_(True)):
        with pytest.raises(ValueError, match="a seed must be an integer from 0"):
            world.reset(seed=seed)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="a seed must be an integer from 0"):
            check_seed(seed)


def interpreted_game(game: Any, seed: int) -> Iterator[Any]:
    """Play at random by the plain Python functions of a game; yield each position."""
    rng, s = np.random.default_rng(seed), game.new(seed)
    out, seen = np.zeros(game.num_actions, np.int16), np.zeros(game.observation_shape, np.int8)
    scores = np.zeros(game.num_players)
    while True:
        game.returns(s, scores)
        for player in range(game.num_players):
            game.observe(s, player, seen)
        yield s
        if game.is_terminal(s):
            return
        if game.simultaneous:
            chosen = np.zeros(game.num_players, np.int64)
            for player in range(game.num_players):
                n = game.legal_actions(s, player, out)
                chosen[player] = out[rng.integers(n)] if n else 0
            game.step(s, chosen)
        else:
            game.step(s, int(out[rng.integers(game.legal_actions(s, out))]))


@pytest.mark.parametrize("id_", GAMES)
def test_rules_that_are_called_from_python_do_not_warn(id_: str) -> None:
    """Warnings are errors in tests; integers of 64 bits wrap around in several games."""
    assert sum(1 for _ in interpreted_game(make_game(id_), 7)) > 1
