"""Vector environment, compared with plain Python, single environments and Gymnasium's vectors."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from boards import EVERY_GAME
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers
from numpy.typing import NDArray
from pettingzoo_make import make_pettingzoo

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.rng import below, next_u64
from ludoteca.envs.validation import DTYPES

pytestmark = pytest.mark.interpreted

Small = Callable[[str], Game]
ids = pytest.mark.parametrize("id_", GAMES)
# Sequential and simultaneous; the others in `make test-slow`.
THREADED = [
    pytest.param(id_, marks=() if id_ in ("TicTacToe-v0", "Tron-v0") else pytest.mark.slow)
    for id_ in GAMES
]
modes = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
rules = pytest.mark.parametrize("rule", ["lose", "penalize", "random"])
opponents = pytest.mark.parametrize("opponent", [None, "random"], ids=["self-play", "opponent"])


class Plain:
    """The uniform agent, called from Python: it has no kernel."""

    def __init__(self, game: Game):
        self._agent = RandomAgent(game)
        self.seats: list[int] = []  # seats of calls of `act`
        self.reset_indices: list[int] = []  # indices of the games that were reset

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        self.reset_indices += env_indices.tolist()

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        self.seats += seats.tolist()
        return self._agent.act(states, seats, rngs, env_indices)


class ReferenceGame:
    """One game of a batch as its documentation describes it, in interpreted Python."""

    def __init__(self, game: Game, seed: int, opponent: Any, agent_seat: Any, rule: str):
        self.game, self.opponent, self.agent_seat, self.rule = game, opponent, agent_seat, rule
        self.rng = np.array([seed], np.uint64)
        self.seat, self.mover = -1, 0
        self.reset()

    def reset(self) -> None:
        """Sample a seed and a seat, and let opponents move until the agent is to move."""
        self.s = self.game.new(int(next_u64(self.rng)))
        if self.opponent is not None:
            random = self.agent_seat == "random"
            self.seat = below(self.rng, self.game.num_players) if random else self.agent_seat
        self.over, self.illegal = False, False
        self.rewards = np.zeros(self.game.num_players, np.float32)
        self.reward = 0.0
        self.opponents_step()

    def legal(self, p: int) -> list[int]:
        out = np.zeros(self.game.num_actions, np.int16)
        sides = (p, out) if self.game.simultaneous else (out,)
        return [int(action) for action in out[: self.game.legal_actions(self.s, *sides)]]

    def sample(self, p: int) -> int:
        legal = self.legal(p)
        return legal[below(self.rng, len(legal))]

    def opponents_step(self) -> None:
        """Let the opponents move until the agent is to move, in sequential games."""
        game = self.game
        if self.opponent is None or game.simultaneous:
            return
        while not game.is_terminal(self.s) and game.player(self.s) != self.seat:
            game.step(self.s, self.sample(game.player(self.s)))

    def returns(self) -> NDArray[np.float32]:
        out = np.zeros(self.game.num_players, np.float32)
        self.game.returns(self.s, out)
        return out

    def step(self, actions: list[int]) -> None:
        game, s = self.game, self.s
        if game.simultaneous:
            mine = range(game.num_players) if self.opponent is None else [self.seat]
            movers = [p for p in mine if game.is_active(s, p)]
            offered = dict(zip(mine, actions, strict=True))
        else:
            movers = [game.player(s)]
            offered = {movers[0]: actions[0]}
        payee = self.seat if self.seat >= 0 else 0 if game.simultaneous else movers[0]
        wrong = [p for p in movers if offered[p] not in self.legal(p)]
        self.illegal = bool(wrong)
        if wrong and self.rule != "random":
            self.rewards = np.array([-(p in wrong) for p in range(game.num_players)], np.float32)
            self.over = self.rule == "lose"
        else:
            for p in wrong:
                offered[p] = self.sample(p)
            before = self.returns()
            if game.simultaneous:
                joint = np.zeros(game.num_players, np.int64)
                for p in range(game.num_players):
                    if p in movers:
                        joint[p] = offered[p]
                    elif game.is_active(s, p):
                        joint[p] = self.sample(p)
                game.step(s, joint)
            else:
                game.step(s, offered[movers[0]])
            self.opponents_step()
            gone = game.simultaneous and self.seat >= 0 and not game.is_active(s, self.seat)
            self.over = game.is_terminal(s) or gone
            paid = game.simultaneous or game.is_terminal(s)
            self.rewards = self.returns() - before if paid else np.zeros_like(before)
        self.reward = float(self.rewards[payee])

    def observe(self) -> dict[str, Any]:
        """Return observation, mask and player."""
        game, s = self.game, self.s
        if game.simultaneous:
            seats = [*range(game.num_players)] if self.opponent is None else [self.seat]
            movers, player = seats, self.seat
        else:
            movers = [game.player(s)]
            player = movers[0] if self.opponent is None else self.seat
            seats = [player]
        planes = np.zeros((len(seats), *game.observation_shape), np.int8)
        masks = np.zeros((len(seats), game.num_actions), np.int8)
        for w, p in enumerate(seats):
            game.observe(s, p, planes[w])
            if p in movers and not self.over:
                masks[w, self.legal(p)] = 1
        every = game.simultaneous and self.opponent is None
        return {
            "observation": planes if every else planes[0],
            "action_mask": masks if every else masks[0],
            "player": player,
        }

    def rewards_info(self) -> dict[str, Any]:
        return {"rewards": self.rewards.copy(), "illegal_action": self.illegal}


def offer(rng: np.random.Generator, masks: NDArray[np.int8], illegal: float) -> NDArray[np.int64]:
    """Sample legal actions, or with probability `illegal` any number near the range of actions."""
    shape, count = masks.shape[:-1], masks.shape[-1]
    legal = (masks * rng.random(masks.shape)).argmax(-1)
    anything = rng.integers(-2, count + 2, shape)
    return np.where(rng.random(shape) < illegal, anything, legal)


@ids
@opponents
@rules
@np.errstate(over="ignore")  # SplitMix64 wraps around
def test_vector_environment_equals_a_reference_in_plain_python(
    id_: str, opponent: Any, rule: str, small: Small
) -> None:
    game, count, steps = small(id_), 2, 25
    for mode in AutoresetMode:
        seat = 0 if opponent is None else "random"
        options = {"opponent": opponent, "agent_seat": seat, "illegal_action": rule}
        env = GameVectorEnv(game, count, autoreset_mode=mode, **options)
        observations, info = env.reset(seed=7)
        references = [ReferenceGame(game, 7 + i, opponent, seat, rule) for i in range(count)]
        rng = np.random.default_rng(0)
        for _ in range(steps):
            for i, reference in enumerate(references):
                expected = reference.observe() | reference.rewards_info()
                np.testing.assert_array_equal(observations[i], expected.pop("observation"))
                for name, value in expected.items():
                    np.testing.assert_array_equal(info[name][i], value, err_msg=name)
            actions = offer(rng, info["action_mask"], 0.1)
            if mode == AutoresetMode.DISABLED and any(reference.over for reference in references):
                which = np.array([reference.over for reference in references])
                observations, info = env.reset(options={"reset_mask": which})
                for reference in references:
                    if reference.over:
                        reference.reset()
                continue
            observations, rewards, terminated, truncated, info = env.step(actions)
            assert not truncated.any()
            finals = np.zeros(count, bool)
            for i, reference in enumerate(references):
                if reference.over and mode == AutoresetMode.NEXT_STEP:
                    reference.reset()
                else:
                    reference.step(np.atleast_1d(actions[i]).tolist())
                assert rewards[i] == np.float32(reference.reward)
                assert terminated[i] == reference.over
                if reference.over and mode == AutoresetMode.SAME_STEP:
                    finals[i] = True
                    final, paid = reference.observe(), reference.rewards_info()
                    np.testing.assert_array_equal(info["final_obs"][i], final.pop("observation"))
                    for name, value in (final | paid).items():
                        np.testing.assert_array_equal(info["final_info"][name][i], value)
                    reference.reset()
                    reference.rewards, reference.illegal = paid["rewards"], paid["illegal_action"]
            if mode == AutoresetMode.SAME_STEP and finals.any():
                for name in ("_final_obs", "_final_info"):
                    np.testing.assert_array_equal(info[name], finals)
                assert not info["final_obs"][~finals].any()
            else:
                assert not {"final_obs", "final_info", "_final_obs", "_final_info"} & info.keys()


def trajectory(env: GameVectorEnv, steps: int, illegal: float = 0.1, seed: int = 11) -> list[Any]:
    """Return all results of an environment in some steps of random play."""
    rng = np.random.default_rng(seed)
    observations, info = env.reset(seed=seed)
    log: list[Any] = [observations, info]
    for _ in range(steps):
        ended = env.game_batch.episode_states["over"].copy()
        if env.autoreset_mode == AutoresetMode.DISABLED and ended.any():
            observations, info = env.reset(options={"reset_mask": ended})
            log += [observations, info]
        *returned, info = env.step(offer(rng, info["action_mask"], illegal))
        log += [*returned, info]
    return log


def assert_same(first: Any, second: Any) -> None:
    """Compare nested containers of arrays, types included."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, list | tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            assert_same(a, b)
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    else:
        assert first == second


@pytest.mark.parametrize("id_", THREADED)
@modes
@pytest.mark.parametrize("rule", ["lose", "raise", "penalize", "random"])
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_compiled_opponents_equal_python_opponents(
    id_: str, mode: AutoresetMode, rule: str, seat: Any, small: Small
) -> None:
    game = small(id_)
    options = {"agent_seat": seat, "illegal_action": rule, "autoreset_mode": mode}
    fused = GameVectorEnv(game, 5, opponent="random", **options)
    plain = GameVectorEnv(game, 5, opponent=Plain(game), **options)
    assert fused.game_batch.fused
    assert not plain.game_batch.fused
    illegal = 0.0 if rule == "raise" else 0.1
    assert_same(trajectory(fused, 25, illegal), trajectory(plain, 25, illegal))


@pytest.mark.parametrize("id_", THREADED)
@opponents
@modes
@pytest.mark.compiled
def test_results_do_not_depend_on_threads(
    id_: str, opponent: Any, mode: AutoresetMode, small: Small
) -> None:
    logs = []
    for threads in (1, 2, 3, 9):
        env = GameVectorEnv(
            small(id_), 7, opponent=opponent, num_threads=threads, autoreset_mode=mode
        )
        logs.append(trajectory(env, 25))
        env.close()
    for log in logs[1:]:
        assert_same(logs[0], log)


@ids
@pytest.mark.parametrize("opponent", ["random", Plain], ids=["fused", "plain"])
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_game_i_equals_a_single_environment_seeded_with_s_plus_i(
    id_: str, opponent: Any, seat: Any, small: Small
) -> None:
    game, count, seed = small(id_), 3, 2**40
    against = opponent if isinstance(opponent, str) else opponent(game)
    options = {"opponent": against, "agent_seat": seat, "illegal_action": "random"}
    env = GameVectorEnv(game, count, **options)
    singles = [GameEnv(game, **options) for _ in range(count)]
    observations, info = env.reset(seed=seed)
    rng = np.random.default_rng(0)
    over, episodes = np.zeros(count, bool), 0
    for i, single in enumerate(singles):
        seen, single_info = single.reset(seed=seed + i)
        np.testing.assert_array_equal(seen, observations[i])
        assert_same(single_info, as_single(info, i))
    for _ in range(40):
        actions = offer(rng, info["action_mask"], 0.1)
        observations, rewards, terminated, _, info = env.step(actions)
        for i, single in enumerate(singles):
            if over[i]:
                seen, single_info = single.reset()
                reward, ended = 0.0, False
            else:
                seen, reward, ended, truncated, single_info = single.step(actions[i])
                assert truncated is False
            np.testing.assert_array_equal(seen, observations[i])
            assert (reward, ended) == (rewards[i], terminated[i])
            assert_same(single_info, as_single(info, i))
            over[i] = ended
            episodes += ended
    assert episodes > 2 * count


def as_single(info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the info of game i in the form of `GameEnv`."""
    return {
        "action_mask": info["action_mask"][i],
        "rewards": info["rewards"][i],
        "player": int(info["player"][i]),
        "illegal_action": bool(info["illegal_action"][i]),
    }


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, marks=() if rule == "penalize" else pytest.mark.slow)
        for rule in ("lose", "raise", "penalize", "random")
    ],
)
@modes
def test_opponents_may_win_before_the_agent_can_move(rule: str, mode: AutoresetMode) -> None:
    """On so small a board some first moves of White win: Black has no legal action, and loses."""
    game = make_game("knight_through:rows=4,columns=4")
    options = {"agent_seat": 1, "illegal_action": rule, "autoreset_mode": mode}
    fused = GameVectorEnv(game, 40, opponent="random", **options)
    plain = GameVectorEnv(game, 40, opponent=Plain(game), **options)
    assert_same(trajectory(fused, 10, 0.0), trajectory(plain, 10, 0.0))
    _, info = fused.reset(seed=0)
    lost = ~info["action_mask"].any(-1)
    assert 0 < lost.sum() < 40
    _, rewards, terminated, _, info = fused.step(info["action_mask"].argmax(-1))
    assert terminated[lost].all()
    assert (rewards[lost] == -1).all()
    assert (info["rewards"][lost] == [1, -1]).all()
    assert not info["illegal_action"].any()

    at = int(np.flatnonzero(lost)[0])
    single = GameEnv(game, agent_seat=1, illegal_action=rule)
    _, single_info = single.reset(seed=at)
    assert not single_info["action_mask"].any()
    twin = GameEnv(game, agent_seat=1, illegal_action=rule)
    twin.restore(single.save())
    for env in (single, twin):
        assert env.step(0)[1:3] == (-1.0, True)
        assert env.replay().returns == (1.0, -1.0)
        env.reset()


@ids
def test_a_game_of_self_play_equals_pettingzoos_environments(id_: str, small: Small) -> None:
    game, seed = small(id_), 5
    env = GameVectorEnv(game, 2)
    observations, info = env.reset(seed=seed - 1)
    kind = "parallel" if game.simultaneous else "aec"
    other = make_pettingzoo(kind, f"ludoteca/{id_}", **small(id_).params)
    other.reset(seed=seed)
    rng = np.random.default_rng(3)
    ended, episodes = False, 0
    for _ in range(60):
        actions = offer(rng, info["action_mask"], 0.05)
        observations, _, terminated, _, info = env.step(actions)
        rewards = dict(zip(other.possible_agents, info["rewards"][1].tolist(), strict=True))
        if ended:
            other.reset()
        elif game.simultaneous:
            playing = other.agents[:]
            seats = [other.possible_agents.index(agent) for agent in playing]
            seen, paid, over, _, _ = other.step(dict(zip(playing, actions[1, seats], strict=True)))
            assert paid == {agent: rewards[agent] for agent in playing}
            assert all(over.values()) == terminated[1]
            for agent, seat in zip(playing, seats, strict=True):
                np.testing.assert_array_equal(seen[agent]["observation"], observations[1, seat])
                np.testing.assert_array_equal(
                    seen[agent]["action_mask"], info["action_mask"][1, seat]
                )
        else:
            other.step(actions[1])
            assert other.rewards == rewards
            assert set(other.terminations.values()) == {terminated[1]}
        if not game.simultaneous:
            assert other.agent_selection == f"player_{info['player'][1]}"
            seen = other.observe(other.agent_selection)
            np.testing.assert_array_equal(seen["observation"], observations[1])
            np.testing.assert_array_equal(seen["action_mask"], info["action_mask"][1])
        ended = bool(terminated[1])
        episodes += ended
    assert episodes > 2


@ids
@modes
def test_vector_environment_equals_gymnasiums_vector_of_single_environments(
    id_: str, mode: AutoresetMode, small: Small
) -> None:
    options: dict[str, Any] = {"opponent": "random", "agent_seat": "random"}
    options |= {"illegal_action": "penalize"} | dict(small(id_).params)
    name = f"ludoteca/{id_}"
    ours = gym.make_vec(name, num_envs=3, autoreset_mode=mode, **options)
    theirs = gym.make_vec(
        name,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        **options,
    )
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    for space in ("observation_space", "action_space", "single_observation_space"):
        assert getattr(ours, space) == getattr(theirs, space)
    rng = np.random.default_rng(0)
    (observations, info), (expected, info_too) = ours.reset(seed=9), theirs.reset(seed=9)
    ends = 0
    for _ in range(40):
        np.testing.assert_array_equal(observations, expected)
        for key in ("action_mask", "player"):
            np.testing.assert_array_equal(info[key], info_too[key])
        actions = offer(rng, info["action_mask"], 0.1)
        observations, rewards, terminated, truncated, info = ours.step(actions)
        expected, rewards_too, terminated_too, truncated_too, info_too = theirs.step(actions)
        np.testing.assert_array_equal(rewards, rewards_too)
        np.testing.assert_array_equal(terminated, terminated_too)
        np.testing.assert_array_equal(truncated, truncated_too)
        ends += int(terminated.sum())
        for key in ("final_obs", "final_info"):
            assert (key in info) == (key in info_too)
            if key in info:
                np.testing.assert_array_equal(info[f"_{key}"], info_too[f"_{key}"])
        if "final_info" in info:
            assert info["final_info"].keys() == info_too["final_info"].keys()
            for key, value in info_too["final_info"].items():
                np.testing.assert_array_equal(info["final_info"][key], value, err_msg=key)
            for i in np.flatnonzero(terminated):
                np.testing.assert_array_equal(info["final_obs"][i], info_too["final_obs"][i])
        elif mode != AutoresetMode.SAME_STEP:
            for key in ("rewards", "illegal_action"):
                np.testing.assert_array_equal(info[key], info_too[key])
        if mode == AutoresetMode.DISABLED and terminated.any():
            observations, info = ours.reset(options={"reset_mask": terminated})
            expected, some = theirs.reset(options={"reset_mask": terminated})
            # Gymnasium reports only the games that were reset.
            for key in ("action_mask", "player"):
                np.testing.assert_array_equal(info[key][terminated], some[key][terminated])
            info_too = info
    assert ends > 3
    ours.close()
    theirs.close()


@ids
@pytest.mark.parametrize("options", [{}, {"opponent": "random"}], ids=str)
def test_dtype_and_channels_last_have_the_same_values(
    id_: str, options: dict[str, Any], small: Small
) -> None:
    mode = AutoresetMode.SAME_STEP
    plain = GameVectorEnv(small(id_), 3, autoreset_mode=mode, **options)
    other = GameVectorEnv(
        small(id_), 3, autoreset_mode=mode, dtype="float32", channels_last=True, **options
    )
    assert other.observation_space.dtype == np.float32
    rng = np.random.default_rng(0)
    (seen, info), (seen_too, _) = plain.reset(seed=1), other.reset(seed=1)
    for _ in range(20):
        assert seen_too in other.observation_space
        np.testing.assert_array_equal(np.moveaxis(seen_too, -1, -3), seen)
        actions = offer(rng, info["action_mask"], 0.0)
        seen, *_, info = plain.step(actions)
        seen_too, *_, info_too = other.step(actions)
        assert ("final_obs" in info) == ("final_obs" in info_too)
        if "final_obs" in info:
            final = np.moveaxis(info_too["final_obs"], -1, -3)
            np.testing.assert_array_equal(final, info["final_obs"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels_last", [False, True])
def test_every_dtype_in_every_environment(dtype: str, channels_last: bool) -> None:
    options: dict[str, Any] = {"dtype": dtype, "channels_last": channels_last}
    shape = (3, 3, 2) if channels_last else (2, 3, 3)
    single = gym.make("ludoteca/TicTacToe-v0", **options)
    aec = make_pettingzoo("aec", "ludoteca/TicTacToe-v0", **options)
    aec.reset(seed=0)
    aec.step(5)
    aec.step(0)
    for seen, space in (
        (single.reset(seed=0)[0], single.observation_space),
        (aec.observe("player_0")["observation"], aec.observation_space("player_0")["observation"]),
        (aec.observe("player_1")["observation"], aec.observation_space("player_1")["observation"]),
        (aec.state(), aec.state_space),
    ):
        assert seen.dtype == space.dtype == np.dtype(dtype)
        assert seen.shape == space.shape == shape
        assert seen in space
    mine = np.moveaxis(aec.observe("player_0")["observation"], -1 if channels_last else 0, 0)
    np.testing.assert_array_equal(mine, [np.arange(9).reshape(3, 3) == cell for cell in (5, 0)])


@ids
@np.errstate(over="ignore")
def test_rewards_add_up_to_the_result_of_the_game(id_: str, small: Small) -> None:
    game = small(id_)
    env = GameVectorEnv(game, 20, autoreset_mode=AutoresetMode.DISABLED)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    totals = np.zeros((20, game.num_players))
    playing = np.ones(20, bool)
    results = {}
    while playing.any():
        before = env.game_batch.episode_states["mover"].copy()
        _, rewards, terminated, _, info = env.step(offer(rng, info["action_mask"], 0.0))
        totals += np.where(playing[:, None], info["rewards"], 0)
        for i in np.flatnonzero(terminated & playing):
            result = np.zeros(game.num_players, np.float32)
            game.returns(env.game_batch.states.view(np.recarray)[i], result)
            results[int(i)] = result
        payee = np.zeros(20, int) if game.simultaneous else before
        np.testing.assert_array_equal(rewards, info["rewards"][np.arange(20), payee])
        playing &= ~terminated
        if terminated.any() and playing.any():
            _, info = env.reset(options={"reset_mask": terminated})
    for i, result in results.items():
        np.testing.assert_allclose(totals[i], result, atol=1e-6)
        assert abs(totals[i].sum()) < 1e-6
    assert any(result.any() for result in results.values())


@pytest.mark.parametrize("id_", EVERY_GAME)
def test_the_loser_receives_its_reward(id_: str, small: Small) -> None:
    game = small(id_)
    env = GameVectorEnv(game, 50, opponent="random", agent_seat="random")
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    paid = set()
    for _ in range(40):
        seats = env.game_batch.episode_states["seat"].copy()
        over = env.game_batch.episode_states["over"].copy()
        _, rewards, terminated, _, info = env.step(offer(rng, info["action_mask"], 0.0))
        np.testing.assert_array_equal(
            rewards, np.where(over, 0, info["rewards"][np.arange(50), seats])
        )
        assert not rewards[~terminated].any()
        paid |= set(rewards[terminated].tolist())
    assert {-1.0, 1.0} <= paid


def test_a_goose_gets_its_reward_when_it_dies() -> None:
    env = make_pettingzoo("parallel", "ludoteca/HungryGeese-v0")
    early = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        died: dict[str, float] = {}
        while env.agents:
            playing = env.agents[:]
            _, rewards, terminations, _, _ = env.step(
                {agent: int(rng.integers(4)) for agent in playing}
            )
            for agent in playing:
                totals[agent] += rewards[agent]
                if terminations[agent]:
                    died[agent] = totals[agent]
                else:
                    assert rewards[agent] == 0
            early += bool(env.agents) and any(terminations.values())
        returns = env.replay().returns
        assert tuple(died[agent] for agent in env.possible_agents) == pytest.approx(
            returns, abs=1e-5
        )
        assert sum(returns) == pytest.approx(0, abs=1e-5)
    assert early > 5


def test_opponents_are_in_the_order_of_seats_without_the_agents(small: Small) -> None:
    game = small("HungryGeese-v0")
    for seat in range(game.num_players):
        first, second = Plain(game), Plain(game)
        env = GameVectorEnv(game, 4, opponent=[first, second], agent_seat=seat)
        _, info = env.reset(seed=0)
        for _ in range(10):
            info = env.step(offer(np.random.default_rng(0), info["action_mask"], 0.0))[-1]
        others = [p for p in range(game.num_players) if p != seat]
        assert set(first.seats) == {others[0]}
        assert set(second.seats) == {others[1]}
        assert set(first.reset_indices) == {0, 1, 2, 3}


def test_one_opponent_may_take_all_seats_and_is_reset_once(small: Small) -> None:
    game = small("HungryGeese-v0")
    plain = Plain(game)
    env = GameVectorEnv(game, 3, opponent=plain, agent_seat=1)
    env.reset(seed=0)
    assert plain.reset_indices == [0, 1, 2]
    env.step(np.zeros(3, np.int64))
    assert set(plain.seats) == {0, 2}


def test_a_list_of_specs_and_objects_is_one_per_seat(small: Small) -> None:
    game = small("HungryGeese-v0")
    listed = GameVectorEnv(game, 3, opponent=["random", RandomAgent(game)], agent_seat="random")
    alike = GameVectorEnv(game, 3, opponent="random", agent_seat="random")
    assert listed.game_batch.fused
    assert_same(trajectory(listed, 20), trajectory(alike, 20))


class InvalidOpponent(Plain):
    """Opponent that returns an invalid answer after `num_legal` legal actions."""

    def __init__(self, game: Game, answer: Any, num_legal: int):
        super().__init__(game)
        self.answer, self.num_legal = answer, num_legal

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
        self.num_legal -= 1
        if self.num_legal >= 0:
            return super().act(states, seats, rngs, env_indices)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(len(states))


@pytest.mark.parametrize("id_", ["TicTacToe-v0", "Tron-v0"])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.full(n, 99), r"opponent in seat 1 of game \d chose 99, which is illegal"),
        (lambda n: np.full(n, -2), "chose -2, which is illegal"),
        (lambda n: np.zeros(n), r"must return integers of shape \(\d,\), got float64"),
        (lambda n: 0, r"must return integers of shape \(\d,\), got int64 of shape \(\)"),
        (lambda n: np.zeros(n + 1, int), "must return integers of shape"),
        (lambda n: np.zeros((n, 1), int), "must return integers of shape"),
        (lambda n: None, "must return integers of shape .* got object"),
        (RuntimeError("the program crashed"), "the program crashed"),
    ],
)
def test_errors_of_opponents_name_them_and_change_nothing(
    id_: str, answer: Any, message: str, small: Small
) -> None:
    game = small(id_)
    wrong = InvalidOpponent(game, answer, num_legal=1)
    env = GameVectorEnv(game, 3, opponent=wrong, autoreset_mode=AutoresetMode.SAME_STEP)
    _, info = env.reset(seed=0)
    _, _, _, _, info = env.step(info["action_mask"].argmax(-1))
    before, masks = env.save(), env.action_masks()
    seen = env.game_batch.observations.copy()
    actions = info["action_mask"].argmax(-1)
    with pytest.raises((ValueError, RuntimeError), match=message):
        env.step(actions)
    assert env.save() == before
    np.testing.assert_array_equal(env.action_masks(), masks)
    np.testing.assert_array_equal(env.game_batch.observations, seen)
    wrong.num_legal = 10**6
    env.step(actions)


def test_opponents_cannot_change_positions(small: Small) -> None:
    class Vandal(Plain):
        def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> Any:
            actions = super().act(states, seats, rngs, env_indices)
            states["board"], seats[:], env_indices[:] = 1, 0, 0
            return actions

    game = small("TicTacToe-v0")
    vandal = GameVectorEnv(game, 3, opponent=Vandal(game), agent_seat="random")
    plain = GameVectorEnv(game, 3, opponent="random", agent_seat="random")
    assert_same(trajectory(vandal, 20), trajectory(plain, 20))


def test_agents_can_be_opponents(small: Small) -> None:
    assert issubclass(Agent, Opponent)
    assert isinstance(Plain(small("Hex-v0")), Opponent)


@ids
@opponents
@modes
def test_returned_arrays_belong_to_the_caller(
    id_: str, opponent: Any, mode: AutoresetMode, small: Small
) -> None:
    """Later steps do not write to them, and writing to them has no effect."""

    def arrays(container: Any) -> list[NDArray[Any]]:
        if isinstance(container, dict):
            return [array for value in container.values() for array in arrays(value)]
        if isinstance(container, list | tuple):
            return [array for value in container for array in arrays(value)]
        return [container]

    env = GameVectorEnv(small(id_), 3, opponent=opponent, autoreset_mode=mode)
    original = trajectory(env, 20)
    before = [array.copy() for array in arrays(original)]
    later = trajectory(env, 20)
    for old, new in zip(before, arrays(original), strict=True):
        np.testing.assert_array_equal(old, new)
    assert_same(original, later)

    env = GameVectorEnv(small(id_), 3, opponent=opponent, autoreset_mode=mode)
    rng = np.random.default_rng(11)
    observations, info = env.reset(seed=11)
    log: list[Any] = [np.array(observations), {key: v.copy() for key, v in info.items()}]
    for _ in range(20):
        mask = info["action_mask"].copy()
        ended = env.game_batch.episode_states["over"].copy()
        if mode == AutoresetMode.DISABLED and ended.any():
            observations, info = env.reset(options={"reset_mask": ended})
            log += [np.array(observations), {key: v.copy() for key, v in info.items()}]
            mask = info["action_mask"].copy()
        for array in [observations, *arrays(info)]:
            array[...] = 1
        *returned, info = env.step(offer(rng, mask, 0.1))
        log += [array.copy() for array in returned]
        log.append({k: v if isinstance(v, dict) else v.copy() for k, v in info.items()})
        if "final_info" in log[-1]:
            log[-1]["final_info"] = {k: v.copy() for k, v in info["final_info"].items()}
        for array in returned:
            array[...] = 1
    assert_same(log, later)


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.compiled
def test_later_steps_do_not_change_returned_observations(opponent: Any) -> None:
    torch = pytest.importorskip("torch")
    env = GameVectorEnv("tictactoe", 2048, opponent=opponent)
    forms = [
        lambda seen: seen[5:],
        lambda seen: seen.T,
        lambda seen: memoryview(seen.reshape(-1)),
        lambda seen: torch.from_numpy(seen),
        lambda seen: np.frombuffer(seen.reshape(-1), np.int8),
    ]
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    held = []
    for step in range(40):
        seen, *_, info = env.step(offer(rng, info["action_mask"], 0.0))
        if step % 3 == 0:
            form = forms[step // 3 % len(forms)]
            held.append((form(seen), form(seen.copy())))
    for view, copied in held:
        np.testing.assert_array_equal(np.asarray(view), np.asarray(copied))


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.compiled
def test_final_observations_of_other_games_are_zero(opponent: Any) -> None:
    env = GameVectorEnv(
        "tictactoe", 1000, opponent=opponent, autoreset_mode=AutoresetMode.SAME_STEP
    )
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(40):
        *_, terminated, _, info = env.step(offer(rng, info["action_mask"], 0.0))
        if terminated.any():
            finals, final_info = info["final_obs"], info["final_info"]
            ends += 1
            assert (finals[terminated].sum((1, 2, 3)) >= 5).all()
            assert not finals[~terminated].any()
            assert (final_info["_rewards"] == terminated).all()
            assert not final_info["rewards"][~terminated].any()
            assert not final_info["action_mask"].any()
    assert ends > 1


@ids
def test_reset_mask_does_not_change_other_games(id_: str, small: Small) -> None:
    env = GameVectorEnv(small(id_), 4, opponent="random")
    observations, info = env.reset(seed=0)
    for _ in range(2):
        observations, *_, info = env.step(info["action_mask"].argmax(-1))
    which = np.array([True, False, False, True])
    before = env.game_batch.states.copy(), env.game_batch.episode_states.copy()
    again, info_too = env.reset(seed=[70, None, None, None], options={"reset_mask": which})
    for kept, now in zip(
        before, (env.game_batch.states, env.game_batch.episode_states), strict=True
    ):
        assert (kept[~which] == now[~which]).all()
    np.testing.assert_array_equal(again[~which], observations[~which])
    np.testing.assert_array_equal(info_too["action_mask"][~which], info["action_mask"][~which])
    fresh, _ = GameEnv(small(id_)).reset(seed=70)
    np.testing.assert_array_equal(again[0], fresh)


def test_seeds_of_games() -> None:
    env = GameVectorEnv("hungry_geese", 3)
    by_number, _ = env.reset(seed=np.int64(4))
    by_list, _ = env.reset(seed=[4, 5, 6])
    by_array, _ = env.reset(seed=np.arange(4, 7))
    np.testing.assert_array_equal(by_number, by_list)
    np.testing.assert_array_equal(by_number, by_array)
    onwards, _ = env.reset()
    assert (onwards != by_number).any(axis=(1, 2, 3, 4)).all()
    env.reset(seed=[4, 5, 6])
    again, _ = env.reset(seed=[None, 5, None])
    np.testing.assert_array_equal(again[[0, 2]], onwards[[0, 2]])
    np.testing.assert_array_equal(again[1], by_number[1])


def test_without_a_seed_all_games_differ() -> None:
    for seed in (None, [1, None, None]):
        first, second = GameVectorEnv("hungry_geese", 3), GameVectorEnv("hungry_geese", 3)
        observations, other = first.reset(seed=seed)[0], second.reset(seed=seed)[0]
        assert len({game.tobytes() for game in [*observations[1:], *other[1:]]}) == 4


@pytest.mark.parametrize("seed", [-1, [0, -1], 2**63, [0], [0, 1, 2], 1.5, [0, 0.5], "a"])
def test_invalid_seeds_are_errors(seed: Any) -> None:
    env = GameVectorEnv("tictactoe", 2)
    with pytest.raises((ValueError, TypeError), match=r"seed|float"):
        env.reset(seed=seed)


@pytest.mark.parametrize(
    "mask", [[1, 0], [False, False], [True], np.ones((2, 1), bool), "ab", np.array([1.0, 0.0])]
)
def test_invalid_reset_masks_are_errors(mask: Any) -> None:
    env = GameVectorEnv("tictactoe", 2)
    env.reset(seed=0)
    before = env.save()
    with pytest.raises(ValueError, match=r"reset_mask must be booleans of shape \(2,\)"):
        env.reset(options={"reset_mask": mask})
    assert env.save() == before


def test_the_first_reset_must_reset_all_games() -> None:
    env = GameVectorEnv("tictactoe", 2)
    with pytest.raises(ValueError, match="first reset must be of all games"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(options={"reset_mask": np.array([True, True])})


def test_single_player_games_have_an_axis_of_players() -> None:
    env = gym.make_vec("ludoteca/HungryGeese-v0", num_envs=2, num_players=1)
    observations, info = env.reset(seed=0)
    assert observations in env.observation_space
    assert observations.shape == (2, 1, 5, 7, 11)
    assert info["action_mask"].shape == (2, 1, 4)
    assert info["player"].tolist() == [-1, -1]
    _, rewards, terminated, _, _ = env.step(env.action_space.sample())
    assert terminated.all()
    assert rewards.tolist() == [0.0, 0.0]
    alone = gym.make("ludoteca/HungryGeese-v0", num_players=1, opponent=[])
    alone.reset(seed=0)
    assert alone.step(0)[1:3] == (0.0, True)


@ids
@opponents
def test_make_vec_passes_parameters_and_has_the_right_spaces(
    id_: str, opponent: Any, small: Small
) -> None:
    params = small(id_).params
    env = gym.make_vec(f"ludoteca/{id_}", num_envs=3, opponent=opponent, **params)
    game = make_game(id_, **params)
    assert env.unwrapped.game is game
    spaces = env.observation_space, env.action_space
    observations, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(10):
        assert observations in env.observation_space
        assert info["action_mask"].dtype == np.int8
        np.testing.assert_array_equal(env.unwrapped.action_masks(), info["action_mask"] == 1)
        observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())
        assert rewards.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_
    assert spaces[0] is env.observation_space
    assert spaces[1] is env.action_space


@pytest.mark.parametrize("id_", ["Connect4-v0", "HungryGeese-v0"])
@modes
def test_gymnasiums_vector_wrappers_work(id_: str, mode: AutoresetMode, small: Small) -> None:
    options: dict[str, Any] = {"opponent": "random", "autoreset_mode": mode} | dict(
        small(id_).params
    )
    env = gym.make_vec(f"ludoteca/{id_}", num_envs=4, **options)
    env = wrappers.RecordEpisodeStatistics(env)
    if mode != AutoresetMode.SAME_STEP:  # Gymnasium refuses to flatten observations then
        env = wrappers.FlattenObservation(env)
    env = wrappers.DictInfoToList(env)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    lengths, finished = np.zeros(4, int), 0
    over = np.zeros(4, bool)
    for _ in range(40):
        if mode == AutoresetMode.DISABLED and over.any():
            env.reset(options={"reset_mask": over})
            infos = [{"action_mask": mask.astype(np.int8)} for mask in env.unwrapped.action_masks()]
            lengths[over], over = 0, np.zeros(4, bool)
        masks = np.stack([info["action_mask"] for info in infos])
        _, rewards, terminated, _, infos = env.step(offer(rng, masks, 0.0))
        for i, info in enumerate(infos):
            skipped = over[i] and mode == AutoresetMode.NEXT_STEP
            lengths[i] = 0 if skipped else lengths[i] + 1
            assert ("episode" in info) == terminated[i]
            assert ("final_obs" in info) == (terminated[i] and mode == AutoresetMode.SAME_STEP)
            if terminated[i]:
                assert info["episode"]["l"] == lengths[i]
                assert info["episode"]["r"] == rewards[i]
                finished += 1
                if mode == AutoresetMode.SAME_STEP:
                    lengths[i] = 0
        over = terminated.copy()
    assert finished > 8


def test_render_returns_one_image_per_game() -> None:
    for mode, kind in (("rgb_array", np.ndarray), ("ansi", str), ("svg", str)):
        env = gym.make_vec("ludoteca/TicTacToe-v0", num_envs=2, render_mode=mode)
        with pytest.raises(ValueError, match="call reset before render"):
            env.render()
        env.reset(seed=0)
        env.step(np.array([0, 8]))
        image, other = env.render()
        assert isinstance(image, kind)
        assert isinstance(other, kind)
        assert np.any(image != other)
    assert gym.make_vec("ludoteca/TicTacToe-v0", num_envs=2).render() is None
