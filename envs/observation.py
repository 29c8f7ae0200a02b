"""Format of observations and action masks, shared by every environment API.

Compiled code writes planes (arrays `[planes, rows, columns]`) and int8 masks of legal actions; the
format determines how an environment returns them. Every environment makes an `ObservationFormat`
from its keyword arguments.
docs/observations.md has a table of the formats that other libraries expect.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice
from ludoteca.envs.validation import check_dtype, check_flag

OBSERVATION_KINDS = ("planes", "flat", "dict", "flat_dict")
OBSERVATION_KEYS = ("observation", "action_mask")  # default keys of the planes and of the mask
MASK_DTYPES = ("int8", "bool", "float32")
END_MASKS = ("zeros", "ones")


@dataclass(frozen=True)
class ObservationFormat:
    """Format of the planes and masks that an environment returns.

    Attributes:
        observation: `"planes"`: an array `[planes, rows, columns]`; `"flat"`: the same values,
            flattened; `"dict"`: a dictionary of the planes and the mask; `"flat_dict"`: the same
            with flattened planes. In all four formats the mask is also in `info["action_mask"]`.
        dtype: dtype of the planes.
        channels_last: `[rows, columns, planes]` instead of `[planes, rows, columns]`.
        keys: keys of the planes and of the mask in dictionary observations.
        mask_dtype: dtype of the masks, `"int8"`, `"bool"` or `"float32"`, in dictionaries and info.
        end_mask: values of the mask of a finished game, where no action is legal: `"zeros"` (also
            None), or `"ones"` for policies that normalize probabilities over the mask.
        is_flat: whether planes are flattened.
        is_dict: whether observations are dictionaries.
    """

    observation: str = "planes"
    dtype: DTypeLike = "int8"
    channels_last: bool = False
    keys: Sequence[str] = OBSERVATION_KEYS
    mask_dtype: DTypeLike = "int8"
    end_mask: str | None = None
    is_flat: bool = field(init=False, repr=False, compare=False)
    is_dict: bool = field(init=False, repr=False, compare=False)
    _is_int8: bool = field(init=False, repr=False, compare=False)  # `cast` changes nothing
    _keeps_masks: bool = field(init=False, repr=False, compare=False)  # `masks` changes nothing

    def __post_init__(self) -> None:
        """Validate the fields and convert them to their canonical types.

        Raises:
            ValueError: if a field has a value that is not allowed.
        """
        kind = check_choice("observation", self.observation, OBSERVATION_KINDS)
        mask_dtype = check_dtype(self.mask_dtype, "mask_dtype", MASK_DTYPES)
        end_mask = check_choice("end_mask", self.end_mask, (None, *END_MASKS)) or "zeros"
        fields = {
            "dtype": check_dtype(self.dtype),
            "channels_last": check_flag("channels_last", self.channels_last),
            "keys": _check_keys(self.keys, kind),
            "mask_dtype": mask_dtype,
            "end_mask": end_mask,
            "is_flat": kind in ("flat", "flat_dict"),
            "is_dict": kind in ("dict", "flat_dict"),
            "_is_int8": mask_dtype == np.int8,
            "_keeps_masks": mask_dtype == np.int8 and end_mask == "zeros",
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_batch(cls, observation: str, end_mask: str | None, **options: Any) -> Self:
        """Return the format of a vector environment, with its own default (None) of `end_mask`.

        The default is `"ones"` if observations hold the mask: between two games policies compute an
        action that is not played, and a masked distribution needs at least one legal action.
        Otherwise it is `"zeros"`.
        """
        format_ = cls(observation, end_mask=end_mask, **options)
        return (
            replace(format_, end_mask="ones") if end_mask is None and format_.is_dict else format_
        )

    def box(self, game: Game, *leading_axes: int) -> spaces.Box:
        """Return the space of the planes, with leading axes of these sizes."""
        planes, rows, columns = game.observation_shape
        shape: tuple[int, ...] = game.observation_shape
        if self.is_flat:
            shape = (planes * rows * columns,)
        elif self.channels_last:
            shape = (rows, columns, planes)
        scalar = np.dtype(self.dtype).type
        return spaces.Box(0, game.observation_high, (*leading_axes, *shape), scalar)

    def mask_box(self, game: Game, *leading_axes: int) -> spaces.Box:
        """Return the space of the masks, with leading axes of these sizes."""
        return spaces.Box(0, 1, (*leading_axes, game.num_actions), np.dtype(self.mask_dtype).type)

    def space(self, game: Game, *leading_axes: int) -> spaces.Space[Any]:
        """Return the space of observations, with leading axes of these sizes in each array."""
        box = self.box(game, *leading_axes)
        if not self.is_dict:
            return box
        return spaces.Dict(
            dict(zip(self.keys, (box, self.mask_box(game, *leading_axes)), strict=True))
        )

    def planes(self, planes: NDArray[Any]) -> NDArray[Any]:
        """Return planes, flattened in flat formats.

        Args:
            planes: planes that have this format's dtype and order of axes already. Shape
                `[..., planes, rows, columns]`, or `[..., rows, columns, planes]` if
                `channels_last`.
        """
        return planes.reshape(*planes.shape[:-3], -1) if self.is_flat else planes

    def masks(self, masks: NDArray[np.int8]) -> NDArray[Any]:
        """Return masks in this format's dtype, those without a legal action as `end_mask` says.

        Args:
            masks: zeros and ones, changed in place. Shape `[..., num_actions]`.
        """
        if self._keeps_masks:
            return masks
        return self.cast(self.fill(masks))

    def fill(self, masks: NDArray[Any]) -> NDArray[Any]:
        """Set masks without a legal action to ones, in place, if `end_mask="ones"`."""
        if self.end_mask == "ones":
            masks[~masks.any(-1)] = 1
        return masks

    def final_masks(self, masks: NDArray[np.int8], ended: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the masks of a batch: `end_mask` for the games that ended, zeros for the others.

        Args:
            masks: zeros, changed in place. Shape `[B, ..., num_actions]`.
            ended: whether each game ended. Shape `[B]`.
        """
        if self.end_mask == "ones":
            masks[ended] = 1
        return self.cast(masks)

    def final_mask(self, mask: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the mask of a finished game: ones if `end_mask="ones"`, else `mask` itself."""
        return np.ones_like(mask) if self.end_mask == "ones" else mask

    def cast(self, masks: NDArray[np.int8]) -> NDArray[Any]:
        """Return masks of zeros and ones in this format's dtype."""
        if self._is_int8:
            return masks
        return masks.view(np.bool_) if self.mask_dtype == np.bool_ else masks.astype(np.float32)

    def apply(self, planes: NDArray[Any], masks: NDArray[Any]) -> Any:
        """Return the observation: an array, or a dictionary that also holds the masks.

        Args:
            planes: as in the method `planes`.
            masks: masks in this format, as the method `masks` returns them.
        """
        if self.is_flat:
            planes = self.planes(planes)
        return {self.keys[0]: planes, self.keys[1]: masks} if self.is_dict else planes


def _check_keys(keys: Any, kind: str) -> tuple[str, str]:
    """Return the keys of planes and mask.

    Raises:
        ValueError: if they are not two different names, or if they are not the default although
            observations are not dictionaries.
    """
    names = keys if isinstance(keys, Sequence) and not isinstance(keys, str) else ()
    if len(names) != 2 or not all(isinstance(key, str) and key for key in names):
        raise ValueError(f"keys must be two names, such as {OBSERVATION_KEYS}, got {keys!r}")
    first, second = names
    if first == second:
        raise ValueError(
            f"keys must be two different names, such as {OBSERVATION_KEYS}, got {keys!r}"
        )
    if (first, second) != OBSERVATION_KEYS and kind not in ("dict", "flat_dict"):
        raise ValueError(f"keys={keys!r} need observation='dict' or 'flat_dict', got {kind!r}")
    return first, second
