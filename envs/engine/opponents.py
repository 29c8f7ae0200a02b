"""Opponents in an environment: their protocol, and their construction from spec strings."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game


@runtime_checkable
class Opponent(Protocol):
    """Policy of the other players in a batch of games.

    An opponent that keeps no state between moves may have an attribute `choose`, a kernel (function
    that compiled code calls) `choose(s, player, legal, n, rng) -> action` that returns one of the
    legal actions `legal[:n]`: environments then call it in their compiled loop.
    """

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Reset the state kept for the games at `env_indices`, where new games start."""

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return one action per position: a legal one, or `FORFEIT` in simultaneous games.

        Args:
            states: positions, which must not be changed. Shape `[K]`.
            seats: the player to act for in each position. Shape `[K]`.
            rngs: one random stream per position, which `act` advances in place. Shape `[K, 1]`.
            env_indices: index of each game in the batch. Shape `[K]`.
        """


OpponentSpec = str | Opponent
AgentFactory = Callable[[str, Game], Opponent]
_agent_factory: list[AgentFactory] = []  # one entry, set by `set_agent_factory`


def set_agent_factory(make_agent: AgentFactory) -> None:
    """Set the function that makes an agent from its spec string and its game.

    Environments do not import agents; the package `ludoteca` passes them this function.
    """
    _agent_factory[:] = [make_agent]


def make_opponents(spec: OpponentSpec | Sequence[OpponentSpec], game: Game) -> tuple[Opponent, ...]:
    """Return one opponent for each seat but the agent's, in the order of seats.

    Args:
        spec: one spec string or agent for all other seats, or a sequence of one per other seat.
        game: the game that they play.

    Raises:
        ValueError: if there are not as many specs as other seats, or if an agent was made for
            another game.
        TypeError: if an opponent is neither a spec string nor an `Opponent`.
    """
    others = game.num_players - 1
    if isinstance(spec, str | bytes) or not isinstance(spec, Sequence):
        return (_make(spec, game),) * others
    if len(spec) != others:
        raise ValueError(
            f"{game.name} has {others} seats besides the agent's, so opponent must be one spec or "
            f"a list of {others}, got {len(spec)}: {list(spec)!r}"
        )
    return tuple(_make(each, game) for each in spec)


def _make(spec: Any, game: Game) -> Opponent:
    """Return the opponent of one spec string, or check an agent; errors as in `make_opponents`."""
    if isinstance(spec, str):
        return _agent_factory[0](spec, game)
    if not isinstance(spec, Opponent):
        raise TypeError(
            "opponent must be a spec string such as 'random' or an agent with the methods reset "
            f"and act, got {spec!r}"
        )
    made_for = getattr(spec, "game", game)
    if made_for is not game:
        raise ValueError(f"the opponent {spec!r} was made for {made_for.spec}, not {game.spec}")
    return spec
