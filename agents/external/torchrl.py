"""TorchRL actors as agents: in memory, also during their training, and in files."""

from pathlib import Path
from typing import Any

from ludoteca.agents.external.torch_agent import TorchAgent, save_policy
from ludoteca.envs.game import Game

try:
    from tensordict.nn import ProbabilisticTensorDictModule, TensorDictModule, TensorDictModuleBase
    from torch import Tensor, nn
    from torchrl.modules import QValueModule
    from torchrl.modules.models.multiagent import MultiAgentNetBase
except ImportError as error:
    raise ImportError(
        'ludoteca.agents.external.torchrl needs TorchRL: pip install "ludoteca[torchrl]"'
    ) from error

# Kinds of scores by the key that an actor writes.
SCORES = {"logits": "logits", "action_value": "values", "probs": "probabilities"}
MASKS = ("action_mask", "mask")  # keys of action masks
Key = str | tuple[str, ...]  # of a tensordict; nested keys are tuples


class ActorNetwork(nn.Module):
    """Network of an actor, from observations to action scores.

    Attributes:
        kind: kind of its outputs, `"logits"`, `"values"` or `"probabilities"`.
    """

    def __init__(self, actor: TensorDictModuleBase):
        """Find the network of an actor.

        Args:
            actor: the actor, such as a `ProbabilisticActor` with `MaskedCategorical`, a
                `QValueActor`, or a `TensorDictModule`. It writes `"logits"`, `"action_value"` or
                `"probs"`, also with a nested key (`("agents", "logits")`). Parameters are shared,
                not copied. Multi-agent networks need `share_params=True` and `centralized=False`.

        Raises:
            ValueError: if the actor has no such network, or it has other inputs than observations.
        """
        super().__init__()
        parts = []
        out: Key | None = None
        for part in _parts(actor):
            if isinstance(part, ProbabilisticTensorDictModule | QValueModule):
                break
            if not isinstance(part, TensorDictModule):
                raise ValueError(
                    f"an actor must not have a {type(part).__name__} before its scores"
                )
            parts.append(part)
            out = next((key for key in part.out_keys if _leaf(key) in SCORES), None)
            if out is not None:
                break
        if out is None:
            raise ValueError(
                f"the actor must write one of {', '.join(SCORES)} before it samples actions; its "
                f"keys are {[key for part in parts for key in part.out_keys]}"
            )
        computed = {key for part in parts for key in part.out_keys}
        given = [key for part in parts for key in part.in_keys if key not in computed]
        inputs = list(dict.fromkeys(given))
        if len(inputs) != 1 or _leaf(inputs[0]) in MASKS:
            raise ValueError(f"the only input of a network must be observations, got {inputs}")
        self._steps = nn.ModuleList(_single_agent_module(part.module) for part in parts)
        self._keys = [(part.in_keys, part.out_keys) for part in parts]
        self._in, self._out = inputs[0], out
        self.kind = SCORES[_leaf(out)]

    def forward(self, observations: Tensor) -> Tensor:
        """Map observations `[K, *shape]` to scores `[K, num_actions]`."""
        values: dict[Key, Any] = {self._in: observations}
        for step, (in_keys, out_keys) in zip(self._steps, self._keys, strict=True):
            outputs = step(*[values[key] for key in in_keys])
            values |= zip(
                out_keys, outputs if isinstance(outputs, tuple) else (outputs,), strict=False
            )
        scores: Tensor = values[self._out]
        return scores


def agent_of_actor(game: Game, actor: TensorDictModuleBase, **options: Any) -> TorchAgent:
    """Return an agent with an actor in memory, also while it learns.

    Copy the agent (`copy.deepcopy`) to freeze an opponent.

    Args:
        game: the game.
        actor: see `ActorNetwork`.
        options: options of `TorchAgent`, such as `flat=True` for the observations of
            `TorchRLEnv(..., observation="flat")`.

    Raises:
        ValueError: if an option is invalid; see also `ActorNetwork`.
    """
    network = ActorNetwork(actor)
    return TorchAgent(game, network, kind=network.kind, **options)


def save_actor(path: str | Path, game: Game, actor: TensorDictModuleBase, **options: Any) -> Path:
    """Write an actor to a file that the agent `torchrl:PATH` plays, and return its path.

    Args:
        path: the file; `.safetensors` is added if it has no suffix.
        game: the game that the actor plays.
        actor: see `ActorNetwork`.
        options: options of `ludoteca.agents.external.torch_agent.save_policy`, such as `flat=True`.

    Raises:
        ValueError: if it does not fit the game, or cannot be recorded; see `ActorNetwork` and
            `save_policy`.
        OSError: if the file cannot be written.
    """
    network, metadata = ActorNetwork(actor), {"library": "torchrl"}
    return save_policy(path, game, network, kind=network.kind, metadata=metadata, **options)


def _parts(actor: TensorDictModuleBase) -> list[TensorDictModuleBase]:
    """Return the modules of an actor in the order in which they run."""
    inner = getattr(actor, "module", None)
    if isinstance(inner, nn.ModuleList):  # a sequence, probabilistic or not
        return [part for module in inner for part in _parts(module)]
    return [actor]


def _single_agent_module(module: nn.Module) -> nn.Module:
    """Return the network of one player, without the dimension of agents.

    Raises:
        ValueError: if the players do not share parameters, or share observations.
    """
    if not isinstance(module, MultiAgentNetBase):
        return module
    if module.centralized or not module.share_params:
        raise ValueError(
            "an agent is one network with the observations of one player: the actor needs "
            "share_params=True and centralized=False"
        )
    single: nn.Module = module.get_stateful_net()  # its parameters are those of the original
    return single


def _leaf(key: Key) -> str:
    """Return the last part of a key."""
    return key if isinstance(key, str) else key[-1]
