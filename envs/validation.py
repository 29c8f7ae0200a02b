"""Validation of the arguments that all environment APIs share."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.params import UnknownParameter, check_choice, keyword_names, unknown_parameter
from ludoteca.envs.registry import make_game

DTYPES = ("int8", "uint8", "int16", "int32", "float32", "float64")
# Random seeds are below this, so that `seed + i`, the seed of game i of a batch, is valid.
RANDOM_SEED_BOUND = 2**62
OUT_OF_RANGE = 2**63 - 1  # an action that is illegal in every game
T = TypeVar("T")


MAX_SEED = 2**63 - 1


def check_seed(seed: Any) -> int:
    """Return `seed` as an integer, if it is a valid seed.

    Raises:
        ValueError: if it is not an integer (of Python or NumPy) from 0 to 2**63 - 1.
    """
    integral = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not integral or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"a seed must be an integer from 0 to 2**63 - 1, got {seed!r}")
    return int(seed)


def next_seed(seed: int) -> int:
    """Return the seed after `seed`: one more, and 0 after the largest."""
    return 0 if seed == MAX_SEED else seed + 1


def check_options(options: Any) -> Mapping[str, Any]:
    """Return the options of `reset` as a mapping, empty if they are None.

    Raises:
        ValueError: if they are neither a mapping nor None.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dictionary or None, got {options!r}")
    return options


def check_reset_mask(options: Any, count: int) -> NDArray[np.bool_] | None:
    """Return `options["reset_mask"]`, bool `[count]`, or None if there is none.

    Raises:
        ValueError: if it has another shape or dtype, or is all false.
    """
    mask = check_options(options).get("reset_mask")
    if mask is None:
        return None
    mask = np.asarray(mask)
    if mask.shape != (count,) or mask.dtype != np.bool_ or not mask.any():
        raise ValueError(
            f"reset_mask must be booleans of shape ({count},), at least one of them true, "
            f"got {mask.dtype} of shape {mask.shape}"
        )
    return mask


def check_render_mode(render_mode: Any, modes: Sequence[str]) -> str | None:
    """Return `render_mode` if it is None or one of `modes`.

    Raises:
        ValueError: otherwise.
    """
    if render_mode is None or (isinstance(render_mode, str) and render_mode in modes):
        return render_mode
    raise ValueError(f"render_mode must be None or one of {list(modes)}, got {render_mode!r}")


def check_flag(name: str, flag: Any) -> bool:
    """Return a flag, such as `channels_last`, as Python's boolean.

    Raises:
        ValueError: if it is not a boolean (of Python or NumPy).
    """
    return bool(
        check_choice(name, bool(flag) if isinstance(flag, np.bool_) else flag, (False, True))
    )


def check_dtype(
    dtype: DTypeLike, name: str = "dtype", allowed: Sequence[str] = DTYPES
) -> np.dtype[Any]:
    """Return `dtype` as a NumPy dtype, if it is one of `allowed`.

    Raises:
        ValueError: if it is not one of `allowed`, in any of NumPy's notations.
    """
    if isinstance(dtype, str | type | np.dtype):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of deprecated names
            try:
                canonical = np.dtype(dtype).name
            except (TypeError, ValueError):
                canonical = ""
        if canonical in allowed:
            return np.dtype(canonical)
    raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {dtype!r}")


def check_action_dict(agents: Sequence[str], actions: Any) -> Mapping[str, Any]:
    """Return the actions of a parallel environment's step if they are a mapping.

    Raises:
        ValueError: otherwise.
    """
    if not isinstance(actions, Mapping):
        raise ValueError(
            f"actions must be a dictionary with the actions of {list(agents)}, got {actions!r}"
        )
    return actions


def agent_value(values: Mapping[str, T], agent: Any) -> T:
    """Return the value of an agent, such as its space.

    Raises:
        ValueError: if there is no such agent.
    """
    try:
        return values[agent]
    except (KeyError, TypeError):
        names = ", ".join(map(repr, values))
        raise ValueError(f"agent must be one of {names or 'none'}, got {agent!r}") from None


def as_game(
    game: Game | str, params: dict[str, Any], environment: Callable[..., Any] | None = None
) -> Game:
    """Return a game, given as itself or by its name.

    Args:
        game: a game or its name.
        params: parameters of the game.
        environment: class or function whose keyword arguments are listed in errors, beside the
            parameters of the game.

    Raises:
        ValueError: if parameters are given for a game that is already made, or the name is unknown.
            For a keyword argument that does not exist, it is an `UnknownParameter`.
        TypeError: if it is neither a game nor a name.
    """
    if isinstance(game, str):
        try:
            return make_game(game, **params)
        except UnknownParameter as error:
            options = keyword_names(environment) if environment else ()
            owner, parameter, known = error.owner, error.parameter, error.known
            raise unknown_parameter(owner, parameter, known, options) from None
    if not isinstance(game, Game):
        raise TypeError(f"game must be a Game or its name, such as 'hex', got {game!r}")
    if params:
        raise UnknownParameter(f"{game.spec} is already made, so it cannot take {params}")
    return game


def check_ready(ready: bool, call: str) -> None:
    """Raise a `ValueError` unless `ready`: whether the environment was reset before `call`."""
    if not ready:
        raise ValueError(f"call reset before {call}")


def as_action(action: Any) -> int:
    """Return an integer action, given as an integer, a NumPy scalar or an array of one element.

    An integer of more than 64 bits becomes `OUT_OF_RANGE`, which is illegal in every game.

    Raises:
        ValueError: if it is anything else.
    """
    if isinstance(action, int | np.integer) and not isinstance(action, bool):
        number = int(action)
        return number if -OUT_OF_RANGE <= number <= OUT_OF_RANGE else OUT_OF_RANGE
    array = np.asarray(action)
    if array.size == 1 and array.dtype.kind in "iu":
        return as_action(array.item())
    raise ValueError(f"an action must be an integer, got {action!r}")
