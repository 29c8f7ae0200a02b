"""Environments and agents are pickled, and play on in another process as they would here."""

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
import playing_on
import pytest
from playing_on import FirstLegal, play_on

from ludoteca.agents import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.sb3 import SB3VecEnv
from ludoteca.envs.stepper import make_stepper
from ludoteca.envs.vector import GameVectorEnv

Small = Callable[[str], Game]


def in_another_process(things: list[tuple[str, Any]], file: Path) -> dict[str, Any]:
    """Play things on in a fresh process; return what they did there, by name."""
    file.write_bytes(cloudpickle.dumps(things))
    command = [sys.executable, playing_on.__file__, str(file)]
    environment = os.environ | {"LUDOTECA_COMPILE_MESSAGES": "0"}
    subprocess.run(command, check=True, timeout=300, env=environment)
    found: dict[str, Any] = pickle.loads(Path(f"{file}.played").read_bytes())
    return found


def begun(env: Any, steps: int = 3) -> Any:
    """Reset an environment and play some steps, so that there is a state to keep."""
    if isinstance(env, SB3VecEnv):
        env.seed(3)
        env.reset()
    else:
        env.reset(seed=3)
    play_on(env, steps)
    return env


def every_face(small: Small) -> list[tuple[str, Any]]:
    """Make environments: every game in a vector, and every face with all kinds of opponents."""
    made: list[tuple[str, Any]] = []
    for id_ in GAMES:
        params = dict(small(id_).params)
        made.append((f"vector {id_}", gym.make_vec(f"ludoteca/{id_}", num_envs=3, **params)))
    for id_ in ("TicTacToe-v0", "Tron-v0"):
        name, params = f"ludoteca/{id_}", dict(small(id_).params)
        made += [
            (f"single {id_}", gym.make(name, agent_seat="random", **params)),
            (f"aec {id_}", pettingzoo.make("aec", name, **params)),
            (f"parallel {id_}", pettingzoo.make("parallel", name, **params)),
            (
                f"vector mcts {id_}",
                gym.make_vec(name, num_envs=3, opponent="mcts:simulations=20", **params),
            ),
            (
                f"threads {id_}",
                gym.make_vec(name, num_envs=3, num_threads=2, opponent="random", **params),
            ),
            (f"sb3 {id_}", SB3VecEnv(small(id_), 3, opponent="random", num_threads=2)),
        ]
    made += [
        ("python", GameVectorEnv("tictactoe", 3, opponent=FirstLegal())),
        ("human", gym.make("ludoteca/TicTacToe-v0", render_mode="ansi")),
        ("tree of threads", gym.make("ludoteca/TicTacToe-v0", opponent="mcts:reuse=True")),
    ]
    return made


@pytest.mark.filterwarnings("ignore:.*same player.*")
def test_environments_play_on_in_another_process(small: Small, tmp_path: Path) -> None:
    things = [(name, begun(env)) for name, env in every_face(small)]
    for name, env in things:
        stored = pickle.dumps(env)  # not only by cloudpickle
        assert pickle.loads(stored) is not env, name
    played = in_another_process(things, tmp_path / "environments")
    for name, env in things:
        twin = copy.deepcopy(env)
        expected = play_on(env)
        assert played[name] == expected, name
        if "mcts" not in name and name not in ("python", "tree of threads"):
            assert play_on(twin) == expected, name  # copies share opponents, and so their memory


AGENTS = (
    ("hex:board_size=5", "random"),
    ("hex:board_size=5", "mcts:simulations=30,reuse=True,mast=gibbs"),
    ("hex:board_size=5", "flat:simulations=30"),
    ("hex:board_size=5", "mixed:0.3"),
    ("hex:board_size=5", "dqn:hex5,epsilon=0.3"),
    ("hex:board_size=5", "az:hex5,simulations=16,temperature=1"),
    ("hungry_geese", "deterministic"),
    ("hungry_geese", "mcts:simulations=20"),
    ("hungry_geese", "ac:geese,simulations=8"),
    ("hungry_geese", "cnn:geese,temperature=1"),
)


def test_agents_play_on_in_another_process(tmp_path: Path) -> None:
    things = []
    for game, spec in AGENTS:
        agent = make_agent(spec, make_game(game))
        play_on(agent)  # so that there is something to remember
        things.append((f"{game} {spec}", agent))
    played = in_another_process(things, tmp_path / "agents")
    for name, agent in things:
        assert pickle.loads(pickle.dumps(agent)).game is agent.game
        twin = copy.deepcopy(agent)
        expected = play_on(agent)
        assert played[name] == expected, name
        assert play_on(twin) == expected, name


def test_a_pickled_stepper_is_the_same_here() -> None:
    stepper = make_stepper(make_game("tictactoe"))
    assert pickle.loads(pickle.dumps(stepper)) == stepper
    assert copy.deepcopy(stepper) == stepper
