"""Game: its rules as a record dtype and scalar kernels over one record.

A kernel is a Python function that compiled code may call.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, wraps
from types import FunctionType
from typing import Any, Literal, NamedTuple, ParamSpec

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.compilation import LOCK
from ludoteca.envs.layout import Layout
from ludoteca.envs.position import position_dtype
from ludoteca.envs.record_views import RecordArray
from ludoteca.envs.symmetry import Symmetry

MAX_ACTIONS = 2**31 - 1  # of a game: the largest int32
# Games that `ManyKernels.play` steps at once: fewer are stepped one by one, more in several parts.
MIN_TOGETHER, MAX_TOGETHER = 32, 512
FORFEIT = -1  # instead of an action in simultaneous games: the player leaves the game
P = ParamSpec("P")
Dynamics = Literal["sequential", "simultaneous"]
ActionType = type[np.int16] | type[np.int32]  # of `Game.action_dtype`
ActionArray = NDArray[np.int16 | np.int32]  # of `Game.action_dtype`


class ManyKernels(NamedTuple):
    """Kernels that step many games at once, with the same results as `Game.step` in each.

    Attributes:
        begin: `begin(s, action)`, with the arguments of `Game.step`, notes the actions.
        play: `play(states, flags, lo, hi)` applies them in those of the games lo to hi - 1 whose
            entry in `flags`, bool or uint8 `[B]`, is true or 1.
        end: `end(s)` completes the step of one game.
    """

    begin: Callable[[Any, Any], None]
    play: Callable[[Any, Any, int, int], None]
    end: Callable[[Any], None]


class ChanceKernels(NamedTuple):
    """Kernels that step a game with given chance events, with which all of them are enumerated.

    `begin`, then `play`, and `play` again while `is_pending`, give the same as `Game.step`, except
    for the random stream. All outcomes of an event have the same probability.

    Attributes:
        start: `start(s)` writes the starting position before the first chance event; while it
            `is_pending`, `play` continues. The settings and the random stream are not written.
        begin: `begin(s, action)`, with the arguments of `Game.step`, notes the actions.
        count: `count(s) -> n`, the number of outcomes of the next event, at least 1.
        play: `play(s, k)` continues with outcome k of the event.
        is_pending: `is_pending(s) -> bool`, whether an event follows before a player acts.
    """

    start: Callable[[Any], None]
    begin: Callable[[Any, Any], None]
    count: Callable[[Any], int]
    play: Callable[[Any, int], None]
    is_pending: Callable[[Any], bool]


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """Rules of one game as scalar kernels, which all compiled code of the package calls.

    In the kernels below `s` is one record of dtype `state`, changed in place. Kernels allocate
    nothing and raise nothing: environments check legality before they call kernels. The signatures
    of four kernels depend on `dynamics`:

    ====================  ===============================  ==================================
    kernel                sequential                       simultaneous
    ====================  ===============================  ==================================
    `player`              `player(s) -> int`, to move      None
    `is_active`           None                             `is_active(s, player) -> bool`
    `legal_actions`       `legal_actions(s, out) -> n`     `legal_actions(s, player, out) -> n`
    `step`                `step(s, action)`                `step(s, actions)`, one per player
    ====================  ===============================  ==================================

    Attributes:
        name: lower-case identifier, e.g. `"hex"`.
        title: displayed name, e.g. `"Hex"`.
        params: all parameters of the factory that made the game, defaults included.
        num_players: players are numbered from 0; in sequential games player 0 moves first.
        num_actions: number of actions, legal or not, at most `MAX_ACTIONS`; actions are numbered
            from 0.
        max_plies: maximum number of calls of `step` in a game.
        observation_shape: `(planes, rows, columns)` of one observation.
        observation_high: the largest value in an observation; the smallest is 0.
        dynamics: `"sequential"`: one player moves at a time; `"simultaneous"`: all active players.
        zero_sum: whether the returns of all players always add up to 0.
        hidden_information: whether a player observes only a part of the state. What a player has
            observed at earlier decisions then belongs to its information state, too.
        state: dtype of one position. The board size is the shape of a field; if no field has the
            cells, that of `board`, which then has no elements: `("board", np.int8, (0, n))`.
        settings: values of fields of the record that hold parameters of the game, by field name;
            `empty` writes them into every new record, and kernels only read them.
        init: `init(s, seed)` writes the starting position, except the settings.
        is_active: whether a player acts: it is not eliminated, and the game is not over. The other
            players are inactive.
        legal_actions: writes the legal actions, ascending, to `out[:n]`. Sequential: `n >= 1`
            unless the game is over. Simultaneous: `n >= 1` for active players, else 0.
        step: applies a legal action. Simultaneous: entries of inactive players are ignored, and
            active players may also `FORFEIT`, which eliminates them at once.
        many: None, or kernels that step many games faster than one after the other.
        chance: None, or kernels that enumerate the chance events of the rules.
        is_terminal: `is_terminal(s) -> bool`.
        returns: `returns(s, out)` writes one score in [-1, 1] per player: the final score when the
            game is over; before the end, that of eliminated players, if decided, else 0.
        observe: `observe(s, player, out)` writes all planes of the observation of `player`.
        playout: None, or a uniformly random playout that is faster than single steps:
            `playout(s, legal, rng) -> n` writes the actions of alternating players to `legal[:n]`,
            `[num_actions]` of `action_dtype`. It may continue after the game is decided; then only
            `returns` may be called on the record. Its returns are distributed as those of single
            steps.
        layout: description of the board for renderers.
        action_names: displayed names of the actions, e.g. `"d3"`.
        symmetries: `symmetries() -> tuple[Symmetry, ...]`, the identity first.
        mirror: None, or `mirror() -> Symmetry` of a two-player game whose observations do not
            depend on the player: it maps observations and actions of player 1 to those of player 0
            in the same situation with exchanged players. It is its own inverse.
        validate: `validate(s)` returns the reason why a position, for example one from a file, is
            invalid, or `""`. In a valid position, kernels never index out of bounds.
    """

    name: str
    title: str
    params: Mapping[str, Any]
    num_players: int
    num_actions: int
    max_plies: int
    observation_shape: tuple[int, int, int]
    observation_high: int = 1
    dynamics: Dynamics = "sequential"
    zero_sum: bool = True
    hidden_information: bool = False
    state: np.dtype[np.void]
    settings: Mapping[str, int] = field(default_factory=dict)
    init: Callable[[Any, int], None]
    player: Callable[[Any], int] | None = None
    is_active: Callable[[Any, int], bool] | None = None
    legal_actions: Callable[..., int]
    step: Callable[[Any, Any], None]
    many: ManyKernels | None = None
    chance: ChanceKernels | None = None
    is_terminal: Callable[[Any], bool]
    returns: Callable[[Any, Any], None]
    observe: Callable[[Any, int, Any], None]
    playout: Callable[[Any, Any, Any], int] | None = None
    layout: Layout
    action_names: tuple[str, ...]
    symmetries: Callable[[], tuple[Symmetry, ...]]
    mirror: Callable[[], Symmetry] | None = None
    validate: Callable[[Any], str]

    def __post_init__(self) -> None:
        if not self.state.isalignedstruct:
            raise ValueError(
                f"the dtype state of {self.name} must be made with align=True, which CUDA needs"
            )
        if (self.is_active if self.simultaneous else self.player) is None:
            missing = "is_active" if self.simultaneous else "player"
            raise ValueError(f"{self.name} is {self.dynamics}, so it needs the kernel {missing}")
        if self.num_actions > MAX_ACTIONS:
            raise ValueError(
                f"{self.name} must have at most {MAX_ACTIONS:,} actions, got {self.num_actions:,}"
            )
        if len(self.action_names) != self.num_actions:
            raise ValueError(
                f"{self.name} has {self.num_actions} actions, "
                f"but {len(self.action_names)} action_names"
            )

    def __repr__(self) -> str:
        return f"Game({self.spec!r})"

    def __deepcopy__(self, memo: Any) -> "Game":
        return self  # a game is immutable, and compiled code is looked up by its identity

    def __reduce__(self) -> tuple[Callable[..., "Game"], tuple[Any, ...]]:
        """Pickle a registered game as its spec string, others as their factory or their fields.

        Factories, and kernels in fields, are pickled by reference; those of a script or notebook
        (`__main__`) need `cloudpickle` to reach another process.
        """
        if _is_registered(self):
            return _load_registered, (self.spec,)
        if "_factory" in vars(self):
            return _call_factory, (vars(self)["_factory"], dict(self.params))
        return _from_fields, ({field.name: getattr(self, field.name) for field in fields(self)},)

    @property
    def simultaneous(self) -> bool:
        """Whether `dynamics` is `"simultaneous"`: all active players move at once."""
        return self.dynamics == "simultaneous"

    @property
    def has_chance(self) -> bool:
        """Whether the rules use random numbers: the state then has a random stream, `rng`."""
        return "rng" in (self.state.names or ())

    @property
    def action_dtype(self) -> ActionType:
        """Scalar type of arrays of actions: int16 up to 32,767 actions, otherwise int32.

        It holds every action, negative marks such as `FORFEIT`, and numbers of legal actions.
        """
        return action_dtype(self.num_actions)

    @property
    def spec(self) -> str:
        """The game as a spec string, e.g. `"hex:board_size=5,first=black,swap=False"`.

        For a game that is not registered it begins with the import target of its factory, e.g.
        `"mygames:dots_and_boxes:size=2"`.
        """
        params = ",".join(f"{key}={value}" for key, value in self.params.items())
        return f"{self.spec_name}:{params}" if params else self.spec_name

    @property
    def short_spec(self) -> str:
        """The spec string without parameters that have their default values, for messages."""
        factory = vars(self).get("_factory")
        defaults = inspect.signature(factory).parameters if factory else {}
        params = ",".join(
            f"{key}={value}"
            for key, value in self.params.items()
            if key not in defaults or value != defaults[key].default
        )
        return f"{self.spec_name}:{params}" if params else self.spec_name

    @property
    def spec_name(self) -> str:
        """The spec string without its parameters: the name, or the target of the factory."""
        name: str = vars(self).get("_target", self.name)
        return name

    def empty(self, count: int) -> NDArray[np.void]:
        """Return `count` records with the settings written, ready for `init`."""
        states = np.zeros(count, self.state)
        for name, value in self.settings.items():
            states[name] = value
        return states

    @np.errstate(over="ignore")  # kernels may rely on integer overflow
    def legal(self, s: Any, player: int | None = None) -> list[int]:
        """Return the legal actions in `s`, in simultaneous games those of `player`."""
        out = np.zeros(self.num_actions, self.action_dtype)
        n = self.legal_actions(s, player, out) if self.simultaneous else self.legal_actions(s, out)
        return [int(action) for action in out[:n]]

    def new(self, seed: int = 0) -> Any:
        """Return a starting position as a NumPy record, for interactive use."""
        s = self.empty(1).view(self.position_dtype, RecordArray)[0]
        with np.errstate(over="ignore"):  # SplitMix64 wraps around
            self.init(s, seed)
        return s

    @cached_property
    def position_dtype(self) -> np.dtype[Any]:
        """The dtype of positions that notebooks show as boards; it is equal to `state`."""
        return position_dtype(self)

    def _repr_svg_(self) -> str:
        """Return the board of a new game as SVG, for notebooks."""
        svg: str = self.new()._repr_svg_()
        return svg


def action_dtype(num_actions: int) -> ActionType:
    """Return `Game.action_dtype` of a game with `num_actions` actions."""
    return np.int16 if num_actions <= np.iinfo(np.int16).max else np.int32


# Games by factory, spec and bytecode of the kernels: an edited notebook cell makes another game.
_games: dict[Any, Game] = {}


def unique(factory: Callable[P, Game]) -> Callable[P, Game]:
    """Decorate a factory to return the same `Game` for the same parameters.

    Parameters that are NumPy scalars are converted to Python's types.
    """

    @wraps(factory)
    def make(*args: P.args, **kwargs: P.kwargs) -> Game:
        return _make_once(make, args, kwargs)

    return make


def _make_once(make: Any, args: Any, kwargs: Any) -> Game:
    """Call the factory that `make` wraps; return the first game that equals its result."""
    converted = {key: _to_python(value) for key, value in kwargs.items()}
    with LOCK:
        game: Game = make.__wrapped__(*map(_to_python, args), **converted)
        values = [getattr(game, field.name) for field in fields(game)]
        kernels = tuple(value.__code__ for value in values if isinstance(value, FunctionType))
        interned = _games.setdefault((make.__module__, make.__qualname__, game.spec, kernels), game)
        if interned is game:
            object.__setattr__(game, "_factory", make)  # the dataclass is frozen
        return interned


def _to_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _load_registered(spec: str) -> Game:
    """Return a registered game, from its pickled spec."""
    from ludoteca.envs.registry import make_game

    return make_game(spec)


def _is_registered(game: Game) -> bool:
    """Return whether `make_game` returns this very object for the game's spec string."""
    from ludoteca.envs.registry import make_game

    try:
        return make_game(game.spec) is game
    except (TypeError, ValueError):
        return False


def _call_factory(factory: Callable[..., Game], params: dict[str, Any]) -> Game:
    return factory(**params)


def _from_fields(values: dict[str, Any]) -> Game:
    return Game(**values)
