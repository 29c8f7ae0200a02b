"""Conformance checks of the environments of a game: suites of other packages, and our own."""

import importlib
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.contract_positions import require
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match

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
MAX_TURNS = 60  # checked turns of the AEC environment


def check_environments(game: Game | str | Callable[[], Game], *, seed: int = 0) -> None:
    """Check the environments of a game by Gymnasium's and PettingZoo's own suites, and replays.

    The suites are `gymnasium.utils.env_checker.check_env`, `pettingzoo.test.api_test`,
    `parallel_api_test`, `state_test` and both seed tests. Observations, masks and states must be in
    their spaces, and an illegal action must lose the game. The vector environment must play the
    same games as single environments. A replay must have the returns (sums of the rewards) of its
    game; replays are checked only for games with a spec string and two players or more.

    Args:
        game: as for `check_game`.
        seed: seed of the games.

    Raises:
        ContractError: if environments differ from each other, or a replay from its game.
        Exception: as raised by the suites, mostly `AssertionError`.
    """
    game = as_game(game)
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
        suites.state_test(aec_env(game), parallel_env(game), num_cycles=30)
    _check_turns(game, seed)
    _check_illegal_action(game, seed)
    _check_vector(game, seed)
    _check_replays(game, seed)


def as_game(game: Any) -> Game:
    """Return the game of a game, a spec string or a factory."""
    made = make_game(game) if isinstance(game, str) else game() if callable(game) else game
    if not isinstance(made, Game):
        raise TypeError(f"expected a game, its spec string or its factory, got {game!r:.80}")
    return made


def _check_turns(game: Game, seed: int) -> None:
    """Check that observations, masks and states of a random game fit, and whose turn it is."""
    env: Any = aec_env(game)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for turn, agent in zip(range(MAX_TURNS), env.agent_iter(), strict=False):
        where = f"{game.spec}, seed {seed}, turn {turn}, the AEC environment"
        over = env.terminations[agent] or env.truncations[agent]
        require(env.state() in env.state_space, f"{where}: the state is not in its space")
        for other in env.agents:
            observation, info = env.observe(other), env.infos[other]
            mask = observation["action_mask"]
            inside = observation in env.observation_space(other)
            require(inside, f"{where}: the observation of {other} is not in its space")
            same = np.array_equal(mask, info["action_mask"])
            require(same, f"{where}: the masks of {other} in its observation and info differ")
            acts = not over and other == agent
            require(
                game.simultaneous or mask.any() == acts,
                f"{where}: {other} has {mask.sum()} legal actions, and {agent} is to move",
            )
        legal = np.flatnonzero(env.observe(agent)["action_mask"])
        env.step(None if over else int(rng.choice(legal)))


def _check_illegal_action(game: Game, seed: int) -> None:
    """Check that an illegal action at the start loses the game."""
    env: Any = aec_env(game)
    env.reset(seed=seed)
    mover = env.agent_selection
    env.step(game.num_actions)
    if game.simultaneous:  # the joint action is applied when every agent has chosen
        for agent in env.agents[1:]:
            env.step(int(np.flatnonzero(env.observe(agent)["action_mask"])[0]))
    rewards = {agent: -int(agent == mover) for agent in env.possible_agents}
    require(
        env.rewards == rewards and all(env.terminations.values()),
        f"{game.spec}: an illegal action of {mover} at the start must end the game with the "
        f"rewards {rewards}, got {env.rewards}",
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
