"""Tests of our games in the code of PettingZoo's tutorials, which is shortened here.

One tutorial trains MaskablePPO on an AEC environment in a wrapper that shows the view of the
player to move. The other trains PPO, in one file, on a parallel environment, and stacks the
observations of all agents.
"""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.utils import BaseWrapper

from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.parallel import parallel_env

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.filterwarnings("ignore"),  # the libraries warn about each other
]
TURNS = {"connect4": {"rows": 3, "columns": 4, "connect": 3}, "othello": {"board_size": 4}}
GEESE = {"num_players": 3, "rows": 4, "columns": 5, "episode_steps": 10}


class SelfPlayEnv(BaseWrapper, gym.Env):
    """Wrap an AEC environment as a Gymnasium environment in which the agent plays all seats.

    Each observation is that of the player to move.
    """

    def reset(self, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed, options)
        agent = self.possible_agents[0]
        self.observation_space = super().observation_space(agent)["observation"]
        self.action_space = super().action_space(agent)
        return self.observe(self.agent_selection), {}

    def step(self, action: Any) -> Any:
        mover = self.agent_selection
        super().step(action)
        terminated, truncated = self.terminations[mover], self.truncations[mover]
        reward = self._cumulative_rewards[mover]
        observation = self.observe(self.agent_selection)
        return observation, reward, terminated, truncated, self.infos[mover]

    def observe(self, agent: str) -> Any:
        return super().observe(agent)["observation"]

    def action_mask(self) -> Any:
        return super().observe(self.agent_selection)["action_mask"]


@pytest.mark.parametrize("name", TURNS)
def test_the_tutorial_of_masked_ppo_runs(name: str, tmp_path: Any) -> None:
    contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks
    from sb3_contrib.common.wrappers import ActionMasker

    env: Any = SelfPlayEnv(aec_env(name, illegal_action="raise", **TURNS[name]))
    env.reset(seed=42)
    env = ActionMasker(env, lambda masked: masked.action_mask())
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1)
    model.set_random_seed(42)
    model.learn(128)
    model.save(tmp_path / "model")

    model = contrib.MaskablePPO.load(tmp_path / "model")
    games = aec_env(name, illegal_action="raise", **TURNS[name])
    scores = dict.fromkeys(games.possible_agents, 0.0)
    for number in range(4):
        games.reset(seed=number)
        learner = games.possible_agents[number % 2]
        for agent in games.agent_iter():
            seen, _, terminated, truncated, _ = games.last()
            planes, mask = seen.values()
            if terminated or truncated:
                scores = {player: scores[player] + games.rewards[player] for player in scores}
                assert sum(games.rewards.values()) == 0
                break
            if agent == learner:
                action = int(model.predict(planes, action_masks=mask, deterministic=True)[0])
            else:
                action = games.action_space(agent).sample(mask)
            games.step(action)
    assert sum(scores.values()) == 0
    assert get_action_masks(env).sum() > 0


class Network(torch.nn.Module):
    """Network of a policy and a value, for the planes of several agents."""

    def __init__(self, size: int, actions: int):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(size, 32), torch.nn.ReLU())
        self.actor, self.critic = torch.nn.Linear(32, actions), torch.nn.Linear(32, 1)

    def forward(self, seen: Any, mask: Any, action: Any = None) -> Any:
        hidden = self.body(seen.flatten(1).float())
        logits = torch.where(mask, self.actor(hidden), -1e9)
        policy = torch.distributions.Categorical(logits=logits)
        action = policy.sample() if action is None else action
        return action, policy.log_prob(action), policy.entropy(), self.critic(hidden)[:, 0]


@pytest.mark.parametrize(
    ("name", "params"), [("hungry_geese", GEESE), ("connect4", TURNS["connect4"])]
)
def test_the_tutorial_of_ppo_over_parallel_environments_runs(name: str, params: Any) -> None:
    torch.manual_seed(0)
    options = {"observation": "planes", "mask_dtype": "bool"}
    env = parallel_env(name, keep_eliminated=True, illegal_action="raise", **options, **params)
    agents = env.possible_agents
    size = int(np.prod(env.observation_space(agents[0]).shape))
    network = Network(size, env.action_space(agents[0]).n)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)

    def stacked(values: dict[str, Any]) -> Any:
        return torch.as_tensor(np.stack([values[agent] for agent in agents]))

    for episode in range(3):
        seen, infos = env.reset(seed=episode)
        log: list[Any] = []
        total = np.zeros(len(agents))
        while env.agents:
            assert env.agents == agents  # in every step, so that observations can be stacked
            planes = stacked(seen)
            masks = stacked({agent: infos[agent]["action_mask"] for agent in agents})
            with torch.no_grad():
                actions, old, _, values = network(planes, masks)
            choice = dict(zip(agents, actions.tolist(), strict=True))
            seen, rewards, ended, truncated, infos = env.step(choice)
            log.append((planes, masks, actions, old, values, stacked(rewards).float()))
            total += [rewards[agent] for agent in agents]
            assert len(set(ended.values())) == 1
            assert not any(truncated.values())
        assert all(ended.values())
        assert abs(total.sum()) < 1e-5
        planes, masks, actions, old, values, rewards = map(torch.stack, zip(*log, strict=True))
        advantages = torch.zeros_like(rewards)
        last = torch.zeros(len(agents))
        for t in reversed(range(len(log))):
            next_value = values[t + 1] if t + 1 < len(log) else torch.zeros(len(agents))
            last = rewards[t] + 0.99 * next_value - values[t] + 0.99 * 0.95 * last
            advantages[t] = last
        returns = (advantages + values).flatten()
        before = [weight.detach().clone() for weight in network.parameters()]
        for _ in range(3):
            _, new, entropy, value = network(
                planes.flatten(0, 1), masks.flatten(0, 1), actions.flatten()
            )
            ratio, gain = (new - old.flatten()).exp(), advantages.flatten()
            clipped = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            loss = (value - returns).square().mean() - clipped - 0.01 * entropy.mean()
            assert loss.isfinite()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        after_all = list(network.parameters())
        assert any((one != two).any() for one, two in zip(before, after_all, strict=True))
        assert all(weight.isfinite().all() for weight in after_all)
