"""Tests of SB3 models as agents, and of their files."""

import base64
import io
import json
import os
import pickle
import sys
import zipfile

import numpy as np
import pytest
import torch
from gymnasium.wrappers import FlattenObservation
from sb3_contrib import ARS, QRDQN, TRPO, MaskablePPO, RecurrentPPO
from scipy.stats import chisquare
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from ludoteca import make_agent, make_game
from ludoteca.agents.external.sb3 import SB3Agent, load_sb3_agent
from ludoteca.agents.predictor import Observer, PredictorAgent
from ludoteca.agents.sampling import sample_by_logits
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.envs.api.single import GameEnv
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

GAME = make_game("hex:board_size=5")
ALGORITHMS = (MaskablePPO, PPO, A2C, TRPO, DQN, QRDQN, ARS)
DISTRIBUTIONS = (MaskablePPO, PPO, A2C, TRPO)


class SmallCnn(BaseFeaturesExtractor):
    """Features extractor that is not one of SB3."""

    def __init__(self, observation_space):
        super().__init__(observation_space, 4)
        self.net = torch.nn.Sequential(
            torch.nn.Conv2d(observation_space.shape[0], 4, 3),
            torch.nn.AdaptiveMaxPool2d(1),
            torch.nn.Flatten(),
        )

    def forward(self, observations):
        return self.net(observations)


def make_model(algorithm=MaskablePPO, policy="MlpPolicy", env=None, **options):
    """Return an untrained model of an algorithm of SB3."""
    env = SB3VecEnv(GAME, 2, seed=0) if env is None else env
    return algorithm(policy, env, seed=0, device="cpu", **options)


def middle_positions(game=GAME, count=40):
    """Return positions from random games, with their movers, observations and masks."""
    rng, positions = np.random.default_rng(0), []
    legal = np.zeros(game.num_actions, np.int16)
    while len(positions) < count:
        s = game.new(len(positions))
        for _ in range(rng.integers(1, 9)):
            game.step(s, int(rng.choice(legal[: game.legal_actions(s, legal)])))
        if not game.is_terminal(s):
            positions.append(np.array(s, game.state))
    states = np.stack(positions)
    movers = np.array([game.player(s) for s in states.view(np.recarray)])
    return states, movers, *Observer(game).observe(states, movers)


def act(agent, states, movers, seed=0):
    """Return the actions of an agent, with random streams from a seed on."""
    rngs = np.arange(seed, seed + len(states), dtype=np.uint64)[:, None]
    return agent.act(states, movers, rngs, np.arange(len(states)))


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_saved_model_plays_its_best_legal_action(algorithm, trust, tmp_path):
    model = make_model(algorithm)
    model.save(tmp_path / "model.zip")
    agent = load_sb3_agent(GAME, tmp_path / "model.zip", trust=trust)
    states, movers, planes, masks = middle_positions()
    actions = act(agent, states, movers)
    assert np.array_equal(actions, act(SB3Agent.from_model(GAME, model), states, movers))
    assert masks[np.arange(len(states)), actions].all()
    if algorithm is MaskablePPO:
        own, _ = model.predict(planes, deterministic=True, action_masks=masks)
        assert np.array_equal(actions, own)
    else:
        own, _ = model.predict(planes, deterministic=True)
        allowed = masks[np.arange(len(states)), own] == 1
        assert allowed.any()
        assert np.array_equal(actions[allowed], own[allowed])
    assert len(set(actions)) > 1 or algorithm is ARS  # the weights of ARS are zero at first


def test_dqn_plays_the_best_legal_value():
    model = make_model(DQN)
    states, movers, planes, masks = middle_positions()
    with torch.no_grad():
        values = model.q_net(torch.as_tensor(planes)).numpy()
    best = np.where(masks == 1, values, -np.inf).argmax(1)
    assert np.array_equal(act(SB3Agent.from_model(GAME, model), states, movers), best)


@pytest.mark.parametrize("algorithm", DISTRIBUTIONS)
def test_sampled_actions_are_legal_and_reproducible(algorithm):
    agent = SB3Agent.from_model(GAME, make_model(algorithm), deterministic=False)
    states, movers, _, masks = middle_positions()
    actions = act(agent, states, movers, seed=3)
    assert masks[np.arange(len(states)), actions].all()
    torch.manual_seed(99)  # has no effect: random numbers come from the streams
    assert np.array_equal(actions, act(agent, states, movers, seed=3))
    assert not np.array_equal(actions, act(agent, states, movers, seed=4))
    row = slice(7, 8)  # one position alone has the action that it has in the batch
    assert act(agent, states[row], movers[row], seed=10) == actions[row]


def test_sampling_frequencies_follow_the_logits():
    logits = np.array([0.0, 1.0, -np.inf, 2.0, -1.0])
    rngs = np.arange(20_000, dtype=np.uint64)[:, None] * np.uint64(2**40)
    before = rngs.copy()
    counts = np.bincount(sample_by_logits(np.tile(logits, (20_000, 1)), rngs), minlength=5)
    assert counts[2] == 0
    expected = np.exp(logits) / np.exp(logits).sum()
    legal = expected > 0
    assert chisquare(counts[legal], 20_000 * expected[legal]).pvalue > 1e-3
    assert (rngs != before).all()


@pytest.mark.parametrize("algorithm", [DQN, QRDQN, ARS])
def test_value_policies_cannot_be_sampled(algorithm):
    with pytest.raises(ValueError, match="expected deterministic=True"):
        SB3Agent.from_model(GAME, make_model(algorithm), deterministic=False)


@pytest.mark.parametrize(
    "env",
    [
        SB3VecEnv(GAME, 2, channels_last=True),
        SB3VecEnv(GAME, 2, dtype="float32"),
        GameEnv(GAME, observation="dict"),
        GameEnv(GAME, observation="dict", channels_last=True, dtype="float32"),
        FlattenObservation(GameEnv(GAME)),
    ],
    ids=["channels_last", "float32", "dict", "dict_channels_last_float32", "flat"],
)
def test_observations_match_the_training_format(env, tmp_path):
    policy = "MultiInputPolicy" if "Dict" in str(env.observation_space) else "MlpPolicy"
    model = make_model(A2C, policy, env)
    model.save(tmp_path / "model")
    states, movers, planes, masks = middle_positions()
    shape = (
        env.observation_space["observation"] if policy[1] == "u" else env.observation_space
    ).shape
    seen = np.moveaxis(planes, 1, -1) if shape[-1] == 6 else planes.reshape(-1, *shape)
    if policy == "MultiInputPolicy":
        seen = {"observation": seen, "action_mask": masks}
    own, _ = model.predict(seen, deterministic=True)
    actions = act(load_sb3_agent(GAME, tmp_path / "model"), states, movers)  # without .zip, as SB3
    allowed = masks[np.arange(len(states)), own] == 1
    assert allowed.any()
    assert np.array_equal(actions[allowed], own[allowed])


@pytest.mark.parametrize("observation", ["dict", "flat_dict"])
def test_dictionaries_may_have_any_keys(observation, tmp_path):
    format_ = {"observation": observation, "keys": ("obs", "mask"), "mask_dtype": "float32"}
    model = make_model(A2C, "MultiInputPolicy", SB3VecEnv(GAME, 2, seed=0, **format_))
    model.save(tmp_path / "model")
    states, movers, planes, masks = middle_positions()
    flat = planes.reshape(len(planes), -1)
    seen = {"obs": flat if observation == "flat_dict" else planes, "mask": masks.astype("float32")}
    own, _ = model.predict(seen, deterministic=True)
    actions = act(load_sb3_agent(GAME, tmp_path / "model"), states, movers)
    allowed = masks[np.arange(len(states)), own] == 1
    assert allowed.any()
    assert np.array_equal(actions[allowed], own[allowed])


def test_epsilon_is_the_frequency_of_random_moves(tmp_path):
    model = make_model(DQN)
    model.save(tmp_path / "model")
    states, movers, _, masks = middle_positions(count=400)
    best = act(load_sb3_agent(GAME, tmp_path / "model"), states, movers)
    agent = make_agent(f"sb3:path={tmp_path / 'model.zip'},epsilon=0.5", GAME)
    mixed = act(agent, states, movers)
    assert masks[np.arange(len(states)), mixed].all()
    assert 0.4 < np.mean(mixed == best) < 0.62  # half, and random moves that equal the best one
    with pytest.raises(ValueError, match="epsilon must be a number from 0 to 1"):
        SB3Agent.from_model(GAME, model, epsilon=2)


def test_settings_of_networks_are_read_from_the_file(tmp_path):
    model = make_model(
        PPO, policy_kwargs={"net_arch": [7, 5], "activation_fn": torch.nn.ELU, "ortho_init": False}
    )
    model.save(tmp_path / "model.zip")
    agent = load_sb3_agent(GAME, tmp_path / "model.zip")
    assert "ELU" in str(agent._policy)
    states, movers, _, _ = middle_positions()
    expected = act(SB3Agent.from_model(GAME, model), states, movers)
    assert np.array_equal(act(agent, states, movers), expected)


def test_custom_networks_need_trust(tmp_path):
    options = {"policy_kwargs": {"features_extractor_class": SmallCnn}}
    model = make_model(MaskablePPO, "CnnPolicy", n_steps=8, batch_size=16, **options)
    model.learn(16)
    model.save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match=r"SmallCnn.* is not from .*trust=True"):
        load_sb3_agent(GAME, tmp_path / "model.zip")
    states, movers, _, _ = middle_positions()
    expected = act(SB3Agent.from_model(GAME, model), states, movers)
    for agent in (
        load_sb3_agent(GAME, tmp_path / "model.zip", trust=True),
        make_agent(f"sb3:path={tmp_path / 'model.zip'},trust=True", GAME),
    ):
        assert np.array_equal(act(agent, states, movers), expected)


class Trap:
    """Object that makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.makedirs, (self.path, 0o777, True)


def rewrite(path, name, change):
    """Replace the content of one member of a zip file by `change(content)`."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def test_pickles_in_the_file_are_not_read(tmp_path):
    path, sprung = tmp_path / "model.zip", tmp_path / "sprung"
    make_model(PPO, policy_kwargs={"activation_fn": torch.nn.ReLU}).save(path)

    def set_traps(data):
        data, num_traps = json.loads(data), 0
        for value in data.values():
            if isinstance(value, dict) and ":serialized:" in value:
                value[":serialized:"] = base64.b64encode(pickle.dumps(Trap(str(sprung)))).decode()
                num_traps += 1
        assert num_traps > 3
        return json.dumps(data)

    rewrite(path, "data", set_traps)
    states, movers, _, masks = middle_positions()
    actions = act(load_sb3_agent(GAME, path), states, movers)
    assert masks[np.arange(len(states)), actions].all()
    assert not sprung.exists()
    with pytest.raises(ValueError, match="cannot rebuild"):
        load_sb3_agent(GAME, path, trust=True)  # unpickles, which makes the folder
    assert sprung.exists()


def test_pickles_among_the_weights_are_not_read(tmp_path):
    path, sprung = tmp_path / "model.zip", tmp_path / "sprung"
    make_model(PPO).save(path)
    weights = io.BytesIO()
    torch.save({"mlp_extractor.policy_net.0.weight": Trap(str(sprung))}, weights)
    rewrite(path, "policy.pth", lambda _: weights.getvalue())
    with pytest.raises(ValueError, match="not a model saved by Stable-Baselines3"):
        load_sb3_agent(GAME, path)
    assert not sprung.exists()


@pytest.mark.parametrize(
    ("part", "key", "value", "problem"),
    [
        ("policy_class", "__module__", "os", "is not from sb3_contrib, stable_baselines3, torch"),
        ("policy_class", "__module__", "torch.nothing", "is not in the installed packages"),
        ("policy_class", "__init__", "<slot wrapper>", "is not known"),
        ("policy_kwargs", "activation_fn", "<class 'torch.optim.adam.Adam'>", "is not a network"),
        ("policy_kwargs", "net_arch", [3], "size mismatch"),
        ("observation_space", ":type:", "<class 'a.Text'>", "not a Box or a Dict"),
    ],
)
def test_error_names_descriptions_that_do_not_fit(part, key, value, problem, tmp_path):
    path = tmp_path / "model.zip"
    make_model(PPO, policy_kwargs={"activation_fn": torch.nn.ReLU}).save(path)

    def change(data):
        data = json.loads(data)
        data[part][key] = value
        return json.dumps(data)

    rewrite(path, "data", change)
    with pytest.raises(ValueError, match=f"cannot rebuild the policy.*(?s:.*){problem}"):
        load_sb3_agent(GAME, path)


def test_files_that_are_not_models_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no model file .*nowhere"):
        load_sb3_agent(GAME, tmp_path / "nowhere")
    (tmp_path / "text.zip").write_text("not a zip file")
    with pytest.raises(ValueError, match=r"text.zip is not a model saved by Stable-Baselines3"):
        load_sb3_agent(GAME, tmp_path / "text.zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("data", "[]")
    with pytest.raises(ValueError, match=r"other.zip is not a model saved by Stable-Baselines3"):
        load_sb3_agent(GAME, tmp_path / "other.zip")


def test_a_model_of_another_game_is_refused():
    model = make_model()
    with pytest.raises(ValueError, match=r"the model's actions are .*tictactoe.* has 9"):
        SB3Agent.from_model(make_game("tictactoe"), model)
    with pytest.raises(ValueError, match=r"the model observes .*tictactoe.* has observations"):
        SB3Agent.from_model(make_game("tictactoe:board_size=5"), model)
    with pytest.raises(ValueError, match="the model observes"):
        SB3Agent.from_model(GAME, model, channels_last=True)


def test_recurrent_models_are_refused():
    model = make_model(RecurrentPPO, "MlpLstmPolicy")
    with pytest.raises(TypeError, match="is recurrent"):
        SB3Agent.from_model(GAME, model)


def test_spec_string_of_a_model_works_in_matches_and_environments(tmp_path):
    path = tmp_path / "model.zip"
    make_model().save(path)
    spec = f"sb3:path={path}"
    results = [play_match(GAME, [spec, "random"], 40, seed=1, batch_size=b) for b in (40, 7)]
    assert results[0].totals == results[1].totals
    env = GameEnv(GAME, opponent=spec, agent_seat=1)
    observation, _ = env.reset(seed=0)
    assert observation[0].sum() + observation[1].sum() > 0
    for _ in range(25):
        _, _, terminated, _, info = env.step(np.flatnonzero(env.action_masks())[0])
        assert not info["illegal_action"]
        if terminated:
            break
    assert terminated


def test_model_plays_a_simultaneous_game(tmp_path):
    game = make_game("hungry_geese")
    model = make_model(env=SB3VecEnv(game, 2, seed=0))
    result = play_match(game, [SB3Agent.from_model(game, model), "greedy"], 8, seed=0)
    assert result.games == 8


def test_missing_sb3_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.base_class", None)
    monkeypatch.delitem(sys.modules, "ludoteca.agents.external.sb3")
    with pytest.raises(ImportError, match=r'pip install "ludoteca\[train\]"'):
        make_agent("sb3:path=model.zip", GAME)


class Highest:
    """Predictor of the highest legal action, or of given actions."""

    def __init__(self, actions=None):
        self.actions, self.seen = actions, None

    def predict(self, observation, action_mask):
        self.seen = observation
        highest = action_mask.shape[1] - 1 - action_mask[:, ::-1].argmax(1)
        return highest if self.actions is None else self.actions


@pytest.mark.parametrize("channels_last", [False, True])
def test_objects_with_predict_are_agents(channels_last):
    predictor = Highest()
    agent = PredictorAgent(GAME, predictor, dtype="float32", channels_last=channels_last)
    states, movers, planes, masks = middle_positions()
    actions = act(agent, states, movers)
    assert actions.tolist() == [int(np.flatnonzero(mask)[-1]) for mask in masks]
    assert predictor.seen.dtype == np.float32
    expected = np.moveaxis(planes, 1, -1) if channels_last else planes
    assert np.array_equal(predictor.seen, expected)
    assert play_match(GAME, [agent, "random"], 20).games == 20


@pytest.mark.parametrize(
    ("actions", "problem"),
    [
        (np.zeros(3, int), "must return 40 integers"),
        (np.zeros(40), "must return 40 integers"),
        (np.full(40, 25), "chose 25 for observation 0, which is illegal"),
        (np.full(40, -1), "chose -1 for observation 0, which is illegal"),
        (np.full(40, 5), r"chose 5 for observation \d+, which is illegal"),
    ],
)
def test_predictions_are_validated(actions, problem):
    states, movers, _, _ = middle_positions()
    with pytest.raises(ValueError, match=problem):
        act(PredictorAgent(GAME, Highest(actions)), states, movers)
