"""Tianshou policies as agents: in memory, also during their training, and in files."""

from pathlib import Path
from typing import Any

from ludoteca.agents.external.torch_agent import TorchAgent, save_policy
from ludoteca.envs.game import Game

try:
    from tianshou.algorithm import Algorithm
    from tianshou.algorithm.algorithm_base import Policy
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError(
        'ludoteca.agents.external.tianshou needs Tianshou: pip install "ludoteca[tianshou]"'
    ) from error


class PolicyNetwork(nn.Module):
    """Network of a policy, from observations to action scores.

    Attributes:
        kind: kind of its outputs, `"logits"`, `"values"` or `"probabilities"`.
    """

    def __init__(self, policy: Policy | Algorithm):
        """Find the network of a policy.

        Args:
            policy: a `DiscreteQLearningPolicy` (DQN, also with quantiles or C51), a
                `DiscreteActorPolicy` (PPO, A2C, Reinforce), or the algorithm that has it. The
                network is shared, not copied.

        Raises:
            ValueError: if the policy is of another kind.
        """
        super().__init__()
        module = policy.policy if isinstance(policy, Algorithm) else policy
        self._q_policy: Any = None
        if isinstance(module, DiscreteQLearningPolicy):
            self._network: Any = module.model
            self._q_policy = module
            self.kind = "values"
        elif isinstance(module, DiscreteActorPolicy):
            self._network = module.actor
            is_softmax = bool(getattr(module.actor, "softmax_output", False))
            self.kind = "probabilities" if is_softmax else "logits"
        else:
            raise ValueError(
                f"{type(module).__name__} is neither a DiscreteQLearningPolicy nor a "
                "DiscreteActorPolicy"
            )

    def forward(self, observations: Tensor) -> Tensor:
        """Map observations `[K, *shape]` to scores `[K, num_actions]`."""
        scores, _ = self._network(observations)
        if self._q_policy is not None:
            scores = self._q_policy.compute_q_value(scores, None)
        result: Tensor = scores
        return result


def agent_of_policy(game: Game, policy: Policy | Algorithm, **options: Any) -> TorchAgent:
    """Return an agent with a policy in memory, also while it learns.

    Copy the agent (`copy.deepcopy`) to freeze an opponent.

    Args:
        game: the game.
        policy: see `PolicyNetwork`.
        options: options of `TorchAgent`, such as `flat=True` for the observations of
            `TianshouVecEnv(..., observation="flat")`.

    Raises:
        ValueError: if an option is invalid; see also `PolicyNetwork`.
    """
    network = PolicyNetwork(policy)
    return TorchAgent(game, network, kind=network.kind, **options)


def save_tianshou_policy(
    path: str | Path, game: Game, policy: Policy | Algorithm, **options: Any
) -> Path:
    """Write a policy to a file that the agent `tianshou:PATH` plays, and return its path.

    Args:
        path: the file; `.safetensors` is added if it has no suffix.
        game: the game that the policy plays.
        policy: see `PolicyNetwork`.
        options: options of `ludoteca.agents.external.torch_agent.save_policy`, such as `flat=True`.

    Raises:
        ValueError: if it does not fit the game, or cannot be recorded; see `PolicyNetwork` and
            `save_policy`.
        OSError: if the file cannot be written.
    """
    network, metadata = PolicyNetwork(policy), {"library": "tianshou"}
    return save_policy(path, game, network, kind=network.kind, metadata=metadata, **options)
