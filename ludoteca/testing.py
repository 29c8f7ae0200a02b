"""Conformance tests for your own games and agents.

    from ludoteca.testing import check_agent, check_game

    def test_my_game():
        check_game("mygames:dots_and_boxes:size=2")

Both raise a `ContractError`, an `AssertionError` whose message has the fault, the position and the
seed of the game.
"""

import pickle
from collections.abc import Callable

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.contract_positions import ContractError, require
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.evaluate.environment_checks import as_game, check_environments
from ludoteca.evaluate.game_checks import check_game, check_kernels
from ludoteca.evaluate.match import MatchResult, play_match

__all__ = ["ContractError", "check_agent", "check_environments", "check_game", "check_kernels"]


def check_agent(
    agent: Agent | str,
    game: Game | str | Callable[[], Game] | None = None,
    *,
    games: int = 8,
    seed: int = 0,
    reproducible: bool = True,
) -> MatchResult:
    """Check an agent: its actions are legal, and its games do not depend on the batch size.

    Args:
        agent: the agent, or its spec string, such as `"mymodule:MyAgent:depth=3"`.
        game: the game that it plays, its spec string or its factory; by default the agent's game.
        games: games per player, at least 2: the match has `games * max(num_players, 2)` games.
        seed: seed of the matches.
        reproducible: whether the agent uses no random numbers but those of the streams passed to
            `act`, so that the seed determines each game of a match, whatever its batch.

    Returns:
        The result of a match against random agents.

    Raises:
        ContractError: at the first violation.
        ValueError: if the agent does not play the game, or plays an illegal action.
        TypeError: if `agent` is a spec string and there is no `game`.
    """
    check_integer("games", games, 2, 10**6)
    if game is None:
        if isinstance(agent, str):
            raise TypeError(f"expected a game for the spec string, check_agent({agent!r}, game)")
        game = agent.game
    made = as_game(game)
    made_agent = make_agent(agent, made) if isinstance(agent, str) else agent
    name = agent if isinstance(agent, str) else type(agent).__name__
    require(
        isinstance(made_agent, Agent),
        f"{name} must be a ludoteca.agents.Agent, got {made_agent!r:.80}",
    )
    require(made_agent.game is made, f"{name} plays {made_agent.game.spec}, not {made.spec}")
    made_agent.prepare()
    _check_actions(made_agent, name, seed)
    # `play_match` gives all seats of a game to two agents in turn.
    agents: list[Agent | str] = [made_agent, *["random"] * (min(made.num_players, 2) - 1)]
    total = games * max(made.num_players, 2)
    result = play_match(made, agents, total, seed=seed)
    if reproducible:
        pickled_copy = pickle.loads(pickle.dumps(made_agent))
        runs: tuple[tuple[str, Agent, int], ...] = (
            ("played again", made_agent, total),
            ("played one at a time", made_agent, 1),
            ("played by a pickled copy", pickled_copy, total),
        )
        for run, tested, batch_size in runs:
            again = play_match(made, [tested, *agents[1:]], total, seed=seed, batch_size=batch_size)
            assert result.game_digests is not None
            assert again.game_digests is not None
            different = np.flatnonzero(result.game_digests != again.game_digests)
            first = int(different[0]) if len(different) else 0
            require(
                len(different) == 0,
                f"{name} in {made.spec}: {len(different)} of {total} games of seed {seed} "
                f"differ when {run}, the first is game {first}; "
                "for an agent with its own random generators pass reproducible=False",
            )
    return result


def _check_actions(agent: Agent, name: str, seed: int) -> None:
    """Check an agent's actions in two positions, and that it does not change its arguments.

    Args:
        agent: the agent.
        name: name of the agent in messages.
        seed: seed of the first position.
    """
    game = agent.game
    states = game.empty(2)
    records = states.view(np.recarray)
    for k, s in enumerate(records):
        with np.errstate(over="ignore"):  # random generators of kernels wrap around
            game.init(s, seed + k)
    # Of a simultaneous game, whose players all act, the agent plays player 0.
    seats = np.array([0 if game.player is None else game.player(s) for s in records], np.int64)
    before, env_indices = states.copy(), np.arange(2)
    agent.reset(env_indices)
    rngs = np.arange(2, dtype=np.uint64).reshape(2, 1)
    actions = np.asarray(agent.act(states, seats, rngs, env_indices))
    require(
        actions.shape == (2,) and actions.dtype.kind in "iu",
        f"{name}.act must return integers of shape (2,) for two positions, got {actions.dtype} of "
        f"shape {actions.shape}",
    )
    same = all(np.array_equal(states[key], before[key]) for key in states.dtype.names or ())
    require(same, f"{name}.act must not change the positions")
    require(
        seats.shape == (2,) and rngs.shape == (2, 1), f"{name}.act must not change its arguments"
    )
    for s, seat, action in zip(records, seats, actions, strict=True):
        legal = game.legal(s, int(seat)) if game.simultaneous else game.legal(s)
        require(
            int(action) in legal,
            f"{name} chose {action} at the start of {game.spec}, illegal: "
            f"the legal actions are {legal}",
        )
