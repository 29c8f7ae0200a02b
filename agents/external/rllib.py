"""RLlib policies as agents."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.envs.game import Game
from ludoteca.envs.rng import uniform

try:
    import torch

    from ludoteca.agents.external.rllib_file import (
        check_not_checkpoint,
        export_module,
        load_checkpoint,
        load_policy,
    )
    from ludoteca.agents.external.rllib_layers import CHANNELS_LAST, FLAT, Policy, scores_of
    from ludoteca.agents.external.rllib_module import (
        extract_policy,
        has_logits,
        module_format,
        module_scores,
        unwrap_module,
    )
    from ludoteca.agents.networks.device import find_device
    from ludoteca.agents.networks.weights import find_weights
except ImportError as error:
    raise ImportError(
        'the agent rllib needs PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

MAX_SCORE = 1e300  # replaces infinite scores, so that they differ from those of illegal actions
__all__ = ["RLlibAgent", "export_module", "load_checkpoint", "load_rllib_agent"]


class RLlibAgent(Agent):
    """Agent with an RLlib policy.

    It plays the legal action with the highest logit or action value, or samples one.
    """

    def __init__(self, game: Game, policy: Any, deterministic: bool = True):
        """Make the agent.

        Args:
            game: the game it plays.
            policy: an exported policy (`ludoteca.agents.external.rllib_layers.Policy`), or an
                RLModule, see `from_module`.
            deterministic: whether to play the best action. Otherwise actions are sampled from the
                policy, with the random streams `rngs` of `act`.

        Raises:
            ValueError: if the policy does not fit the game, or, without `deterministic`, has no
                probabilities to sample from.
        """
        super().__init__(game)
        self._policy, self._deterministic = policy, deterministic
        is_exported = isinstance(policy, Policy)
        if not (deterministic or (policy.logits if is_exported else has_logits(policy))):
            raise ValueError(
                "the policy has action values, not probabilities to sample from: expected "
                "deterministic=True"
            )
        if is_exported:
            self._format = CHANNELS_LAST if policy.planes else FLAT
        else:
            self._format = module_format(policy, game)
        self._observer = Observer(game, np.float32, self._format.channels_last)

    @classmethod
    def from_module(
        cls, game: Game, module: Any, deterministic: bool = True, copy: bool = False
    ) -> Self:
        """Return an agent that plays the policy of an RLModule in memory.

        Args:
            game: the game it plays.
            module: the module, as `algorithm.get_module()` returns it.
            deterministic: see the constructor.
            copy: whether to use a copy of the policy in plain PyTorch, with the current weights,
                instead of the module itself, which may continue to learn.

        Raises:
            TypeError: if the module computes no action scores, or, with `copy`, if it is not one of
                RLlib's default modules without recurrence.
            ValueError: if it does not fit the game, or, without `deterministic`, has no
                probabilities to sample from.
        """
        module = unwrap_module(module)
        return cls(game, extract_policy(module, game) if copy else module, deterministic)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose actions with one forward pass of the network."""
        observations, masks = self._observer.observe(states, seats)
        inputs = self._format.planes(observations)
        if isinstance(self._policy, Policy):
            scores = scores_of(self._policy, inputs)
        else:
            device = next(iter(self._policy.parameters()), torch.empty(0)).device
            scores = module_scores(self._policy, inputs, masks.astype(np.float32), device)
        finite = np.nan_to_num(scores, nan=-MAX_SCORE, posinf=MAX_SCORE, neginf=-MAX_SCORE)
        scores = np.where(masks == 1, finite, -np.inf)
        if self._deterministic:
            best: NDArray[np.int64] = scores.argmax(1)
            return best
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return sample_by_weight(weights, uniform(rngs.T))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the class and its arguments."""
        return type(self), (self.game, self._policy, self._deterministic)


def load_rllib_agent(
    game: Game, path: str | Path, deterministic: bool = True, device: str = "cpu"
) -> RLlibAgent:
    """Load an RLlib policy as an agent.

    The file, in safetensors format, has the weights and the layers as JSON, without pickles. Ray's
    checkpoints consist of pickles and are not accepted; see `load_checkpoint`.

    Args:
        game: the game it plays.
        path: the file that `export_module` wrote.
        deterministic: whether to play the best action. Otherwise actions are sampled from the
            policy, with the random streams `rngs` of `act`.
        device: device of the network.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if `export_module` did not write the file, or the policy does not fit the game,
            or has no probabilities to sample from and `deterministic` is False.
    """
    check_not_checkpoint(Path(path))
    policy = load_policy(game, find_weights(path, "rllib")).to(find_device(device))
    return RLlibAgent(game, policy, deterministic)
