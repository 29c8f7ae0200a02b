"""Serialization of environments: exact resumption, copies, and invalid or tampered data."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from boards import REPRESENTATIVES
from first_games import MakeSmallGame, ids
from pettingzoo_make import make_pettingzoo

from ludoteca.envs import serialization as storage
from ludoteca.envs.registry import GAMES
from ludoteca.envs.serialization import states_to_bytes

pytestmark = pytest.mark.interpreted

# Options by name of an API, which may have a variant such as "short".
APIS: dict[str, dict[str, Any]] = {
    "aec": {},
    "aec short": {"max_cycles": 2},
    "parallel": {},
    "single": {"agent_seat": "random", "illegal_action": "random"},
    "self-play": {},
    "opponents": {"opponent": "random", "agent_seat": "random", "illegal_action": "penalize"},
    "same step": {"opponent": "random", "autoreset_mode": "SameStep"},
}
apis = pytest.mark.parametrize("api", APIS)
# By default, a sequential and a simultaneous game with every API, the other representative games
# with one.
EVERY_API = ("TicTacToe-v0", "HungryGeese-v0")
apis_and_games = pytest.mark.parametrize(
    ("api", "id_"),
    [
        pytest.param(
            api,
            id_,
            marks=()
            if id_ in EVERY_API or (id_ in REPRESENTATIVES and api == "self-play")
            else pytest.mark.slow,
        )
        for api in APIS
        for id_ in GAMES
    ],
)


@pytest.fixture(scope="module")
def make(make_small_game: MakeSmallGame) -> Callable[..., Any]:
    """Make environments on small boards."""

    def make(api: str, id_: str, **options: Any) -> Any:
        name, options = f"ludoteca/{id_}", dict(make_small_game(id_).params) | APIS[api] | options
        if api.startswith(("aec", "parallel")):
            return make_pettingzoo(api.split()[0], name, **options)
        if api == "single":
            return gym.make(name, **options).unwrapped
        return gym.make_vec(name, num_envs=3, **options).unwrapped

    return make


def step_once(env: Any, rng: np.random.Generator) -> Any:
    """Step at random, or reset a finished game; return all results."""
    if isinstance(env, gym.Env):
        if env.game_batch.episode_states["over"][0]:
            return env.reset()
        # There is no legal action if the opponents' first move has ended the game.
        legal = np.flatnonzero(env.action_masks())
        return env.step(int(rng.choice(legal)) if rng.random() < 0.9 and len(legal) else -1)
    if isinstance(env, gym.vector.VectorEnv):
        masks = env.action_masks()
        actions = (masks * rng.random(masks.shape)).argmax(-1)
        return env.step(np.where(rng.random(actions.shape) < 0.9, actions, -1))
    if not env.agents:
        return env.reset()
    if not hasattr(env, "agent_selection"):
        return env.step({agent: choose(env, agent, rng) for agent in env.agents})
    agent = env.agent_selection
    seen = env.last()
    log = [agent, seen, env.agents[:], dict(env.rewards), dict(env.terminations)]
    log += [dict(env.truncations), copy.deepcopy(env.infos), env.state()]
    env.step(None if seen[2] or seen[3] else choose(env, agent, rng))
    return log


def choose(env: Any, agent: str, rng: np.random.Generator) -> int:
    """Sample a legal action of an agent, or an illegal one in a tenth of the calls."""
    game_batch = env.unwrapped.game_batch
    mask = game_batch.masks[0, env.possible_agents.index(agent) if game_batch.num_acting > 1 else 0]
    return int(rng.choice(np.flatnonzero(mask))) if rng.random() < 0.9 else -1


def comparable(result: Any) -> Any:
    """Return a result with arrays replaced by lists, so that `==` compares it."""
    if isinstance(result, dict):
        return {key: comparable(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [comparable(value) for value in result]
    return (result.dtype, result.tolist()) if isinstance(result, np.ndarray) else result


@apis_and_games
def test_a_restored_or_cloned_environment_resumes_exactly(api: str, id_: str, make: Any) -> None:
    env, other, fresh = (make(api, id_) for _ in range(3))
    env.reset(seed=1)
    other.reset(seed=2)
    rng = np.random.default_rng(3)
    for moment in range(9):
        stored = env.save()
        assert env.save() == stored
        twin = env.clone()
        assert twin.save() == stored
        other.restore(stored)
        assert other.save() == stored
        if moment == 4:
            fresh.restore(stored)
        state = rng.bit_generator.state
        next_steps = comparable([step_once(env, rng) for _ in range(5)])
        for again in (other, twin, *([fresh] if moment == 4 else [])):
            rng.bit_generator.state = state
            assert comparable([step_once(again, rng) for _ in range(5)]) == next_steps
            assert again.save() == env.save()
        env.restore(stored)  # and make one of the steps again
        rng.bit_generator.state = state
        assert comparable([step_once(env, rng)]) == next_steps[:1]
    assert env.save() != stored


@ids
@apis
def test_environments_can_be_pickled(api: str, id_: str, make: Any) -> None:
    env = make(api, id_)
    env.reset(seed=1)
    step_once(env, np.random.default_rng(0))
    twin = pickle.loads(pickle.dumps(env))
    assert twin.save() == env.save()
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(6):
        assert comparable(step_once(env, rngs[0])) == comparable(step_once(twin, rngs[1]))


def test_an_environment_with_threads_can_be_pickled(make: Any) -> None:
    env = make("opponents", "TicTacToe-v0", num_threads=2)
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    assert comparable(step_once(env, rngs[0])) == comparable(step_once(twin, rngs[1]))
    twin.close()
    env.close()


@ids
@apis
def test_deep_copies_are_independent(api: str, id_: str, make: Any) -> None:
    env = make(api, id_)
    env.reset(seed=1)
    stored = env.save()
    twin = copy.deepcopy(env)
    for _ in range(8):
        step_once(twin, np.random.default_rng(0))
    assert env.save() == stored
    twin.close()
    step_once(env, np.random.default_rng(0))


@ids
@apis
def test_restoring_other_data_is_an_error_and_changes_nothing(
    api: str, id_: str, make: Any, make_small_game: MakeSmallGame
) -> None:
    env = make(api, id_)
    env.reset(seed=1)
    step_once(env, np.random.default_rng(0))
    before = env.save()

    other_game = "TicTacToe-v0" if id_ != "TicTacToe-v0" else "Connect4-v0"
    other_api = "opponents" if api == "self-play" else "self-play"
    others = [make(api, other_game), make(other_api, id_)]
    if api == "single":
        others.append(make(api, id_, agent_seat=1))
    wrong = [
        states_to_bytes(make_small_game(id_), make_small_game(id_).empty(1)),
        b"",
        before[:-1],
        before + b"\x00",
    ]
    for other in others:
        other.reset(seed=1)
        wrong.append(other.save())
    damaged = bytearray(before)
    damaged[len(before) // 2] ^= 1
    wrong.append(bytes(damaged))
    for data in wrong:
        with pytest.raises(ValueError, match=r"expected an environment of|these bytes"):
            env.restore(data)
        assert env.save() == before
    step_once(env, np.random.default_rng(0))


def repack(data: bytes, change: Callable[[dict[str, Any], bytearray], None]) -> bytes:
    """Return saved data after `change(header, content)`, with a valid checksum."""
    header, body = storage._unpack(data)
    content = bytearray(body)
    change(header, content)
    return storage._pack(header, bytes(content))


@apis_and_games
def test_a_tampered_environment_is_an_error_or_safe(api: str, id_: str, make: Any) -> None:
    """With changed bytes, restoring fails without effect, or the restored games can be played."""
    env, other = make(api, id_), make(api, id_)
    env.reset(seed=1)
    other.reset(seed=2)
    rng = np.random.default_rng(4)
    refused, trials = 0, 40
    for trial in range(trials):
        if trial % 3 == 0:
            step_once(env, rng)
        body_size = len(storage._unpack(env.save())[1])
        # In half of the trials, only bytes after those of the positions are changed.
        first = env.game_batch.states.nbytes if trial % 2 else 0

        def change(header: Any, body: bytearray, first: int = first, size: int = body_size) -> None:
            for _ in range(int(rng.integers(1, 4))):
                value = int(rng.choice([0, 1, 2, 127, 128, 255, int(rng.integers(256))]))
                body[int(rng.integers(first, size))] = value

        before = other.save()
        try:
            other.restore(repack(env.save(), change))
        except ValueError:
            refused += 1
            assert other.save() == before
            continue
        for _ in range(4):
            step_once(other, rng)
        if not isinstance(other, gym.vector.VectorEnv):
            assert isinstance(other.replay().actions, list)
    assert 0 < refused < trials


@ids
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seat", 5),
        ("seat", -1),
        ("seat", 100),
        ("over", 2),
        ("rewards", np.nan),
        ("reward", np.inf),
    ],
)
def test_impossible_episode_states_are_errors(
    id_: str, field: str, value: float, make: Any
) -> None:
    env = make("opponents", id_)
    env.reset(seed=1)
    before = env.save()
    offset = env.game_batch.states.nbytes + env.game_batch.episode_states.dtype.fields[field][1]
    dtype = env.game_batch.episode_states.dtype[field].base
    dtype = np.dtype(np.int8) if dtype == np.bool_ else dtype

    def change(header: Any, body: bytearray) -> None:
        body[offset : offset + dtype.itemsize] = np.array(value, dtype).tobytes()

    with pytest.raises(ValueError, match=r"seat|neither true nor false|not finite"):
        env.restore(repack(before, change))
    assert env.save() == before


@pytest.mark.parametrize("id_", ["TicTacToe-v0", "HungryGeese-v0"])
@pytest.mark.parametrize("plies", [-1, 1000, 32767])
def test_too_long_games_are_errors(id_: str, plies: int, make: Any) -> None:
    env = make("single", id_)
    env.reset(seed=1)
    before = env.save()

    def change(header: Any, body: bytearray) -> None:
        # The history comes last; its first number is that of the plies.
        offset = len(body) - env.game_batch.history.nbytes
        body[offset : offset + 2] = np.int16(plies).tobytes()

    with pytest.raises(ValueError, match=r"the history has .* plies"):
        env.restore(repack(before, change))
    assert env.save() == before


@pytest.mark.parametrize("api", ["aec", "aec short"])
@ids
def test_impossible_agents_are_errors(api: str, id_: str, make: Any) -> None:
    env = make(api, id_)
    env.reset(seed=1)
    before = env.save()
    more = storage._unpack(before)[0]["more"]
    agents = more["agents"]
    for wrong in (
        None,
        {},
        more | {"agents": agents[1:]},
        more | {"agents": agents[::-1], "selected": "nobody"},
        more | {"agents": [*agents, "player_9"]},
        more | {"agents": None},
        more | {"cumulative": [0.0]},
        more | {"cumulative": ["much"] * len(agents)},
    ):

        def change(header: Any, body: bytearray, wrong: Any = wrong) -> None:
            header["more"] = wrong

        with pytest.raises(ValueError, match="expected agents"):
            env.restore(repack(before, change))
        assert env.save() == before
        step_once(env, np.random.default_rng(0))
        env.restore(before)


def test_restoring_resets_the_opponents(make_small_game: MakeSmallGame) -> None:
    class FirstEmptyCell:
        def __init__(self) -> None:
            self.resets: list[list[int]] = []

        def reset(self, env_indices: Any) -> None:
            self.resets.append(env_indices.tolist())

        def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
            return np.array([int(s["board"].ravel().tolist().index(-1)) for s in states])

    opponent = FirstEmptyCell()
    env = gym.make_vec("ludoteca/TicTacToe-v0", num_envs=2, opponent=opponent).unwrapped
    env.reset(seed=0)
    env.restore(env.save())
    assert opponent.resets == [[0, 1], [0, 1]]
