"""Policies of Tianshou as agents: in memory, as opponents of their own training, and in files."""

from pathlib import Path
from typing import Any

from numpy.typing import DTypeLike

from ludoteca.agents.torch_agent import TorchAgent, save_policy
from ludoteca.envs.game import Game

try:
    from tianshou.algorithm import Algorithm
    from tianshou.algorithm.algorithm_base import Policy
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError(
        'ludoteca.agents.tianshou needs Tianshou: pip install "ludoteca[tianshou]"'
    ) from error


class PolicyNetwork(nn.Module):
    """The network of a policy, as a function of the observations of players.

    Attributes:
        kind: what it returns, `"logits"`, `"values"` or `"probabilities"`.
    """

    def __init__(self, policy: Policy | Algorithm):
        """Find the network in a policy.

        Args:
            policy: a `DiscreteQLearningPolicy` (DQN, also with quantiles or C51), a
                `DiscreteActorPolicy` (PPO, A2C, Reinforce), or the algorithm that has it. Networks
                in memory stay shared with it.

        Raises:
            ValueError: if it is another kind of policy.
        """
        super().__init__()
        found = policy.policy if isinstance(policy, Algorithm) else policy
        self._q_policy: Any = None
        if isinstance(found, DiscreteQLearningPolicy):
            self._network: Any = found.model
            self._q_policy = found
            self.kind = "values"
        elif isinstance(found, DiscreteActorPolicy):
            self._network = found.actor
            is_softmax = bool(getattr(found.actor, "softmax_output", False))
            self.kind = "probabilities" if is_softmax else "logits"
        else:
            raise ValueError(
                f"{type(found).__name__} is neither a DiscreteQLearningPolicy nor a "
                "DiscreteActorPolicy"
            )

    def forward(self, observations: Tensor) -> Tensor:
        """Map observations `[K, *shape]` to scores `[K, num_actions]`."""
        scores, _ = self._network(observations)
        if self._q_policy is not None:
            scores = self._q_policy.compute_q_value(scores, None)
        result: Tensor = scores
        return result


def agent_of_policy(
    game: Game,
    policy: Policy | Algorithm,
    *,
    dtype: DTypeLike = "float32",
    channels_last: bool = False,
    flat: bool = False,
    deterministic: bool = True,
) -> TorchAgent:
    """Return an agent that plays by a policy in memory, also while that learns.

    Copy it (`copy.deepcopy`) for an opponent that stays as it is.

    Args:
        game: the game.
        policy: see `PolicyNetwork`.
        dtype: of the observations that it takes.
        channels_last: whether their shape is `(rows, columns, planes)`.
        flat: whether they are flat (`TianshouVecEnv(..., observation="flat")`).
        deterministic: whether the best action is played, or one drawn from the policy.

    Raises:
        ValueError: see `PolicyNetwork`.
    """
    network = PolicyNetwork(policy)
    return TorchAgent.from_network(
        game,
        network,
        kind=network.kind,
        dtype=dtype,
        channels_last=channels_last,
        flat=flat,
        deterministic=deterministic,
    )


def save_tianshou_policy(
    path: str | Path,
    game: Game,
    policy: Policy | Algorithm,
    *,
    dtype: DTypeLike = "float32",
    channels_last: bool = False,
    flat: bool = False,
) -> Path:
    """Write a policy to a file that the agent `tianshou:PATH` plays, and return its path.

    Args:
        path: the file; `.safetensors` is added if it has no suffix.
        game: the game that it plays.
        policy: see `PolicyNetwork`.
        dtype: of the observations that it takes.
        channels_last: whether their shape is `(rows, columns, planes)`.
        flat: whether they are flat.

    Raises:
        ValueError: if it does not fit the game, or cannot be recorded; see `PolicyNetwork` and
            `ludoteca.agents.torch_agent.save_policy`.
        OSError: if the file cannot be written.
    """
    network = PolicyNetwork(policy)
    return save_policy(
        path,
        game,
        network,
        kind=network.kind,
        dtype=dtype,
        channels_last=channels_last,
        flat=flat,
        about={"library": "tianshou"},
    )
