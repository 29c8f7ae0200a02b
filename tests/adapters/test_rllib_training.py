"""Training by RLlib: one agent and several, masks, self-play, returns by player."""

import pickle
import warnings
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray")
    from ray.rllib.algorithms.dqn import DQNConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env

    from ludoteca.envs.adapters.rllib import FORMAT, masked_module
    from ludoteca.train.rllib import LEARNER, Matchups, SelfPlay

from rllib_runs import AGAINST, SHARED, VECTOR, config, train

from ludoteca.agents.external.rllib import RLlibAgent, export_module
from ludoteca.agents.registry import make_agent
from ludoteca.envs import tictactoe_v0, tron_v0
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

# Ray has warnings of its own.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("_ray")]


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
