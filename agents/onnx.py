"""Policy networks in ONNX files as agents."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.draws import by_weight
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.predictor import Observer
from ludoteca.envs.files import parse_json
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice
from ludoteca.envs.registry import make_game
from ludoteca.envs.rng import uniform
from ludoteca.envs.targets import names_from

KEY = "ludoteca"  # of our JSON document among a model's metadata
FORMAT = "ludoteca-onnx"
TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}
SCORES = ("logits", "q_values", "q", "policy", "scores", "probabilities")


@dataclass(frozen=True)
class Signature:
    """What a model takes and returns.

    Attributes:
        planes: name of the input of planes.
        mask: name of the input of masks, or None.
        scores: name of the output with a number for each action.
        shape: of the planes of one position, as the model takes them.
        view: `"environment"`: the planes that environments show; `"network"`: those of
            `ludoteca.agents.networks.encoder.Encoder`, in which one network plays both seats.
        channels_last: whether planes are `(rows, columns, planes)`.
        dtype: type of the planes.
        mask_dtype: type of the masks.
    """

    planes: str
    mask: str | None
    scores: str
    shape: tuple[int, ...]
    view: str
    channels_last: bool
    dtype: Any
    mask_dtype: Any


class ONNXAgent(Agent):
    """Plays a policy network in an ONNX file: the legal action of the highest score.

    The model has an input of planes, `[B, planes, rows, columns]`, also with the planes last or
    flat, of any type; optionally a second one of masks, `[B, actions]`, 1 for legal actions; and an
    output `[B, actions]`, of logits or Q values. Other outputs, such as a value, are left alone.
    Illegal actions are left out whether or not the model takes masks. `ludoteca export onnx`
    writes such files. ONNX files hold no code of Python's.
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
            deterministic: whether the best action is played, or one drawn by the softmax of the
                scores, from the random streams of the match.
            view: what the planes are: `environment`, as environments show them; `network`, those of
                this package's networks; `auto`: as the file says, else by their number, where
                `environment` comes first.
            channels_last: whether planes come last; None: as the shape says.
            threads: threads of the model.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it holds no model, or one that does not fit the game.
        """
        super().__init__(game)
        choice("view", view, ("auto", "environment", "network"))
        self._path, self._deterministic = Path(path), bool(deterministic)
        self._threads, self._asked = threads, (view, channels_last)
        self._session = _load(self._path, threads)
        self.about = read_about(self._session, self._path)
        self._check_trained_for()
        self.signature = find_signature(self._session, game, self._path, *self._wanted())
        if self.signature.view == "network":
            self.encoder: Encoder | None = Encoder(game)
        else:
            self.encoder = None
        self._observer = Observer(game, "int8")

    def __getstate__(self) -> dict[str, Any]:
        view, channels_last = self._asked
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
        """Compile what shows the positions."""
        self._scores(self.game.empty(0), np.zeros(0, np.int64))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        lanes: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by one pass through the model.

        Raises:
            ValueError: if the model returns anything but a number for each action.
        """
        scores, masks = self._scores(states, seats)
        scores = np.where(masks == 1, scores, -np.inf)
        if self._deterministic:
            best = scores.argmax(1)
        else:
            weights = np.exp(scores - scores.max(1, keepdims=True))
            best = by_weight(weights, uniform(rngs.T))
        return best if self.encoder is None else self.encoder.translate(best, seats)

    def _scores(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return the scores and the masks of positions, as the network numbers the actions."""
        look = self._observer.look if self.encoder is None else self.encoder.encode
        planes, masks = look(states, seats)
        form = self.signature
        if form.channels_last:
            planes = np.moveaxis(planes, 1, -1)
        fed = {form.planes: planes.reshape(-1, *form.shape).astype(form.dtype)}
        if form.mask is not None:
            fed[form.mask] = masks.astype(form.mask_dtype)
        if len(states) == 0:
            return np.zeros((0, self.game.num_actions)), masks
        scores = np.asarray(self._session.run([form.scores], fed)[0])
        if scores.shape != masks.shape:
            raise ValueError(
                f"{self._path} must return one number for each action, shape {masks.shape}, got "
                f"{form.scores} of shape {scores.shape}"
            )
        if np.isnan(scores).any():
            raise ValueError(f"{self._path} returns {form.scores} that are not numbers (NaN)")
        return scores.astype(np.float64), masks

    def _wanted(self) -> tuple[str, bool | None]:
        view, channels_last = self._asked
        if view == "auto" and self.about.get("view") in ("environment", "network"):
            view = self.about["view"]
        return view, channels_last

    def _check_trained_for(self) -> None:
        """Check that a model that names its game plays this one."""
        spec = self.about.get("game")
        if spec is None:
            return
        try:
            with names_from(self._path):
                trained = make_game(spec)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._path}: {error}") from None
        if trained is not self.game:
            raise ValueError(f"{self._path} plays {trained.spec}, not {self.game.spec}")


def read_about(session: Any, path: Path) -> dict[str, Any]:
    """Return our document among the metadata of a model; empty if it was made elsewhere.

    Raises:
        ValueError: if the document is damaged.
    """
    text = session.get_modelmeta().custom_metadata_map.get(KEY)
    if text is None:
        return {}
    try:
        about = parse_json(text)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError(f"expected the format {FORMAT!r}")
    except ValueError as error:
        raise ValueError(f"{path}: its metadata {KEY!r} is damaged: {error}") from None
    return about


def find_signature(
    session: Any, game: Game, path: Path, view: str, channels_last: bool | None
) -> Signature:
    """Return how a model is to be used for a game.

    Args:
        session: the model.
        game: the game.
        path: its file, for messages.
        view: see `ONNXAgent`.
        channels_last: likewise.

    Raises:
        ValueError: if no input takes the game's planes, or no output rates its actions.
    """
    inputs, outputs = session.get_inputs(), session.get_outputs()
    actions = game.num_actions
    described = ", ".join(f"{one.name} {one.type} {one.shape}" for one in [*inputs, *outputs])
    masks = [one for one in inputs if "mask" in one.name.lower()]
    others = [one for one in inputs if one not in masks]
    wanted = f"{path} has {described}"
    if len(others) != 1 or len(masks) > 1:
        raise ValueError(
            f"{wanted}; expected one input of planes, and at most one of masks, whose name has "
            "'mask' in it"
        )
    for one in inputs:
        if one.type not in TYPES:
            raise ValueError(f"{wanted}; its input {one.name} is none of {', '.join(TYPES)}")
    for one in masks:
        if not _fits(one.shape, (actions,)):
            raise ValueError(f"{wanted}; the masks of {game.spec} are [B, {actions}]")
    found = _find_view(others[0].shape, game, view, channels_last)
    if found is None:
        raise ValueError(
            f"{wanted}; the planes of {game.spec} are {list(game.observation_shape)}, or that with "
            f"the planes last or flat{_network_shape(game)}"
        )
    scores = [one for one in outputs if _fits(one.shape, (actions,))]
    named = [one for one in scores if one.name.lower() in SCORES]
    if len(named or scores) != 1:
        raise ValueError(
            f"{wanted}; expected one output of shape [B, {actions}], or one of them called "
            f"{', '.join(SCORES)}"
        )
    return Signature(
        planes=others[0].name,
        mask=masks[0].name if masks else None,
        scores=(named or scores)[0].name,
        shape=found[0],
        view=found[1],
        channels_last=found[2],
        dtype=TYPES[others[0].type],
        mask_dtype=TYPES[masks[0].type] if masks else None,
    )


def _find_view(
    shape: list[Any], game: Game, view: str, channels_last: bool | None
) -> tuple[tuple[int, ...], str, bool] | None:
    """Return the shape, the view and the order of planes that an input's shape stands for."""
    for name, planes in _views(game).items():
        if view not in ("auto", name):
            continue
        channels, rows, columns = planes
        for last in (False, True) if channels_last is None else (channels_last,):
            whole = (rows, columns, channels) if last else planes
            for form in (whole, (channels * rows * columns,)):
                if _fits(shape, form):
                    return form, name, last
    return None


def _views(game: Game) -> dict[str, tuple[int, int, int]]:
    views = {"environment": game.observation_shape}
    if not game.simultaneous and game.num_players == 2:
        views["network"] = Encoder(game).shape
    return views


def _network_shape(game: Game) -> str:
    shape = _views(game).get("network")
    return f", or for view=network {list(shape)}" if shape else ""


def _fits(shape: list[Any], wanted: tuple[int, ...]) -> bool:
    """Return whether a shape with a batch axis, of numbers and names, allows another one."""
    free_batch = len(shape) > 0 and not isinstance(shape[0], int)
    fits = all(not isinstance(a, int) or a == b for a, b in zip(shape[1:], wanted, strict=False))
    return len(shape) == 1 + len(wanted) and free_batch and fits


def _load(path: Path, threads: int) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        import onnxruntime
    except ImportError as error:
        needed = 'the agent onnx needs ONNX Runtime: pip install "ludoteca[onnx]"'
        raise ImportError(needed) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            path.read_bytes(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # classes of its own for each kind of damage
        raise ValueError(f"{path} holds no ONNX model: {error!s:.300}") from None
