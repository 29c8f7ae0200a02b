"""Tests of the environment for TorchRL, and of TorchRL's actors as agents."""

import copy
import warnings
from pathlib import Path
from typing import Any

import pytest
from library_pages import run_page

pytest.importorskip("torchrl")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TorchRL warns while it is imported
    import torchrl.collectors  # noqa: F401

import gymnasium as gym
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs
from torchrl.modules import (
    MLP,
    MaskedCategorical,
    MultiAgentMLP,
    ProbabilisticActor,
    QValueActor,
    ValueOperator,
)
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import ludoteca  # noqa: F401  registers the games
from ludoteca import make_agent, make_game
from ludoteca.agents.external.torchrl import ActorNetwork, agent_of_actor, save_actor
from ludoteca.envs import tictactoe_v0
from ludoteca.envs.adapters.torchrl import TorchRLEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.filterwarnings("default")  # TorchRL's own warnings are not errors
KINDS: list[dict[str, Any]] = [
    {"game": "tictactoe", "agent_seat": "random"},
    {"game": "tictactoe", "opponent": None},
    {"game": "tron:rows=5,columns=5", "agent_seat": 1, "observation": "flat"},
    {"game": "tron:rows=5,columns=5", "opponent": None, "channels_last": True, "dtype": "int8"},
]


def make_actor(network: nn.Module, group: str | None = None) -> ProbabilisticActor:
    """Return an actor with masks whose keys are at the top, or in a group of agents."""

    def key(name: str) -> Any:
        return name if group is None else (group, name)

    return ProbabilisticActor(
        TensorDictModule(network, [key("observation")], [key("logits")]),
        in_keys={"logits": key("logits"), "mask": key("action_mask")},
        out_keys=[key("action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=key("action_log_prob"),
    )


@pytest.mark.parametrize("options", KINDS)
def test_specs_pass_torchrls_check_and_random_games_are_legal(options: dict[str, Any]) -> None:
    env = TorchRLEnv(num_envs=3, seed=1, **options)
    check_env_specs(env)
    for more in ({"break_when_any_done": False}, {"break_when_all_done": True}, {}):
        steps = env.rollout(30, **{"break_when_any_done": False, **more} if more else {})
        group = steps if env.action_key == "action" else steps["agents"]
        is_legal = group["action_mask"].gather(-1, group["action"].unsqueeze(-1))
        assert is_legal.all()
        assert steps["next", "done"].any()


@pytest.mark.parametrize("opponent", [None, "random"])
def test_the_same_games_as_the_native_environment(opponent: str | None) -> None:
    native = GameVectorEnv("tictactoe", 4, opponent=opponent, autoreset_mode="Disabled")
    env = TorchRLEnv("tictactoe", 4, opponent=opponent, seed=5)
    state, (seen, info) = env.reset(), native.reset(seed=5)
    for _ in range(30):
        group = state if opponent else state["agents"]
        movers = torch.as_tensor(info["player"]).long()
        rows = torch.arange(4)
        own = group if opponent else group[rows, movers]
        assert (own["observation"].numpy() == seen).all()
        assert (own["action_mask"].numpy() == info["action_mask"]).all()
        actions = info["action_mask"].argmax(1)
        if opponent:
            state["action"] = torch.as_tensor(actions)
        else:
            assert (group["mask"] == (torch.arange(2) == movers[:, None])).all()
            state["agents", "action"] = torch.zeros(4, 2, dtype=torch.long)
            state["agents", "action"][rows, movers] = torch.as_tensor(actions)
        step, state = env.step_and_maybe_reset(state)
        seen, reward, terminated, _, info = native.step(actions)
        next_step = step["next"]
        assert (next_step["done"][:, 0].numpy() == terminated).all()
        if opponent:
            assert (next_step["reward"][:, 0].numpy() == reward).all()
        else:
            # The loser has its -1 in the same step, in a stream of its own.
            assert (next_step["agents", "reward"][..., 0].numpy() == info["rewards"]).all()
            assert (next_step["agents", "done"][..., 0].numpy() == terminated[:, None]).all()
        if terminated.any():
            seen, info = native.reset(options={"reset_mask": terminated})


def test_eliminated_players_are_done_and_choose_nothing() -> None:
    env = TorchRLEnv("hungry_geese", 8, opponent=None, seed=2)
    steps = env.rollout(60, break_when_any_done=False)
    geese, after = steps["agents"], steps["next", "agents"]
    eliminated = ~geese["mask"]
    assert eliminated.any()
    assert geese["done"][..., 0][eliminated].all()
    assert (geese["action_mask"][eliminated].sum(-1) == 1).all()
    assert (after["reward"][..., 0][eliminated] == 0).all()
    early = after["done"][..., 0] & ~steps["next", "done"]
    assert early.any()
    # A player that has just been eliminated gets its reward.
    assert (after["reward"][..., 0][early & geese["mask"]] != 0).all()


def test_seeds_repeat_games_and_bad_arguments_raise() -> None:
    a, b = (TorchRLEnv("tictactoe", 3, agent_seat="random") for _ in range(2))
    for env in (a, b):
        env.set_seed(7)
        torch.manual_seed(0)
    first = a.rollout(20, break_when_any_done=False)
    torch.manual_seed(0)
    assert (first == b.rollout(20, break_when_any_done=False)).all()
    assert first.device == a.device == torch.device("cpu")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'frameskip'.*opponent"):
        TorchRLEnv("tictactoe", 2, frameskip=4)
    with pytest.raises(ValueError, match="observation must be one of 'planes', 'flat'"):
        TorchRLEnv("tictactoe", 2, observation="dict")
    with pytest.raises(ValueError, match="set_opponent needs an environment"):
        TorchRLEnv("tictactoe", 2, opponent=None).set_opponent("random")


def test_torchrls_own_wrappers_take_our_environments() -> None:
    assert GymEnv("ludoteca/TicTacToe-v0").rollout(3).batch_size
    options = {"observation": "dict", "mask_dtype": "bool"}
    vector = gym.make_vec(
        "ludoteca/TicTacToe-v0", num_envs=3, opponent="random", autoreset_mode="Disabled", **options
    )
    wrapped = GymWrapper(vector, categorical_action_encoding=True)
    steps = TransformedEnv(wrapped, ActionMask()).rollout(30, break_when_any_done=False)
    assert steps["action_mask"].gather(-1, steps["action"].unsqueeze(-1)).all()
    check_env_specs(PettingZooWrapper(tictactoe_v0.env(), use_mask=True))


@pytest.mark.parametrize("group", [None, "agents"])
def test_actors_play_in_memory_and_from_files(group: str | None, tmp_path: Path) -> None:
    torch.manual_seed(0)
    game = make_game("tictactoe")
    network: nn.Module = MLP(18, 9, num_cells=[16])
    if group is not None:
        network = MultiAgentMLP(18, 9, n_agents=2, centralized=False, share_params=True, depth=1)
    env = TorchRLEnv(
        game, 4, opponent="random" if group is None else None, observation="flat", seed=0
    )
    actor = make_actor(network, group)
    env.rollout(5, actor)
    live = agent_of_actor(game, actor, flat=True)
    path = save_actor(tmp_path / "actor", game, actor, flat=True)
    expected = play_match(game, [live, "random"], 40)
    for agent in (make_agent(f"torchrl:{path}", game), copy.deepcopy(live)):
        result = play_match(game, [agent, "random"], 40)
        assert (result.game_digests == expected.game_digests).all()  # type: ignore[union-attr]
    if group is None:
        env.set_opponent(copy.deepcopy(live))
        env.rollout(10, actor, break_when_any_done=False)


def test_q_actors_have_values_and_unsupported_actors_raise() -> None:
    game = make_game("tictactoe")
    spec = TorchRLEnv(game, 2).action_spec_unbatched
    net = nn.Sequential(nn.Flatten(-3), nn.Linear(18, 9))
    q_actor = QValueActor(net, in_keys=["observation"], spec=spec, action_mask_key="action_mask")
    assert agent_of_actor(game, q_actor).metadata["kind"] == "values"
    with pytest.raises(ValueError, match="must write one of logits, action_value, probs"):
        ActorNetwork(TensorDictModule(net, ["observation"], ["scores"]))
    with pytest.raises(ValueError, match="the only input of a network must be observations"):
        ActorNetwork(TensorDictModule(net, ["observation", "action_mask"], ["logits"]))
    central = MultiAgentMLP(18, 9, n_agents=2, centralized=True, share_params=True, depth=1)
    with pytest.raises(ValueError, match="share_params=True and centralized=False"):
        ActorNetwork(make_actor(central, "agents"))


@pytest.mark.slow
def test_ppo_learns() -> None:
    torch.manual_seed(0)
    env = TorchRLEnv("tictactoe", 32, agent_seat="random", observation="flat", seed=0)
    actor = make_actor(MLP(18, 9, num_cells=[64, 64]))
    loss = ClipPPOLoss(actor, ValueOperator(MLP(18, 1, num_cells=[64])), normalize_advantage=True)
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=loss.critic_network)
    adam = torch.optim.Adam(loss.parameters(), lr=2e-3)
    for data in Collector(env, actor, frames_per_batch=1024, total_frames=30 * 1024):
        rows = gae(data).reshape(-1)
        for minibatch in (part for _ in range(4) for part in torch.randperm(1024).split(256)):
            adam.zero_grad()
            sum(
                value for key, value in loss(rows[minibatch]).items() if key.startswith("loss_")
            ).backward()
            adam.step()
    agent = agent_of_actor(env.game, actor, flat=True)
    untrained = agent_of_actor(env.game, make_actor(MLP(18, 9, num_cells=[64, 64])), flat=True)
    scores = [
        play_match(env.game, [value, "random"], 400).totals[0] for value in (agent, untrained)
    ]
    assert scores[0].wins > 320 > scores[1].wins


def test_examples_of_the_documentation_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    num_examples = run_page("torchrl")
    assert num_examples > 4
