"""Base classes of agents: an agent is made for one game and chooses actions for a batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.factories import by_reference, unwrap_reference
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory

# Policy kernel `choose(s, player, legal, n, rng) -> action`: `s` is the position, `legal[:n]` (of
# `Game.action_dtype`) are the legal actions of `player`, and `rng` is a random stream, uint64 [1].
Policy = Callable[..., int]


class Agent(ABC):
    """Agent: it chooses actions in a batch of positions of one game.

    Attributes:
        game: the game it was made for.
        choose: policy kernel of a `PolicyAgent`, `choose(s, player, legal, n, rng) -> action`, see
            `Policy`; None for other agents.
        max_games: maximum number of games in one batch, whose `env_indices` are then in
            `[0, max_games)`; None if there is no limit.

    Agents can be copied and pickled; a copy chooses exactly the actions that the original would.
    """

    lazy_attributes: ClassVar[tuple[str, ...]] = ()
    """Names of attributes that are not copied or pickled: they are None in a copy, which creates
    them again at their first use."""

    choose: Policy | None = None
    max_games: int | None = None

    def __init__(self, game: Game):
        self.game = game

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that agents of this class can play a game, whatever their parameters are.

        Raises:
            ValueError: if they cannot.
        """
        return

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Reset the games at `env_indices`, where new games begin.

        Agents without memory do nothing.
        """
        return

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes; compiled functions are pickled as references to their factory."""
        unset = dict.fromkeys(self.lazy_attributes)
        return {key: by_reference(value) for key, value in (vars(self) | unset).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({key: unwrap_reference(value) for key, value in state.items()})

    def prepare(self) -> None:
        """Compile and load everything that `act` needs, so that its first call is not slower."""
        return

    def set_time_control(self, time_control: TimeControl) -> None:
        """Set the clock by which games are played from now on; called before `prepare`.

        A search takes `time_control.thinking_seconds` for a move, instead of its own number of
        simulations or seconds. Agents that need no clock do nothing.
        """
        return

    def forfeit_reason(self, env_index: int, seat: int) -> tuple[str, str]:
        """Return the kind of the reason for which `act` last returned `FORFEIT`, and a message.

        Kinds are `"crash"`, `"timeout"`, `"invalid"` (an illegal move), `"resign"`, and by default
        `"forfeit"`.

        Args:
            env_index: index of the game in its batch.
            seat: the player that forfeited.
        """
        return "forfeit", ""

    def action_probabilities(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the probabilities that `act` samples from, `[K, num_actions]`, or None if unknown.

        Args:
            states: positions. Shape `[K]`; not to be changed.
            seats: player to act in each position. Shape `[K]`.
        """
        return None

    @abstractmethod
    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return one legal action per position, or `ludoteca.envs.game.FORFEIT`.

        In sequential games, only matches of one or two players accept `FORFEIT`: the game ends, and
        the opponent wins. In simultaneous games the player leaves the game.

        Args:
            states: positions. Shape `[K]`; not to be changed.
            seats: player to act in each position. Shape `[K]`.
            rngs: one random stream per position, advanced in place. Shape `[K, 1]`.
            env_indices: index of each game in its batch. Shape `[K]`.
        """


class CompiledAgent(Agent):
    """Agent whose actions are chosen by one compiled function, position by position."""

    def __init__(self, game: Game, act: Any, *extra_args: Any):
        """Make the agent.

        Args:
            game: the game it plays.
            act: the compiled function `act(states, seats, rngs, *extra_args, actions)`, which
                writes the chosen actions to `actions`, int64 `[K]`.
            extra_args: further arguments of `act`: workspaces and parameters.
        """
        super().__init__(game)
        self._act, self._extra_args = act, extra_args

    def prepare(self) -> None:
        """Compile the function."""
        compile_act(self)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose an action for each position."""
        actions = np.zeros(len(states), np.int64)
        self._act(states, seats, rngs, *self._extra_args, actions)
        return actions


class PolicyAgent(CompiledAgent):
    """Agent with a policy kernel, which compiled code of environments calls directly."""

    def __init__(self, game: Game, choose: Policy):
        super().__init__(
            game, make_act(game, choose), np.zeros(game.num_actions, game.action_dtype)
        )
        self.choose = choose


def compile_act(agent: Agent) -> None:
    """Compile the `act` of an agent by calling it with an empty batch."""
    empty = np.zeros(0, np.int64)
    agent.act(agent.game.empty(0), empty, np.zeros((0, 1), np.uint64), empty)


@factory()
def make_act(game: Game, choose: Policy) -> Any:
    """Return `act(states, seats, rngs, legal, actions)`, which writes `actions`, int64 `[K]`.

    The first three arguments are those of `Agent.act`; `legal`, `[num_actions]` of
    `game.action_dtype`, is scratch.
    """
    legal_actions, simultaneous = game.legal_actions, game.simultaneous

    @compiled_without_allocation
    def act(states: Any, seats: Any, rngs: Any, legal: Any, actions: Any) -> None:
        for i in range(len(states)):
            if simultaneous:
                n = legal_actions(states[i], seats[i], legal)
            else:
                n = legal_actions(states[i], legal)
            actions[i] = choose(states[i], seats[i], legal, n, rngs[i])

    return act
