"""Pickled environments and agents resume exactly in another process."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium as gym
import pettingzoo
import pytest
import recorded_play
from boards import REPRESENTATIVES
from recorded_play import FirstLegal, record_play
from stable_baselines3 import PPO

from ludoteca.agents import make_agent
from ludoteca.agents.external.sb3 import SB3Agent, load_sb3_agent
from ludoteca.agents.networks.value_network import ValueConfig, make_value_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game

MakeSmallGame = Callable[[str], Game]


def play_in_another_process(named_objects: list[tuple[str, Any]], file: Path) -> dict[str, Any]:
    """Resume environments and agents in a new process; return their results by name."""
    file.write_bytes(cloudpickle.dumps(named_objects))
    command = [sys.executable, recorded_play.__file__, str(file)]
    environment = os.environ | {"LUDOTECA_COMPILE_MESSAGES": "0"}
    subprocess.run(command, check=True, timeout=300, env=environment)
    found: dict[str, Any] = pickle.loads(Path(f"{file}.played").read_bytes())
    return found


def after_steps(env: Any, steps: int = 3) -> Any:
    """Return the environment after a reset and some steps, so that it has a state to pickle."""
    if isinstance(env, SB3VecEnv):
        env.seed(3)
        env.reset()
    else:
        env.reset(seed=3)
    record_play(env, steps)
    return env


def environments(id_: str, make_small_game: MakeSmallGame) -> list[tuple[str, Any]]:
    """Make every environment of a game, with all kinds of opponents and with threads."""
    name, params = f"ludoteca/{id_}", dict(make_small_game(id_).params)
    searching = {"num_envs": 3, "opponent": "mcts:simulations=5"}
    threads = {"num_envs": 3, "num_threads": 2, "opponent": "random"}
    return [
        (f"single {id_}", gym.make(name, agent_seat="random", **params)),
        (f"vector {id_}", gym.make_vec(name, num_envs=3, **params)),
        (f"aec {id_}", pettingzoo.make("aec", name, **params)),
        (f"parallel {id_}", pettingzoo.make("parallel", name, **params)),
        (f"searching {id_}", gym.make_vec(name, **searching, **params)),
        (f"threads {id_}", gym.make_vec(name, **threads, **params)),
        (f"sb3 {id_}", SB3VecEnv(make_small_game(id_), 3, opponent="random", num_threads=2)),
    ]


def special_environments() -> list[tuple[str, Any]]:
    """Make environments with a Python opponent, with rendering, and with threads of a search."""
    search = "mcts:simulations=5,threads=2,parallel=root"
    return [
        ("python", GameVectorEnv("tictactoe", 3, opponent=FirstLegal())),
        ("rendered", gym.make("ludoteca/TicTacToe-v0", render_mode="ansi")),
        ("threads of a search", gym.make("ludoteca/TicTacToe-v0", opponent=search)),
    ]


# A script or notebook that defines a game: take 1 or MOST of a heap; the last to take wins.
SCRIPT = """
import numpy as np
from ludoteca.envs.game import Game, unique
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece

MOST = 2

@kernel
def init(s, seed):
    s.left, s.to_move = s.heap, 0

@kernel
def player(s):
    return int(s.to_move)

@kernel
def least(a, b):
    return a if a < b else b

@kernel
def legal_actions(s, out):
    for action in range(least(s.left, MOST)):
        out[action] = action
    return least(s.left, MOST)

@kernel
def step(s, action):
    s.left -= action + 1
    s.to_move = 1 - s.to_move

@kernel
def is_terminal(s):
    return s.left == 0

@kernel
def returns(s, out):
    out[:] = 0
    if s.left == 0:
        out[s.to_move], out[1 - s.to_move] = -1, 1

@kernel
def observe(s, player, out):
    out[0, 0, 0] = s.left

def take_away(heap=9):
    return Game(
        name="take_away", title="Take away", params={"heap": heap}, num_players=2,
        num_actions=MOST, max_plies=heap, observation_shape=(1, 1, 1), observation_high=heap,
        state=np.dtype([("left", np.int8), ("heap", np.int8), ("to_move", np.int8)], align=True),
        settings={"heap": heap}, init=init, player=player, legal_actions=legal_actions, step=step,
        is_terminal=is_terminal, returns=returns, observe=observe,
        layout=Layout("squares", 1, 1, (Piece("X", "X", "cross", "#c0392b", 0),), lambda s: [0]),
        action_names=("one", "two"), symmetries=lambda: (), validate=lambda s: "",
    )

unique_take_away = unique(take_away)
"""


def games_of_a_script() -> list[tuple[str, Any]]:
    """Make environments of games that only this process knows, with and without `unique`."""
    script: dict[str, Any] = {"__name__": "__main__"}
    exec(SCRIPT, script)
    game = script["unique_take_away"](heap=9)
    assert script["unique_take_away"](heap=9) is game
    with pytest.raises((pickle.PicklingError, AttributeError), match="take_away"):
        pickle.dumps(game)  # the other process could not import it
    assert cloudpickle.loads(cloudpickle.dumps(game)) is game
    return [
        ("game of a script", GameVectorEnv(game, 3)),
        ("game without a name", GameVectorEnv(script["take_away"](heap=9), 3)),
    ]


# Agents with a reused tree and with a network; the slow tests have more.
AGENTS = (
    ("tictactoe", "mcts:simulations=20,reuse=True"),
    ("hex:board_size=5", "dqn:hex5,epsilon=0.3"),
)
MORE_AGENTS = (
    ("tictactoe", "mcts:simulations=20"),
    ("hex:board_size=5", "az:hex5,simulations=8,temperature=1"),
    ("hungry_geese", "deterministic"),
    ("hungry_geese", "cnn:geese,temperature=1"),
    ("hex:board_size=5", "mcts:simulations=30,reuse=True,mast=gibbs,transpositions=True"),
    ("hex:board_size=5", "flat:simulations=30"),
    ("hex:board_size=5", "mixed:0.3"),
    ("hungry_geese", "mcts:simulations=20,threads=2"),
    ("hungry_geese", "ac:geese,simulations=8"),
    ("connect4", "az:connect4,simulations=8,solver_empties=4"),
    ("connect4", "mcts:simulations=20,solver_empties=8"),
    ("othello:board_size=6", "greedy"),
    ("tron", "random_safe"),
)


def after_play(original: Any) -> Any:
    """Return an agent after some play, so that it has a state to pickle."""
    record_play(original)
    return original


def agents(specs: tuple[tuple[str, str], ...]) -> list[tuple[str, Any]]:
    """Make agents of pairs of games and spec strings, after some play."""
    return [
        (f"{game} {spec}", after_play(make_agent(spec, make_game(game)))) for game, spec in specs
    ]


def check_that_copies_resume(named_objects: list[tuple[str, Any]], file: Path) -> None:
    """Assert that copies, also in another process, play on like the originals."""
    played = play_in_another_process(named_objects, file)
    for name, original in named_objects:
        deep_copy = copy.deepcopy(original)
        unpickled = original if "script" in name or "without" in name else roundtrip(original)
        expected = record_play(unpickled)
        assert played[name] == expected, name
        if unpickled is not original:
            assert record_play(original) == expected, name
        if name != "python":  # copies share opponents
            assert record_play(deep_copy) == expected, name


def roundtrip(original: Any) -> Any:
    """Return an object after pickling and unpickling."""
    return pickle.loads(pickle.dumps(original))


@pytest.mark.slow
@pytest.mark.interpreted
def test_environments_and_agents_resume_in_another_process(
    make_small_game: MakeSmallGame, tmp_path: Path
) -> None:
    """Both processes run interpreted; another slow test runs compiled."""
    made = [
        env for env in environments("Tron-v0", make_small_game) if env[0].startswith("parallel")
    ]
    made += (
        environments("TicTacToe-v0", make_small_game) + special_environments() + games_of_a_script()
    )
    named_objects = [(name, after_steps(env)) for name, env in made] + agents(AGENTS)
    check_that_copies_resume(named_objects, tmp_path / "objects")


@pytest.mark.slow
def test_all_games_and_more_agents_resume_in_another_process(
    make_small_game: MakeSmallGame, tmp_path: Path
) -> None:
    named_objects = agents((*AGENTS, *MORE_AGENTS))
    for id_ in REPRESENTATIVES:
        named_objects += [
            (name, after_steps(env)) for name, env in environments(id_, make_small_game)
        ]
    named_objects += [
        (name, after_steps(env)) for name, env in special_environments() + games_of_a_script()
    ]
    game = make_small_game("TicTacToe-v0")
    model = PPO("MlpPolicy", SB3VecEnv(game, 2), n_steps=8, batch_size=8)
    model.save(tmp_path / "model.zip")
    config = ValueConfig(filters=(4,), hidden=8, view="mover")
    metadata = {"game": game.spec, "network": config.as_dict()}
    save_weights(
        tmp_path / "value.safetensors", make_value_network(config, game).state_dict(), metadata
    )
    named_objects += [
        ("sb3 from a file", load_sb3_agent(game, tmp_path / "model.zip")),
        ("sb3 that draws", SB3Agent.from_model(game, model, deterministic=False)),
        ("uctnet", make_agent(f"uctnet:{tmp_path / 'value.safetensors'},simulations=20", game)),
    ]
    for id_ in GAMES:
        params = dict(make_small_game(id_).params)
        env = gym.make_vec(f"ludoteca/{id_}", num_envs=3, opponent="random", **params)
        named_objects.append((id_, after_steps(env)))
    check_that_copies_resume(named_objects, tmp_path / "objects")


def test_a_pickled_stepper_is_the_same_in_this_process() -> None:
    stepper = make_stepper(make_game("tictactoe"))
    assert roundtrip(stepper) == stepper
    assert copy.deepcopy(stepper) == stepper
