"""Invalid options of environments: clear errors."""

from typing import Any

import gymnasium as gym
import pytest
from first_games import Make, apis, ids
from pettingzoo_make import make_pettingzoo

from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


@ids
@apis
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"illegal_action": "loose"}, "illegal_action must be one of 'lose', 'raise', 'penalize'"),
        ({"dtype": "int64"}, "dtype must be one of 'int8', 'uint8'.*got 'int64'"),
        ({"render_mode": "3d"}, "render_mode must be None or one of .*'ansi'.*got '3d'"),
        ({"no_such": 1}, "unexpected keyword argument 'no_such'; it has "),
    ],
    ids=["illegal_action", "dtype", "render_mode", "unknown"],
)
# Gymnasium warns of an unknown render mode before the environment refuses it.
@pytest.mark.filterwarnings("ignore:.*render_mode='3d' that is not in the possible:UserWarning")
def test_invalid_options(
    id_: str, api: str, options: dict[str, Any], message: str, make: Make
) -> None:
    with pytest.raises(ValueError, match=message):
        make(api, id_, **options)


@pytest.mark.parametrize("api", ["single", "opponents", "self-play"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent_seat": 2}, "agent_seat must be one of 'random', 0, 1, got 2"),
        ({"agent_seat": -1}, "agent_seat must be one of"),
        ({"agent_seat": "first"}, "agent_seat must be one of"),
        ({"agent_seat": True}, "agent_seat must be one of"),
        ({"opponent": ["random", "random"]}, "so opponent must be one spec or a list of 1, got 2"),
        ({"opponent": []}, "so opponent must be one spec or a list of 1, got 0"),
        ({"opponent": "nobody"}, "unknown agent 'nobody'"),
        ({"opponent": "random:x=1"}, "agent random has no parameter 'x'; it has no parameters"),
        ({"opponent": 3}, "opponent must be a spec string such as 'random' or an agent .*got 3"),
        ({"opponent": [None]}, "opponent must be a spec string .*got None"),
    ],
    ids=str,
)
def test_invalid_opponents_and_seats(
    api: str, options: dict[str, Any], message: str, make: Make
) -> None:
    if api == "self-play":
        options = {"opponent": "random"} | options
        with pytest.raises((ValueError, TypeError), match=message):
            GameVectorEnv("hex", 2, **options)
    elif api == "opponents":
        options = {"opponent": "random"} | options
        with pytest.raises((ValueError, TypeError), match=message):
            gym.make_vec("ludoteca/Hex-v0", num_envs=2, **options)
    else:
        with pytest.raises((ValueError, TypeError), match=message):
            gym.make("ludoteca/Hex-v0", **options)


def test_inconsistent_seats_and_opponents_are_errors(make: Make) -> None:
    for seat in (1, "random", 7):
        with pytest.raises(ValueError, match=r"agent_seat=.* needs opponents for the other seats"):
            GameVectorEnv("hex", 2, agent_seat=seat)
    with pytest.raises(ValueError, match="opponent must be a spec string or an agent, got None"):
        gym.make("ludoteca/Hex-v0", opponent=None)
    other = RandomAgent(make_game("hex:board_size=5"))
    with pytest.raises(ValueError, match=r"was made for hex:board_size=5.*, not hex:board_size=11"):
        GameVectorEnv("hex", 2, opponent=other)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chess", r"unknown game 'chess'; there are .*hex"),
        ("ludoteca/Hex-v1", "unknown game 'ludoteca/Hex-v1'"),
        ("", "unknown game ''"),
        (
            "hex:size=5",
            r"hex has no parameter 'size' \(did you mean 'board_size'\?\); "
            "it has board_size, first, swap",
        ),
        ("hex:board_size=1", "board_size must be an integer from 2 to 19, got 1"),
        ("hex:board_size=5.0", "board_size must be an integer from 2 to 19, got 5.0"),
        ("hex:board_size=True", "board_size must be an integer"),
        ("hex:first=red", "first must be one of 'black', 'white', got 'red'"),
        ("hex:swap=1", "swap must be one of False, True, got 1"),
        ("hex:board_size", "expected key=value after the colon of 'hex:board_size', got"),
        ("hex:board_size=5,board_size=6", "'board_size' comes twice"),
        ("othello:board_size=5", "board_size must be one of 4, 6, 8, got 5"),
        ("connect4:connect=9", "connect must be an integer from 2 to 7, got 9"),
        ("tictactoe:line=4", "line must be an integer from 3 to 3, got 4"),
        ("hungry_geese:num_players=9", "num_players must be an integer from 1 to 8, got 9"),
        ("tron:rows=1", "rows must be an integer from 2 to 100, got 1"),
    ],
)
def test_unknown_games_and_parameters_out_of_range(name: str, message: str) -> None:
    for make_it in (make_game, GameEnv, GameVectorEnv):
        with pytest.raises(ValueError, match=message):
            make_it(name)


def test_unknown_ids_of_the_libraries(make: Make) -> None:
    with pytest.raises(gym.error.NameNotFound, match="Environment `Chess` doesn't exist"):
        gym.make("ludoteca/Chess-v0")
    with pytest.raises(gym.error.VersionNotFound, match="`v7`"):
        gym.make_vec("ludoteca/Hex-v7", num_envs=2)
    for kind in ("aec", "parallel"):
        with pytest.raises(Exception, match="Chess"):
            make_pettingzoo(kind, "ludoteca/Chess-v0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be an integer from 1 to"),
        ({"num_envs": 2.0}, "num_envs must be an integer from 1 to"),
        ({"num_threads": 0}, "num_threads must be an integer from 1 to"),
        (
            {"autoreset_mode": "sometimes"},
            "one of 'NextStep', 'SameStep', 'Disabled', got 'sometimes'",
        ),
        ({"render_mode": "human"}, "render_mode must be None or one of"),
    ],
    ids=str,
)
def test_invalid_options_of_vectors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameVectorEnv("tictactoe", **options)


@pytest.mark.parametrize("kind", ["aec", "parallel"])
@pytest.mark.parametrize("cycles", [0, -5, 1.5, "9", True])
@pytest.mark.parametrize("id_", ["TicTacToe-v0", "Tron-v0"])
def test_invalid_max_cycles(kind: str, cycles: Any, id_: str, make: Make) -> None:
    with pytest.raises(ValueError, match="max_cycles must be an integer from 1 to"):
        make_pettingzoo(kind, f"ludoteca/{id_}", max_cycles=cycles)


def test_parameters_of_a_game_object_are_errors() -> None:
    for make_it in (GameEnv, GameVectorEnv):
        with pytest.raises(ValueError, match=r"already made, so it cannot take {'board_size': 5}"):
            make_it(make_game("hex"), board_size=5)


@ids
@pytest.mark.parametrize("kind", ["aec", "parallel"])
def test_invalid_seeds(id_: str, kind: str, make: Make) -> None:
    env = make(kind, id_)
    before = env.save()
    for seed in (-1, 2**63, 1.5, "0"):
        with pytest.raises(
            ValueError, match=r"a seed must be an integer from 0 to 2\*\*63 - 1, got"
        ):
            env.reset(seed=seed)
        assert env.save() == before
