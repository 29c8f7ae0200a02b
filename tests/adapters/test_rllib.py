"""Tests with RLlib: its own checks, returns and masks by player, self-play, policies as agents."""

import gc
import pickle
import tempfile
import warnings
from collections import Counter
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from document_blocks import ROOT, blocks_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray")
    from ray.rllib.algorithms.dqn import DQNConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import (
        DefaultPPOTorchRLModule,
    )
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
        ActionMaskingTorchRLModule,
    )
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments
    from ray.tune.registry import register_env

    from ludoteca.envs.adapters.rllib import (
        FORMAT,
        RLlibGameEnv,
        RLlibMultiAgentEnv,
        RLlibVectorEnv,
        make_env,
        masked_module,
        register,
    )
    from ludoteca.train.rllib import LEARNER, Matchups, SelfPlay

from ludoteca.agents.external.rllib import RLlibAgent, export_module, load_checkpoint
from ludoteca.agents.registry import make_agent
from ludoteca.envs import tictactoe_v0, tron_v0
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own warnings
FAST_GAMES = ("TicTacToe-v0", "Connect4-v0", "Tron-v0", "HungryGeese-v0")
EVERY_GAME = [
    game if game in FAST_GAMES else pytest.param(game, marks=pytest.mark.slow) for game in GAMES
]
AGAINST = {"game": "tictactoe", "opponent": "random", "agent_seat": "random"}
VECTOR = {"gym_env_vectorize_mode": "vector_entry_point"}
SHARED = {"policies": {"shared"}, "policy_mapping_fn": lambda *a, **k: "shared"}


@pytest.fixture(scope="module", autouse=True)
def _ray():
    """Run Ray on this machine, with our environments registered."""
    ray.init(
        num_cpus=2,
        object_store_memory=200_000_000,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=tempfile.mkdtemp(prefix="ray"),
    )
    register()
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray does not wait for its processes
        ray.shutdown()
        gc.collect()


def config(env: Any, env_config: dict[str, Any] | None = None, **env_runners: Any) -> Any:
    """Return a small configuration of PPO."""
    return (
        PPOConfig()
        .environment(env, env_config=env_config or {})
        .env_runners(**{"num_env_runners": 0, "num_envs_per_env_runner": 4} | env_runners)
        .rl_module(rl_module_spec=masked_module(fcnet_hiddens=[16]))
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
        .debugging(log_level="ERROR", seed=0)
    )


def train(settings: Any, iterations: int = 1) -> Any:
    """Return an algorithm that has learned a little, and its last result."""
    algorithm = settings.build_algo()
    for _ in range(iterations):
        result = algorithm.train()
    return algorithm, result


def choose(observations: dict[str, Any], rng: Any) -> dict[str, int]:
    """Return a random legal action for each agent that may act."""
    return {
        agent: int(rng.choice(np.flatnonzero(seen["action_mask"])))
        for agent, seen in observations.items()
    }


# Environments.


@pytest.mark.parametrize("game", EVERY_GAME)
def test_games_pass_rllibs_check_and_reward_every_player(game):
    env = RLlibMultiAgentEnv(game)
    check_multiagent_environments(env)
    rng = np.random.default_rng(0)
    for seed in range(4):
        observations, _ = env.reset(seed=seed)
        returns: Counter[str] = Counter()
        finished: set[str] = set()
        while True:
            for agent, seen in observations.items():
                assert env.observation_spaces[agent].contains(seen)
            acting = {agent: seen for agent, seen in observations.items() if agent not in finished}
            observations, rewards, ended, truncated, _ = env.step(choose(acting, rng))
            assert not finished & (rewards.keys() | observations.keys())
            returns.update(rewards)
            finished |= {agent for agent, over in ended.items() if over}
            assert not any(truncated.values())
            if ended["__all__"]:
                break
        assert finished == {*env.possible_agents, "__all__"}
        assert sum(returns.values()) == pytest.approx(0, abs=1e-6)
        returned = np.zeros(env.game.num_players)
        env.game.returns(env.game_batch.states.view(np.recarray)[0], returned)
        assert [returns[agent] for agent in env.possible_agents] == pytest.approx(returned)


@pytest.mark.parametrize("game", ["tictactoe", "tron"])
def test_observations_and_rewards_are_those_of_the_vector_environment(game):
    native = GameVectorEnv(game, 1, autoreset_mode="Disabled", **FORMAT)
    env = RLlibMultiAgentEnv(game)
    rng = np.random.default_rng(1)
    for seed in range(5):
        seen, info = native.reset(seed=seed)
        observations, _ = env.reset(seed=seed)
        over = False
        while not over:
            if env.game.simultaneous:
                expected = {k: v[0] for k, v in seen.items()}
                views = {f"player_{p}": {k: v[p] for k, v in expected.items()} for p in range(2)}
            else:
                views = {f"player_{info['player'][0]}": {k: v[0] for k, v in seen.items()}}
            assert observations.keys() == views.keys()
            for agent, view in views.items():
                for key, value in view.items():
                    assert np.array_equal(observations[agent][key], value)
            actions = choose(observations, rng)
            observations, rewards, ended, _, _ = env.step(actions)
            joint = [list(actions.values())] if env.game.simultaneous else list(actions.values())
            seen, _, terminated, _, info = native.step(np.array(joint))
            assert list(rewards.values()) == info["rewards"][0].tolist()
            over = ended["__all__"]
            assert over == terminated[0]


def test_invalid_actions_are_errors_and_change_nothing():
    env = RLlibMultiAgentEnv("tictactoe", illegal_action="raise")
    with pytest.raises(ValueError, match="call reset before step"):
        env.step({"player_0": 0})
    env.reset(seed=0)
    env.step({"player_0": 4})
    for actions, message in (
        ({"player_0": 0}, r"expected actions of \['player_1'\], got those of \['player_0'\]"),
        ({"player_1": 4}, "is illegal"),
        ({"player_1": "x"}, "must be an integer"),
        (3, "must be a dictionary"),
    ):
        with pytest.raises(ValueError, match=message):
            env.step(actions)
    observations, _, _, _, _ = env.step({"player_1": 0})
    assert list(observations) == ["player_0"]
    env = RLlibMultiAgentEnv("tictactoe")  # here an illegal action loses
    env.reset(seed=0)
    env.step({"player_0": 4})
    _, rewards, ended, _, _ = env.step({"player_1": 4})
    assert rewards == {"player_0": 0, "player_1": -1}
    assert ended == {"player_0": True, "player_1": True, "__all__": True}
    with pytest.raises(ValueError, match="the game is over: call reset"):
        env.step({"player_0": 0})


def test_env_configs_choose_the_environment_and_its_observations():
    assert isinstance(make_env({"game": "hex:board_size=5"}), RLlibMultiAgentEnv)
    assert isinstance(make_env(AGAINST), RLlibGameEnv)
    vector = make_env(AGAINST | {"num_envs": 3, "observation": "planes", "dtype": "int8"})
    assert isinstance(vector, RLlibVectorEnv)
    assert vector.single_observation_space == gymnasium.spaces.Box(0, 1, (2, 3, 3), np.int8)
    flat = make_env({"game": "tictactoe", "observation": "flat"})
    assert flat.observation_spaces["player_1"].shape == (18,)
    for bad, message in (
        ({}, "env_config must name a game"),
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"game": "hex", "sise": 5}, "unexpected keyword argument 'sise'"),
        ({"game": "hex", "num_envs": 4}, "needs an opponent in env_config"),
        (AGAINST | {"opponent": "nobody"}, "unknown agent 'nobody'"),
    ):
        with pytest.raises(ValueError, match=message):
            make_env(bad)


def test_the_vector_environment_reports_only_seats_of_finished_games():
    env = RLlibVectorEnv("tictactoe", 32, opponent="random", agent_seat="random")
    assert env.single_observation_space == ObservationFormat(**FORMAT).space(env.game)
    seen, info = env.reset(seed=0)
    assert info == {}
    rng, seats = np.random.default_rng(0), []
    for _ in range(60):
        actions = [rng.choice(np.flatnonzero(mask)) for mask in seen["action_mask"]]
        seen, _, terminated, _, info = env.step(np.array(actions))
        assert info.keys() == ({"player", "_player"} if terminated.any() else set())
        if terminated.any():
            assert np.array_equal(info["_player"], terminated)
            seats += info["player"][terminated].tolist()
    assert 0.35 < np.mean(seats) < 0.65


# Training as users try it first.


def pettingzoo(_: Any) -> Any:
    """Return RLlib's own wrapper of our AEC environment."""
    return PettingZooEnv(tictactoe_v0.env())


def parallel(_: Any) -> Any:
    """Return RLlib's own wrapper of our parallel environment."""
    return ParallelPettingZooEnv(tron_v0.parallel_env())


@pytest.mark.parametrize("env", ["ludoteca", "ludoteca/TicTacToe-v0"])
@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_one_agent_learns_against_opponents(env, mode):
    settings = config(env, AGAINST if env == "ludoteca" else {}, gym_env_vectorize_mode=mode)
    algorithm, result = train(settings)
    assert result["env_runners"]["num_env_steps_sampled"] >= 128
    assert -1 <= result["env_runners"]["episode_return_mean"] <= 1
    algorithm.stop()


@pytest.mark.parametrize(
    ("name", "creator"), [("zoo", pettingzoo), ("parallel_zoo", parallel), ("ludoteca", None)]
)
def test_several_agents_learn(name, creator):
    if creator is not None:
        register_env(name, creator)
    settings = config(name, {} if creator else {"game": "tron"}).multi_agent(**SHARED)
    algorithm, result = train(settings)
    returns = result["env_runners"]["agent_episode_returns_mean"]
    assert sum(returns.values()) == pytest.approx(0, abs=1e-6)
    algorithm.stop()


def test_rllibs_own_module_with_a_mask_takes_the_format():
    register_env("zoo_in_format", lambda _: PettingZooEnv(tictactoe_v0.env(**FORMAT)))
    spec = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule, model_config=DefaultModelConfig(fcnet_hiddens=[8])
    )
    for settings in (
        config("zoo_in_format").multi_agent(**SHARED),
        config("ludoteca", AGAINST, **VECTOR),
    ):
        algorithm, _ = train(settings.rl_module(rl_module_spec=spec))
        algorithm.stop()


def test_convolutions_and_dqn_learn_too(tmp_path):
    planes = AGAINST | {"observation": "dict", "channels_last": True}
    filters = masked_module(conv_filters=[[4, 3, 1]])
    cnn = config("ludoteca", planes, **VECTOR).rl_module(rl_module_spec=filters)
    flat = AGAINST | {"observation": "flat", "illegal_action": "random"}
    dqn = (
        DQNConfig()
        .environment("ludoteca", env_config=flat)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4, **VECTOR)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[16]))
        .training(num_steps_sampled_before_learning_starts=64, train_batch_size_per_learner=32)
        .debugging(log_level="ERROR")
    )
    for settings in (cnn, dqn):
        algorithm, _ = train(settings)
        game, module = make_game("tictactoe"), algorithm.get_module()
        path = export_module(module, game, tmp_path / "policy")
        agents = (RLlibAgent.from_module(game, module), make_agent(f"rllib:{path}", game))
        results = [play_match(game, [member, "random"], games=40) for member in agents]
        assert results[0].totals == results[1].totals
        algorithm.stop()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (config("ludoteca", {"game": "tictactoe"}), "for one agent set 'opponent' in env_config"),
        (config("ludoteca", {"game": "tictactoe"}, **VECTOR), "needs an opponent in env_config"),
        (config("ludoteca", AGAINST).multi_agent(**SHARED), r"leave multi_agent\(...\) out"),
        (config("ludoteca", AGAINST | {"observation": "flat"}), "observation='flat_dict'"),
        (
            config("ludoteca", AGAINST).rl_module(
                rl_module_spec=masked_module(conv_filters=[[4, 3, 1]])
            ),
            "observation='dict' and channels_last=True",
        ),
    ],
)
def test_configurations_that_do_not_fit_say_what_to_write(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        settings.build_algo()


# Returns and self-play.


@pytest.mark.parametrize("game", ["tictactoe", "tron"])
@pytest.mark.parametrize("fragment", [3, 200])
def test_each_player_has_a_stream_of_its_own_that_ends_with_its_result(game, fragment):
    settings = config("ludoteca", {"game": game})
    algorithm = settings.multi_agent(**SHARED).build_algo()
    runner = algorithm.env_runner
    streams: dict[tuple[str, str], list[Any]] = {}
    finished = set()
    for _ in range(1 + 600 // fragment):
        for episode in runner.sample(num_timesteps=4 * fragment):
            for agent, stream in episode.agent_episodes.items():
                streams.setdefault((episode.id_, agent), []).append(stream)
            if episode.is_terminated:
                finished.add(episode.id_)
    assert len(finished) > 30
    lost = 0
    for id_ in finished:
        ends, lengths = [], []
        for agent in ("player_0", "player_1"):
            chunks = streams[id_, agent]
            rewards = np.concatenate([chunk.get_rewards() for chunk in chunks])
            actions = np.concatenate([chunk.get_actions() for chunk in chunks])
            assert len(rewards) == len(actions)
            assert not rewards[:-1].any()
            assert chunks[-1].is_terminated
            ends.append(rewards[-1])
            lengths.append(len(actions))
            for chunk in chunks:
                if game == "tictactoe":  # its first plane holds the own stones
                    planes = np.stack([seen["observations"] for seen in _list(chunk)])
                    own = planes.reshape(-1, 2, 9)[:, 0].sum(1)
                    assert np.array_equal(own, np.arange(len(own)) + own[0])
        assert sorted(ends) in ([-1, 1], [0, 0])
        lost += -1 in ends
        if game == "tictactoe":
            assert lengths[0] - lengths[1] in (0, 1)
            if lengths[0] > lengths[1]:  # the player with the last move has not lost
                assert ends[0] >= 0
        else:
            assert lengths[0] == lengths[1]
    assert lost > 10
    algorithm.stop()


def _list(chunk: Any) -> list[dict[str, Any]]:
    """Return the observations of a chunk, the one after its last action included."""
    seen = chunk.get_observations()
    if isinstance(seen, dict):
        count = len(seen["observations"])
        return [{key: values[k] for key, values in seen.items()} for k in range(count)]
    return list(seen)


class Episode:
    """Stand-in for an episode of RLlib, of which only the id is read."""

    def __init__(self, id_: Any):
        self.id_ = id_


def test_matchups_depend_only_on_the_episode_and_use_every_seat():
    matchups = pickle.loads(pickle.dumps(Matchups(("v0", "v1", "v2"), num_players=4)))
    seats, met = Counter(), Counter()
    for k in range(4000):
        played = [matchups(f"player_{p}", Episode(f"e{k}")) for p in range(4)]
        assert played == [matchups(f"player_{p}", Episode(f"e{k}")) for p in range(4)]
        assert played.count(LEARNER) == 1
        seats[played.index(LEARNER)] += 1
        met.update(played)
    assert all(900 < seats[p] < 1100 for p in range(4))
    # Three opponents in each of 4000 episodes: half of the time the latest one, else any of three.
    assert met["v2"] / 12000 == pytest.approx(0.5 + 0.5 / 3, abs=0.02)
    assert met["v0"] / 12000 == pytest.approx(0.5 / 3, abs=0.02)
    for bad in ({"opponents": ()}, {"opponents": "v0"}, {"opponents": (LEARNER,)},
                {"num_players": 1}, {"latest_prob": 2}):  # fmt: skip
        with pytest.raises(ValueError, match="must be"):
            Matchups(**bad)


def weights_of(module: Any) -> dict[str, Any]:
    """Return copies of a module's weights by name."""
    return {name: np.array(value) for name, value in module.get_state().items()}


def are_equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Say whether two sets of weights are equal where they have the same names."""
    return all(np.array_equal(one[name], other[name]) for name in one.keys() & other.keys())


@pytest.mark.parametrize("runners", [0, 1])
def test_self_play_adds_frozen_copies_by_policy_mapping(runners):
    settings = (
        config("ludoteca", {"game": "tictactoe"}, num_env_runners=runners)
        .multi_agent(**Matchups().config())
        .callbacks(partial(SelfPlay, threshold=0.0, min_games=10, size=2))
    )
    algorithm = settings.build_algo()
    opponents: dict[str, Any] = {}
    seats: Counter[str] = Counter()
    before = weights_of(algorithm.get_module(LEARNER))
    for k in range(3):
        result = algorithm.train()
        played = result["env_runners"]["self_play"]
        seats.update({agent: played[agent]["games"] for agent in played if "player" in agent})
        assert 0 <= result["self_play"]["score"] <= 1
        assert result["self_play"]["opponents"] == 2
        weights = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: {name: weights_of(module) for name, module in runner.module.items()}
        )
        for modules in weights[-1:]:  # where games are played
            assert set(modules) == {LEARNER, "v0", *(f"v{j + 1}" for j in range(k + 1))}
            if not runners:
                assert are_equal(modules[f"v{k + 1}"], modules[LEARNER])
            for name, value in opponents.items():
                assert are_equal(modules[name], value)
            opponents = {name: value for name, value in modules.items() if name != LEARNER}
        learned = algorithm.learner_group.get_weights()
        assert all(are_equal(value, learned[name]) for name, value in opponents.items())
        assert algorithm.config.policy_mapping_fn.opponents == (f"v{k}", f"v{k + 1}")
    assert not are_equal(before, weights_of(algorithm.get_module(LEARNER)))
    assert not are_equal(opponents["v1"], opponents["v2"])
    assert min(seats["player_0"], seats["player_1"]) > 10
    algorithm.stop()


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
@pytest.mark.parametrize("runners", [0, 1])
def test_self_play_makes_copies_the_opponents_in_the_environment(mode, runners):
    settings = config(
        "ludoteca", AGAINST, gym_env_vectorize_mode=mode, num_env_runners=runners
    ).callbacks(partial(SelfPlay, threshold=0.0, min_games=5, size=2))
    algorithm, result = train(settings, 3)
    assert result["self_play"]["opponents"] == 2
    played = result["env_runners"]["self_play"]
    assert {"player_0", "player_1", "games", "points"} == set(played)

    def pools(runner: Any) -> list[Any]:
        if runner.env is None:
            return []
        env = runner.env.unwrapped
        opponents = [
            unwrapped.unwrapped.game_batch.opponents for unwrapped in getattr(env, "envs", [env])
        ]
        return [[m.name for m in agent.pool.members] for agents in opponents for agent in agents]

    by_runner = algorithm.env_runner_group.foreach_env_runner(pools)
    opponent_names = [names for runner_pools in by_runner for names in runner_pools]
    assert opponent_names
    assert all(names == ["v2", "v3"] for names in opponent_names)
    algorithm.stop()


def test_self_play_waits_for_games_and_for_a_score():
    for options in ({"min_games": 10**6, "threshold": 0.0}, {"min_games": 1, "threshold": 1.0}):
        settings = config("ludoteca", {"game": "tictactoe"}).multi_agent(**Matchups().config())
        algorithm, result = train(settings.callbacks(partial(SelfPlay, **options)), 2)
        assert result["self_play"]["opponents"] == 1
        algorithm.stop()
    settings = config("ludoteca", {"game": "tictactoe"}).multi_agent(
        policies={LEARNER, "v0"}, policy_mapping_fn=lambda agent, *a, **k: LEARNER
    )
    with pytest.raises(TypeError, match=r"needs multi_agent\(\*\*Matchups"):
        train(settings.callbacks(partial(SelfPlay, min_games=1, threshold=0)))
    for bad in ({"threshold": 2}, {"min_games": 0}, {"size": 0}, {"latest_prob": -1}):
        with pytest.raises(ValueError, match="must be"):
            SelfPlay(**bad)


# Agents.


@pytest.fixture(scope="module")
def trained(_ray, tmp_path_factory):
    """Train a policy, and return its game, module and checkpoint."""
    algorithm, _ = train(config("ludoteca", AGAINST, **VECTOR))
    folder = tmp_path_factory.mktemp("checkpoint")
    algorithm.save_to_path(str(folder))
    module = algorithm.get_module()
    algorithm.stop()
    return make_game("tictactoe"), module, folder


def test_policies_play_from_files_as_in_memory(trained, tmp_path):
    game, module, _ = trained
    path = export_module(module, game, tmp_path / "policy")
    assert path == tmp_path / "policy.safetensors"
    for deterministic in (True, False):
        spec = f"rllib:{path},deterministic={deterministic}"
        agents = [
            make_agent(spec, game),
            RLlibAgent.from_module(game, module, deterministic),
            RLlibAgent.from_module(game, module, deterministic, copy=True),
        ]
        results = [play_match(game, [member, "random"], games=60, seed=1) for member in agents]
        assert results[0].totals == results[1].totals == results[2].totals
        assert [record.games for record in results[0].seats[0]] == [30, 30]
    env = gymnasium.make("ludoteca/TicTacToe-v0", opponent=f"rllib:{path}", agent_seat=1)
    env.reset(seed=0)


def test_checkpoints_are_read_on_request_only(trained, tmp_path):
    game, module, folder = trained
    with pytest.raises(ValueError, match="is a checkpoint of Ray, which consists of pickles"):
        make_agent(f"rllib:{folder}", game)
    inner = folder / "learner_group" / "learner" / "rl_module" / "default_policy"
    with pytest.raises(ValueError, match="is a checkpoint of Ray"):
        make_agent(f"rllib:{inner}", game)
    expected = export_module(module, game, tmp_path / "module").read_bytes()
    for path in (folder, folder / "learner_group", inner):
        loaded = load_checkpoint(path)
        assert export_module(loaded, game, tmp_path / "loaded").read_bytes() == expected
    with pytest.raises(FileNotFoundError, match="no policy 'main', only default_policy"):
        load_checkpoint(folder, "main")
    with pytest.raises(FileNotFoundError, match="there are none"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("model", "channels_last"),
    [
        ({"fcnet_hiddens": [8], "vf_share_layers": False}, False),
        ({"fcnet_hiddens": [4], "head_fcnet_hiddens": [8], "fcnet_activation": "silu"}, False),
        ({"fcnet_hiddens": [8, 8], "fcnet_use_layernorm": True}, False),
        ({"conv_filters": [[4, 3, 1], [4, [2, 3], 2]], "head_fcnet_hiddens": [8]}, True),
    ],
)
def test_networks_of_rllib_are_written(tmp_path, model, channels_last):
    game = make_game("tictactoe")
    kind = "planes" if channels_last else "flat"
    form = ObservationFormat(kind, np.float32, channels_last)
    module = RLModuleSpec(
        module_class=DefaultPPOTorchRLModule,
        observation_space=form.space(game),
        action_space=gymnasium.spaces.Discrete(9),
        model_config=DefaultModelConfig(**model),
    ).build()
    path = export_module(module, game, tmp_path / "policy.safetensors")
    agents = [make_agent(f"rllib:{path}", game), RLlibAgent.from_module(game, module)]
    results = [play_match(game, [member, "random"], games=40, seed=3) for member in agents]
    assert results[0].totals == results[1].totals


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "libraries" / "rllib.md"
    names: dict[str, Any] = {}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language == "python":
            if "load_checkpoint" in block.code:
                names["algorithm"].save_to_path(str(tmp_path / "checkpoint"))
                (tmp_path / "connect4.safetensors").rename(tmp_path / "before.safetensors")
            exec(compile(block.code, str(page), "exec"), names)
    before, after = (tmp_path / f"{name}.safetensors" for name in ("before", "connect4"))
    assert before.read_bytes() == after.read_bytes()
    assert set(names["config"].policies) == {LEARNER, "v0"}
    names["algorithm"].stop()


class Reversed(DefaultPPOTorchRLModule):
    """Module whose logits are not those of its encoder and head, but -3 times as large."""

    def _forward(self, batch: Any, **kwargs: Any) -> Any:
        output = super()._forward(batch, **kwargs)
        return output | {"action_dist_inputs": -3 * output["action_dist_inputs"]}


@pytest.mark.parametrize(
    ("kind", "model", "message"),
    [
        (DefaultPPOTorchRLModule, {"use_lstm": True}, "is recurrent"),
        (Reversed, {}, "does not compute its scores by its encoder and head alone"),
    ],
)
def test_modules_that_cannot_be_written_are_errors(tmp_path, kind, model, message):
    game = make_game("tictactoe")
    spec = RLModuleSpec(
        module_class=kind,
        observation_space=ObservationFormat("flat", np.float32).space(game),
        action_space=gymnasium.spaces.Discrete(9),
        model_config=DefaultModelConfig(fcnet_hiddens=[8], **model),
    )
    with pytest.raises(TypeError, match=message):
        export_module(spec.build(), game, tmp_path / "x")
    assert not list(tmp_path.iterdir())
    if kind is Reversed:
        with pytest.raises(ValueError, match="has observations of shapes"):
            export_module(spec.build(), make_game("connect4"), tmp_path / "x")
        play_match(game, [RLlibAgent.from_module(game, spec.build()), "random"], games=10)
