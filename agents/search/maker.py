"""Constructor of the agent `mcts`: sequential or decoupled search, depending on the game."""

import inspect
from typing import Any

from ludoteca.agents.agent import Agent
from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean


def mcts(game: Game, **params: Any) -> Agent:
    """Monte Carlo tree search with any selection policy.

    In sequential games it is an `MCTSAgent`, in simultaneous games a `DecoupledMCTSAgent`;
    most parameters are common to both.

    Raises:
        ValueError: if a parameter is out of range, or does not apply to `game`.
    """
    agent_class = DecoupledMCTSAgent if game.simultaneous else MCTSAgent
    known = _parameters(agent_class)
    for key in params:
        if key not in known:
            moves = "all move at once" if game.simultaneous else "players take turns"
            raise ValueError(
                f"the agent mcts has no parameter {key!r}{did_you_mean(key, known)} where {moves}, "
                f"as in {game.name}; "
                f"it has {', '.join(known)}"
            )
    return agent_class(game, **params)


def _parameters(agent_class: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters of an agent class by name, without the game."""
    parameters = list(inspect.signature(agent_class).parameters.values())
    return {parameter.name: parameter for parameter in parameters[1:]}


# The command `ludoteca list` shows the parameters that these classes document.
mcts.documented_by = (DecoupledMCTSAgent, MCTSAgent)  # type: ignore[attr-defined]
# Spec strings are validated by the signature: the union of both agents' parameters.
_union = (_parameters(DecoupledMCTSAgent) | _parameters(MCTSAgent)).values()
mcts.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("game", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in _union),
    ]
)
