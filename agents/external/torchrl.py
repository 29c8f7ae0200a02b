"""TorchRL actors as agents: in memory, as opponents in their own training, and in files."""

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

SCORES = {"logits": "logits", "action_value": "values", "probs": "probabilities"}
MASKS = ("action_mask", "mask")
Key = str | tuple[str, ...]


class ActorNetwork(nn.Module):
    """The network of an actor, as a function of the observations of players.

    Attributes:
        kind: kind of its outputs, `"logits"`, `"values"` or `"probabilities"`.
    """

    def __init__(self, actor: TensorDictModuleBase):
        """Find the network in an actor.

        Args:
            actor: such as a `ProbabilisticActor` with `MaskedCategorical`, a `QValueActor`, or a
                `TensorDictModule`. It writes `"logits"`, `"action_value"` or `"probs"`, in a group
                (`("agents", "logits")`) or not. Its parameters are shared, not copied. Networks for
                several agents need `share_params=True` and `centralized=False`.

        Raises:
            ValueError: if there is no such network, or it needs more than observations.
        """
        super().__init__()
        parts = []
        out: Key | None = None
        for part in _parts(actor):
            if isinstance(part, ProbabilisticTensorDictModule | QValueModule):
                break
            if not isinstance(part, TensorDictModule):
                raise ValueError(f"an actor cannot have a {type(part).__name__} before its scores")
            parts.append(part)
            out = next((key for key in part.out_keys if _leaf(key) in SCORES), None)
            if out is not None:
                break
        if out is None:
            raise ValueError(
                f"the actor must write one of {', '.join(SCORES)} before it draws actions; its "
                f"keys are {[key for part in parts for key in part.out_keys]}"
            )
        computed = {key for part in parts for key in part.out_keys}
        needed = [key for part in parts for key in part.in_keys if key not in computed]
        inputs_needed = list(dict.fromkeys(needed))
        if len(inputs_needed) != 1 or _leaf(inputs_needed[0]) in MASKS:
            raise ValueError(
                f"a network must see observations only, and this one sees {inputs_needed}"
            )
        self._steps = nn.ModuleList(_module_of_player(part.module) for part in parts)
        self._keys = [(part.in_keys, part.out_keys) for part in parts]
        self._in, self._out = inputs_needed[0], out
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
    """Return an agent that plays by an actor in memory, also while that learns.

    Copy it (`copy.deepcopy`) for an opponent that stays as it is.

    Args:
        game: the game.
        actor: see `ActorNetwork`.
        options: of `TorchAgent`, such as `flat=True` for the observations of
            `TorchRLEnv(..., observation="flat")`.

    Raises:
        ValueError: if an option is not possible; see also `ActorNetwork`.
    """
    network = ActorNetwork(actor)
    return TorchAgent(game, network, kind=network.kind, **options)


def save_actor(path: str | Path, game: Game, actor: TensorDictModuleBase, **options: Any) -> Path:
    """Write an actor to a file that the agent `torchrl:PATH` plays, and return its path.

    Args:
        path: the file; `.safetensors` is added if it has no suffix.
        game: the game that it plays.
        actor: see `ActorNetwork`.
        options: of `ludoteca.agents.external.torch_agent.save_policy`, such as `flat=True`.

    Raises:
        ValueError: if it does not fit the game, or cannot be recorded; see `ActorNetwork` and
            `save_policy`.
        OSError: if the file cannot be written.
    """
    network, about = ActorNetwork(actor), {"library": "torchrl"}
    return save_policy(path, game, network, kind=network.kind, about=about, **options)


def _parts(actor: TensorDictModuleBase) -> list[TensorDictModuleBase]:
    """Return the modules of an actor in the order in which they run."""
    inner = getattr(actor, "module", None)
    if isinstance(inner, nn.ModuleList):  # a sequence, probabilistic or not
        return [part for module in inner for part in _parts(module)]
    return [actor]


def _module_of_player(module: nn.Module) -> nn.Module:
    """Return a module for one player, without the dimension of players.

    Raises:
        ValueError: if it differs between players, or one observes another.
    """
    if not isinstance(module, MultiAgentNetBase):
        return module
    if module.centralized or not module.share_params:
        raise ValueError(
            "an agent is one network that sees what its player sees: the actor needs "
            "share_params=True and centralized=False"
        )
    single: nn.Module = module.get_stateful_net()  # its parameters are those of the original
    return single


def _leaf(key: Key) -> str:
    return key if isinstance(key, str) else key[-1]
