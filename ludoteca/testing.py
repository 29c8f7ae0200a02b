"""Conformance tests for your own games and agents.

    from ludoteca.testing import check_agent, check_game

    def test_my_game():
        check_game("mygames:dots_and_boxes:size=2")

Both raise a `ContractError`, an `AssertionError` whose message has the fault, the position and the
seed of the game.
"""

import importlib
import pickle
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.contract import (
    check_compiled,
    check_copy,
    check_ends,
    check_init,
    check_layout,
    check_names,
    check_play,
    check_repeats,
    check_symmetric_play,
    check_symmetries,
)
from ludoteca.envs.contract_positions import ContractError, require
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import MatchResult, play_match

__all__ = ["ContractError", "check_agent", "check_environments", "check_game", "check_kernels"]

# Warnings of the test suites of Gymnasium and PettingZoo that are ignored: the suites expect `Box`
# spaces, observations that are never all zeros, as those of an empty board are, and a `spec`, which
# environments lack that `gymnasium.make` has not made.
EXPECTED_WARNINGS = (
    ".*Observation space for each agent probably should be gymnasium.spaces.box.*",
    ".*Observation is not a NumPy array.*",
    ".*numpy array is all zeros.*",
    ".*does not have a spec.*|.*not having a spec.*",
)


MAX_VECTOR_STEPS = 60  # compared steps of the vector environment and of single ones


def check_game(
    game: Game | str | Callable[[], Game],
    *,
    games: int = 20,
    seed: int = 0,
    environments: bool = True,
) -> None:
    """Check a game: its kernels as plain Python and compiled, and all its environments.

    Compiling takes some seconds the first time. Small boards are faster and reveal the same errors.

    Args:
        game: the game, its spec string, such as `"mygames:dots_and_boxes:size=1"`, or its factory.
        games: number of random games in plain Python, at least 1.
        seed: seed of the first game.
        environments: whether the environments are checked, too, see `check_environments`.

    Raises:
        ContractError: at the first violation.
        TypeError: if `game` is none of these.
        Exception: as raised by a kernel, or by Numba if a kernel cannot be compiled.
    """
    made = _as_game(game)
    check_kernels(made, games=games, seed=seed)
    check_compiled(made, seed=seed)
    check_repeats(made, seed=seed, interpreted=False)
    check_ends(made, games=max(games, 100), seed=seed)
    check_symmetric_play(made, seed=seed)
    if environments:
        check_environments(made, seed=seed)


def check_kernels(
    game: Game | str | Callable[[], Game],
    *,
    games: int = 20,
    seed: int = 0,
) -> None:
    """Check a game's kernels as plain Python, without compiling.

    Args:
        game: as for `check_game`.
        games: as for `check_game`.
        seed: as for `check_game`.

    Raises:
        ContractError: at the first violation.
    """
    integer("games", games, 1, 10**6)
    game = _as_game(game)
    check_names(game)
    require(game.num_players >= 1, f"{game.spec} must have a player, got {game.num_players}")
    for k in range(games):
        check_play(game, seed=seed + k)
    check_layout(game)
    check_init(game, seed=seed)
    check_repeats(game, seed=seed)
    for fraction in (0.0, 0.5):  # at the start, and in the middle of a game
        check_copy(game, seed=seed, fraction=fraction)
    check_symmetries(game)
    check_symmetric_play(game, seed=seed, interpreted=True)


def check_environments(game: Game | str | Callable[[], Game], *, seed: int = 0) -> None:
    """Check the environments of a game by Gymnasium's and PettingZoo's own suites, and replays.

    The suites are `gymnasium.utils.env_checker.check_env`, `pettingzoo.test.api_test`,
    `parallel_api_test` and both seed tests. The vector environment must play the same games as
    single environments. A replay must have the returns (sums of the rewards) of its game; replays
    are checked only for games with a spec string and two players or more.

    Args:
        game: as for `check_game`.
        seed: seed of the games.

    Raises:
        ContractError: if environments differ from each other, or a replay from its game.
        Exception: as raised by the suites, mostly `AssertionError`.
    """
    game = _as_game(game)
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # on import
        suites: Any = importlib.import_module("pettingzoo.test")
    from ludoteca.envs.api.parallel import parallel_env

    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message)
        for observation in ("planes", "dict"):
            check_env(GameEnv(game, observation=observation), skip_render_check=True)
        suites.api_test(aec_env(game), num_cycles=60)
        suites.parallel_api_test(parallel_env(game), num_cycles=60)
        suites.seed_test(lambda: aec_env(game), num_cycles=30)
        suites.parallel_seed_test(lambda: parallel_env(game), num_cycles=30)
    _check_vector(game, seed)
    _check_replays(game, seed)


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
    integer("games", games, 2, 10**6)
    if game is None:
        if isinstance(agent, str):
            raise TypeError(f"expected a game for the spec string, check_agent({agent!r}, game)")
        game = agent.game
    made = _as_game(game)
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


def _as_game(game: Any) -> Game:
    """Return the game of a game, a spec string or a factory."""
    made = make_game(game) if isinstance(game, str) else game() if callable(game) else game
    if not isinstance(made, Game):
        raise TypeError(f"expected a game, its spec string or its factory, got {game!r:.80}")
    return made


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


def _check_vector(game: Game, seed: int) -> None:
    """Check that the vector environment plays the same games as single environments."""
    num_games = 3
    vector = GameVectorEnv(game, num_games, opponent="random", autoreset_mode="Disabled")
    singles = [GameEnv(game, opponent="random") for _ in range(num_games)]
    observations, info = vector.reset(seed=seed)
    single_results = [env.reset(seed=seed + k) for k, env in enumerate(singles)]
    rng = np.random.default_rng(seed)
    for step in range(min(game.max_plies, MAX_VECTOR_STEPS)):
        for k, (planes, single_info) in enumerate(single_results):
            same = np.array_equal(observations[k], planes)
            same = same and np.array_equal(info["action_mask"][k], single_info["action_mask"])
            where = f"{game.spec}, seed {seed + k}, step {step}"
            require(same, f"{where}: the vector environment and a single one observe differently")
        masks = info["action_mask"]
        if not masks.any(1).all():
            return
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        observations, rewards, terminated, _, info = vector.step(actions)
        steps = [env.step(int(a)) for env, a in zip(singles, actions, strict=True)]
        single_rewards = [(step_result[1], step_result[2]) for step_result in steps]
        where = f"{game.spec}, seeds from {seed}, step {step}"
        require(
            single_rewards
            == [(float(r), bool(t)) for r, t in zip(rewards, terminated, strict=True)],
            f"{where}: the vector environment returns {rewards.tolist()}, "
            f"single ones {single_rewards}",
        )
        single_results = [(step_result[0], step_result[4]) for step_result in steps]


def _check_replays(game: Game, seed: int) -> None:
    """Check that replays of random games can be written, read and played again.

    A replay names its game; a game that is neither registered nor made from a spec string has no
    name.
    """
    try:
        has_name = make_game(game.spec) is game
    except ValueError:
        has_name = False
    if game.num_players < 2 or not has_name:
        return
    players = game.num_players
    match = play_match(game, ["random"] * players, players, seed=seed, num_replays=players)
    for replay in match.replays:
        require(
            Replay.from_json(replay.to_json()).returns == replay.returns,
            f"{game.spec}: a replay of seed {replay.seed} has other returns than its game",
        )
