"""PyTorch networks of any library as agents: in memory and in files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.agents.sampling import sample_by_logits
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice
from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import untrusted_names
from ludoteca.envs.validation import check_dtype, check_flag

try:
    import torch
    from torch import Tensor, nn

    from ludoteca.agents.networks.device import find_device
    from ludoteca.agents.networks.graph import NUM_EXAMPLES, Graph, record_graph
    from ludoteca.agents.networks.weights import find_weights, load_weights, save_weights
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

Network = Callable[[Tensor], Any]  # see `TorchAgent`
FORMAT = "graph-1"  # "format" in the metadata of a file
KINDS = ("logits", "values", "probabilities")  # kinds of scores
OPTIONS = ("kind", "dtype", "channels_last", "flat")  # constructor options in the metadata


class TorchAgent(Agent):
    """Agent with a PyTorch network: it plays the best legal action by logits or values.

    It uses the current weights, also while the network learns; copy the agent (`copy.deepcopy`) to
    freeze an opponent.

    Attributes:
        metadata: metadata of the network: the constructor's `kind`, `dtype`, `channels_last` and
            `flat`, and other entries of its file.
    """

    def __init__(
        self,
        game: Game,
        network: Network,
        *,
        kind: str = "logits",
        dtype: DTypeLike = "float32",
        channels_last: bool = False,
        flat: bool = False,
        deterministic: bool = True,
        metadata: dict[str, Any] | None = None,
    ):
        """Make the agent.

        Args:
            game: the game that it plays.
            network: function or module from observations `[K, *shape]` to scores
                `[K, num_actions]`; if it returns several results, the first is used.
            kind: kind of the scores: `"logits"`, `"values"` or `"probabilities"`.
            dtype: dtype of the observations.
            channels_last: whether observations have the shape `(rows, columns, planes)`.
            flat: whether observations are flattened, shape `(rows * columns * planes,)`.
            deterministic: whether to play the best action. Otherwise actions are sampled from the
                policy, with the random streams `rngs` of `act`.
            metadata: further metadata of the network.

        Raises:
            ValueError: if an option is invalid.
        """
        super().__init__(game)
        self._network = network
        self.metadata = (metadata or {}) | _options(kind, dtype, channels_last, flat)
        self._deterministic = check_flag("deterministic", deterministic)
        if not deterministic and kind == "values":
            raise ValueError(
                "kind='values' has no probabilities to sample from: expected deterministic=True"
            )
        self._observer = Observer(game, self.metadata["dtype"], channels_last)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by one forward pass of the network.

        Raises:
            ValueError: if the network does not return one number per action.
        """
        if len(states) == 0:
            return np.zeros(0, np.int64)
        scores, masks = self._scores(states, seats)
        scores = np.where(masks == 1, scores, -np.inf)
        # Networks may mask actions themselves; if they mask all, the legal ones have equal scores.
        scores[np.isneginf(scores).all(1, keepdims=True) & (masks == 1)] = 0
        return scores.argmax(1) if self._deterministic else sample_by_logits(scores, rngs)

    def prepare(self) -> None:
        """Compile the observer."""
        self._observer.observe(self.game.empty(0), np.zeros(0, np.int64))

    def __repr__(self) -> str:
        return f"TorchAgent({self.game.spec!r}, {self.metadata['kind']})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function that makes the agent, and its arguments."""
        return _make_agent, (
            type(self),
            self.game,
            self._network,
            self.metadata,
            self._deterministic,
        )

    def _scores(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return the scores of actions, logits or values, and the masks. `[K, num_actions]`."""
        planes, masks = self._observer.observe(states, seats)
        observations = torch.from_numpy(planes).to(_device_of(self._network))
        network = self._network
        was_training = isinstance(network, nn.Module) and network.training
        try:
            if was_training:
                network.eval()  # type: ignore[attr-defined]
            with torch.no_grad():
                result = network(observations.flatten(1) if self.metadata["flat"] else observations)
        finally:
            if was_training:
                network.train()  # type: ignore[attr-defined]
        result = result[0] if isinstance(result, tuple | list) else result
        if not isinstance(result, Tensor) or result.shape != masks.shape:
            actual = result.shape if isinstance(result, Tensor) else f"a {type(result).__name__}"
            raise ValueError(
                f"the network must return numbers of shape {masks.shape}, got {actual}"
            )
        scores = result.double().cpu().numpy()
        if np.isnan(scores).any():
            raise ValueError("the network returned NaN: its training has probably diverged")
        if self.metadata["kind"] == "probabilities":
            with np.errstate(divide="ignore"):  # the logarithm of 0 is minus infinity
                scores = np.log(scores)
        return scores, masks


def load_torch_agent(
    game: Game, path: str | Path, deterministic: bool = True, device: str = "cpu"
) -> TorchAgent:
    """Load a PyTorch network as an agent.

    The file contains a graph of tensor operations and the weights (see
    `ludoteca.agents.networks.graph`), so it needs no training library, and nothing is unpickled.

    Args:
        game: the game that it plays.
        path: the file that `save_policy` wrote.
        deterministic: whether to play the best action. Otherwise actions are sampled from the
            policy, with the random streams `rngs` of `act`.
        device: device of the network, such as `cpu` or `cuda`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file has another content, or the network is for another game or board.
    """
    graph, metadata = load_policy(game, path)
    return _make_agent(TorchAgent, game, graph.to(find_device(device)), metadata, deterministic)


def _make_agent(
    agent_class: type[TorchAgent],
    game: Game,
    network: Network,
    metadata: dict[str, Any],
    deterministic: bool,
) -> TorchAgent:
    """Return the agent of a network; the metadata contain the options `OPTIONS`."""
    options = {key: metadata[key] for key in OPTIONS}
    return agent_class(game, network, **options, deterministic=deterministic, metadata=metadata)


def save_policy(
    path: str | Path,
    game: Game | str,
    network: Network,
    *,
    kind: str = "logits",
    dtype: DTypeLike = "float32",
    channels_last: bool = False,
    flat: bool = False,
    metadata: dict[str, Any] | None = None,
) -> Path:
    """Write a network of any PyTorch library to a file that the agent `torch:PATH` plays.

    The file, in safetensors format, contains the weights and the graph of operations as JSON. See
    `TorchAgent` for `network` and its options.

    Args:
        path: the file; `.safetensors` is added if it has no suffix.
        game: the game that the network plays, or its spec string.
        network: a module, or a function of observations.
        kind: see `TorchAgent`.
        dtype: see `TorchAgent`.
        channels_last: see `TorchAgent`.
        flat: see `TorchAgent`.
        metadata: further metadata as JSON content, such as the training.

    Returns:
        The path of the file.

    Raises:
        ValueError: if the network does not fit the game, or cannot be recorded.
        OSError: if the file cannot be written.
    """
    game = make_game(game) if isinstance(game, str) else game
    options = _options(kind, dtype, channels_last, flat)
    shape = _shape(game, options)
    generator = torch.Generator().manual_seed(0)
    end = game.observation_high + 1  # exclusive
    examples = torch.randint(0, end, (NUM_EXAMPLES, *shape), generator=generator)
    document, weights = record_graph(network, examples.to(getattr(torch, options["dtype"])))
    _check_graph(game, Graph(document, weights), options)
    path = Path(path)
    path = path if path.suffix else path.with_name(f"{path.name}.safetensors")
    entries = {"format": FORMAT, "game": game.spec, **options, "network": document}
    save_weights(path, weights, {**(metadata or {}), **entries})
    return path


def load_policy(game: Game, path: str | Path) -> tuple[Graph, dict[str, Any]]:
    """Return the network in a file that `save_policy` wrote, and its metadata.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file has another content, or the network is for another game or board.
    """
    file = find_weights(path, "torch")
    weights, metadata = load_weights(file)
    try:
        if metadata.get("format") != FORMAT:
            raise ValueError(f"its format is {metadata.get('format')!r:.40}, not {FORMAT!r}")
        options = _options(*(metadata[key] for key in OPTIONS))
        with untrusted_names(file):  # the file's game must not import a module
            trained_game = make_game(metadata["game"])
        if trained_game.name != game.name:
            raise ValueError(f"it plays {trained_game.name}, not {game.name}")
        graph = Graph(metadata.pop("network"), weights)
        _check_graph(game, graph, options)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} holds no network for {game.spec}: {error!s:.500}") from None
    return graph, metadata | options


def _options(kind: Any, dtype: Any, channels_last: Any, flat: Any) -> dict[str, Any]:
    """Return the validated options of `TorchAgent`, as JSON content."""
    return {
        "kind": check_choice("kind", kind, KINDS),
        "dtype": check_dtype(dtype).name,
        "channels_last": check_flag("channels_last", channels_last),
        "flat": check_flag("flat", flat),
    }


def _shape(game: Game, options: dict[str, Any]) -> tuple[int, ...]:
    """Return the shape of one observation with the options of `TorchAgent`."""
    planes, rows, columns = game.observation_shape
    if options["flat"]:
        return (planes * rows * columns,)
    return (rows, columns, planes) if options["channels_last"] else game.observation_shape


def _check_graph(game: Game, graph: Graph, options: dict[str, Any]) -> None:
    """Check that a graph maps an observation to one number per action.

    Raises:
        ValueError: if it does not.
    """
    output_shape = graph.check(_shape(game, options), getattr(torch, options["dtype"]))
    if output_shape != (game.num_actions,):
        raise ValueError(
            f"{game.spec} has {game.num_actions} actions, but the network returns numbers of shape "
            f"{output_shape} for an observation"
        )


def _device_of(network: Any) -> torch.device:
    """Return the device of a network; that of functions is the CPU."""
    if isinstance(network, Graph):
        return network.device
    if isinstance(network, nn.Module):
        tensors = [*network.parameters(), *network.buffers()]
        return tensors[0].device if tensors else torch.device("cpu")
    return torch.device("cpu")
