"""Agent that calls a function `policy(planes, masks) -> actions`."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.agents.action_validation import validate_actions
from ludoteca.agents.agent import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice
from ludoteca.envs.targets import load_target
from ludoteca.envs.validation import check_dtype, check_flag

BatchPolicy = Callable[[NDArray[Any], NDArray[np.int8]], Any]


class FunctionAgent(Agent):
    """Agent with a Python function `policy(planes, masks) -> actions`, which may use any library.

    One call receives all K positions of a batch: `planes` `[K, *shape]`, the observations of the
    players to act, and `masks` int8 `[K, num_actions]`, 1 for legal actions. It returns one legal
    action per position, integers `[K]`. The function may modify both arrays. A function that
    samples needs its own random generator, so the seed of a match does not determine its games.

    Copies and pickles contain the function, or only its import target if that was given.
    """

    def __init__(
        self,
        game: Game,
        policy: str | BatchPolicy,
        dtype: str | DTypeLike = "int8",
        channels_last: bool = False,
        flat: bool = False,
    ):
        """Make the agent.

        Args:
            game: the game to play.
            policy: the function, or its import target: `module:function` or
                `path/to/file.py:function`.
            dtype: dtype of the planes, such as `float32`.
            channels_last: whether observations have the shape `(rows, columns, planes)`.
            flat: whether observations are flattened, `[K, rows * columns * planes]`.

        Raises:
            ValueError: if there is no such function, or an option is invalid.
            TypeError: if `policy` is not a function.
            ModuleNotFoundError: if there is no such module.
            FileNotFoundError: if there is no such file.
        """
        super().__init__(game)
        self._target = policy if isinstance(policy, str) else None
        self._options: dict[str, Any] = {
            "dtype": check_dtype(dtype).name,
            "channels_last": check_flag("channels_last", channels_last),
            "flat": bool(check_choice("flat", flat, (False, True))),
        }
        self._policy = load_target(policy) if isinstance(policy, str) else policy
        if not callable(self._policy) or isinstance(self._policy, type):
            error_class = TypeError if self._target is None else ValueError
            raise error_class(
                "expected a function of planes and masks, got "
                f"{self._target or 'an object'}, which is {self._policy!r:.80}"
            )
        self._observer = Observer(game, self._options["dtype"], self._options["channels_last"])

    def __repr__(self) -> str:
        return f"FunctionAgent({self.game.spec!r}, {self.policy_name})"

    def __getstate__(self) -> dict[str, Any]:
        policy = self._policy if self._target is None else self._target
        return {"game": self.game, "policy": policy} | self._options

    def __setstate__(self, state: dict[str, Any]) -> None:
        FunctionAgent.__init__(self, **state)

    @property
    def policy_name(self) -> str:
        """Module and name of the function for error messages, such as `mymodule:policy`."""
        if self._target is not None:
            return self._target
        name = getattr(self._policy, "__qualname__", None)
        if name is None:  # an object with __call__, or a partial function
            name = f"{type(self._policy).__qualname__} object"
            return f"{type(self._policy).__module__}:{name}"
        return f"{self._policy.__module__}:{name}"

    def prepare(self) -> None:
        """Compile the observation kernels."""
        self._observer.observe(self.game.empty(0), np.zeros(0, np.int64))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Call the function with the whole batch.

        Raises:
            ValueError: if it does not return one legal action per position.
            Exception: any exception of the function, with a note that names the function.
        """
        planes, masks = self._observer.observe(states, seats)
        if len(states) == 0:
            return np.zeros(0, np.int64)
        if self._options["flat"]:
            planes = planes.reshape(len(planes), -1)
        source = f"the policy {self.policy_name}"
        try:
            actions = self._policy(planes, masks.copy())
        except Exception as error:
            error.add_note(
                f"{source} raised this, given planes {planes.dtype} {planes.shape} and masks "
                f"{masks.dtype} {masks.shape} of {self.game.spec}"
            )
            raise
        return validate_actions(self.game, actions, masks, states, seats, source)
