"""ONNX policy networks as agents."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.external.onnx_signature import VIEWS, find_encoder, find_signature
from ludoteca.agents.predictor import Observer
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice
from ludoteca.envs.registry import make_game
from ludoteca.envs.rng import uniform
from ludoteca.envs.targets import untrusted_names
from ludoteca.files import parse_json

KEY = "ludoteca"  # key of our JSON document in the metadata of a model
FORMAT = "ludoteca-onnx"  # "format" of this document


class ONNXAgent(Agent):
    """Agent with a policy network in an ONNX file: it plays the legal action of the highest score.

    The model has an input of planes, `[B, planes, rows, columns]`, or with channels last, or flat,
    of any type; optionally an input of masks, `[B, actions]`, 1 for legal actions; and an output
    `[B, actions]` of logits or Q values. Other outputs, such as a value, are ignored. Illegal
    actions are masked whether or not the model has an input of masks. `ludoteca export onnx`
    writes such files. ONNX files do not contain Python code.

    Attributes:
        metadata: our JSON document in the file's metadata; empty if there is none.
        signature: inputs and output of the model.
        encoder: encoder of the observations with `view="network"`, else None.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        deterministic: bool = True,
        view: str = "auto",
        channels_last: bool | None = None,
        threads: int = 1,
    ):
        """Load a model.

        Args:
            game: the game it plays.
            path: the file.
            deterministic: whether the best action is played; otherwise one is sampled from the
                softmax of the scores, with the random streams of the match.
            view: planes of the input: `environment`: the observations of environments; `network`:
                those of this package's networks for sequential games; `hand_crafted`: the
                hand-crafted features of Hungry Geese; `auto`: by the metadata of the file, else the
                first of these whose shape fits.
            channels_last: whether planes come last; None: by the metadata of the file, else
                inferred from the shape.
            threads: number of threads of ONNX Runtime.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it contains no model, or one that does not fit the game.
        """
        super().__init__(game)
        check_choice("view", view, ("auto", *VIEWS))
        self._path, self._deterministic = Path(path), bool(deterministic)
        self._threads, self._view_options = threads, (view, channels_last)
        self._session = _load(self._path, threads)
        self.metadata = read_about(self._session, self._path)
        self._check_trained_for()
        self.signature = find_signature(self._session, game, self._path, *self._resolve_view())
        self.encoder = find_encoder(game, self.signature.view)
        self._observer = Observer(game, "int8")

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments of the agent; a copy loads the model again."""
        view, channels_last = self._view_options
        return {
            "game": self.game,
            "path": self._path.resolve(),
            "deterministic": self._deterministic,
            "view": view,
            "channels_last": channels_last,
            "threads": self._threads,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        ONNXAgent.__init__(self, **state)

    def prepare(self) -> None:
        """Compile the observer."""
        self._scores(self.game.empty(0), np.zeros(0, np.int64))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by one forward pass of the model.

        Raises:
            ValueError: if the model does not return one number per action.
        """
        scores, masks = self._scores(states, seats)
        scores = np.where(masks == 1, scores, -np.inf)
        if self._deterministic:
            best = scores.argmax(1)
        else:
            weights = np.exp(scores - scores.max(1, keepdims=True))
            best = sample_by_weight(weights, uniform(rngs.T))
        return best if self.encoder is None else self.encoder.translate(best, seats)

    def _scores(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return the scores and the masks of positions, in the network's action order."""
        encode = self._observer.observe if self.encoder is None else self.encoder.encode
        planes, masks = encode(states, seats)
        signature = self.signature
        if signature.channels_last:
            planes = np.moveaxis(planes, 1, -1)
        inputs = {signature.planes: planes.reshape(-1, *signature.shape).astype(signature.dtype)}
        if signature.mask is not None:
            inputs[signature.mask] = masks.astype(signature.mask_dtype)
        if len(states) == 0:
            return np.zeros((0, self.game.num_actions)), masks
        scores = np.asarray(self._session.run([signature.scores], inputs)[0])
        if scores.shape != masks.shape:
            raise ValueError(
                f"{self._path} must return one number for each action, shape {masks.shape}, got "
                f"{signature.scores} of shape {scores.shape}"
            )
        if np.isnan(scores).any():
            raise ValueError(f"{self._path} returns NaN in {signature.scores}")
        return scores.astype(np.float64), masks

    def _resolve_view(self) -> tuple[str, bool | None]:
        """Return the options `view` and `channels_last`, by the metadata if they are not given."""
        view, channels_last = self._view_options
        if view == "auto" and self.metadata.get("view") in VIEWS:
            view = self.metadata["view"]
        if channels_last is None and isinstance(self.metadata.get("channels_last"), bool):
            channels_last = self.metadata["channels_last"]
        return view, channels_last

    def _check_trained_for(self) -> None:
        """Validate that the game in the metadata of a model, if any, is this one."""
        spec = self.metadata.get("game")
        if spec is None:
            return
        try:
            with untrusted_names(self._path):  # the file's game must not import a module
                trained_game = make_game(spec)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._path}: {error}") from None
        if trained_game is not self.game:  # equal games are the same object
            raise ValueError(f"{self._path} plays {trained_game.spec}, not {self.game.spec}")


def read_about(session: Any, path: Path) -> dict[str, Any]:
    """Return our document in the metadata of a model; empty if there is none.

    Raises:
        ValueError: if the document is damaged.
    """
    text = session.get_modelmeta().custom_metadata_map.get(KEY)
    if text is None:
        return {}
    try:
        metadata = parse_json(text)
        if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
            raise ValueError(f"expected an object with the format {FORMAT!r}, got {metadata!r:.80}")
    except ValueError as error:
        raise ValueError(f"{path}: its metadata {KEY!r} is damaged: {error}") from None
    return metadata


def _load(path: Path, threads: int) -> Any:
    """Return a model as a session of ONNX Runtime."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        import onnxruntime
    except ImportError as error:
        message = 'the agent onnx needs ONNX Runtime: pip install "ludoteca[onnx]"'
        raise ImportError(message) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # only errors
    try:
        return onnxruntime.InferenceSession(
            path.read_bytes(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # ONNX Runtime raises different exceptions
        raise ValueError(f"{path} holds no ONNX model: {error!s:.300}") from None
