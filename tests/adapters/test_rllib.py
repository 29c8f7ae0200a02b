"""Environments for RLlib: its own checks, returns and masks by player; its policies as agents."""

import warnings
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from document_blocks import ROOT, blocks_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray")
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    from ludoteca.envs.adapters.rllib import (
        FORMAT,
        RLlibGameEnv,
        RLlibMultiAgentEnv,
        RLlibVectorEnv,
        make_env,
    )
    from ludoteca.train.rllib import LEARNER

from rllib_runs import AGAINST, VECTOR, config, train

from ludoteca.agents.external.rllib import RLlibAgent, export_module, load_checkpoint
from ludoteca.agents.registry import make_agent
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

# Ray has warnings of its own.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("_ray")]
FAST_GAMES = ("TicTacToe-v0", "Connect4-v0", "Tron-v0", "HungryGeese-v0")
EVERY_GAME = [
    game if game in FAST_GAMES else pytest.param(game, marks=pytest.mark.slow) for game in GAMES
]


def choose(observations: dict[str, Any], rng: Any) -> dict[str, int]:
    """Return a random legal action for each agent that may act."""
    return {
        agent: int(rng.choice(np.flatnonzero(seen["action_mask"])))
        for agent, seen in observations.items()
    }


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
