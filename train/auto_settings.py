"""Settings that scale with the length of a run: rollouts, learning starts, buffer, and intervals.

A run of 100,000 games of Hex can collect thousands of positions before its first update. With the
same setting, a run of 1,000 games of Tic-Tac-Toe would never update its network. A setting that is
`AUTO` is a fraction of the run, up to a maximum for long runs.
"""

import json
from dataclasses import replace
from typing import Any, TypeVar

from ludoteca.envs.game import Game
from ludoteca.train.distributed import ranks
from ludoteca.train.settings import AUTO, AutoLimits, RLConfig

Config = TypeVar("Config", bound=RLConfig)

MEASURED_GAMES = 64  # random games, to estimate the length of a game
MIN_ROLLOUTS = 64  # rollouts of a run, unless they would have fewer than `MIN_ROLLOUT_GAMES`
MIN_ROLLOUT_GAMES = 16  # games of a rollout; fewer make poor use of batched inference
# Fraction of a run's positions (see `AUTO`) that is collected before the first update.
START_FRACTION = 0.01
MIN_LOGS, MIN_EVALUATIONS = 32, 7  # rows of metrics of a run, and its evaluations
MIN_PAST_NETWORKS = 16  # networks of a run that join the opponent pool


def fit_to_run(config: Config, game: Game, limits: AutoLimits) -> Config:
    """Return the settings with all `AUTO` values replaced.

    A run that resumes keeps its original values, so that it can be extended. Otherwise they follow
    from the number of games and the length of a game, estimated by games of random moves; equal
    settings give equal values.

    Args:
        config: settings, some of them `AUTO`.
        game: the game.
        limits: maxima of the algorithm.
    """
    names = [name for name, value in vars(config).items() if _is_auto(value)]
    chosen = ranks().broadcast(lambda: _sizes(config, game, limits, names))
    return replace(config, **chosen) if chosen else config


def _sizes(config: RLConfig, game: Game, limits: AutoLimits, names: list[str]) -> dict[str, Any]:
    """Return the values of the settings that are `AUTO`, those in `names`; see `fit_to_run`."""
    if not names:
        return {}
    values = run_sizes(config.games, config.batch_size, limits, _mean_plies(game, names, limits))
    file = config.run_dir / "config.json"
    saved = json.loads(file.read_text()) if file.exists() else {}
    chosen: dict[str, Any] = {name: saved.get(name, values[name]) for name in names}
    if "games_per_iteration" in chosen and "games_per_iteration" not in saved:
        # Rounded up: all actors play equally many games.
        workers = getattr(config, "num_actors", 1)
        chosen["games_per_iteration"] = -(-chosen["games_per_iteration"] // workers) * workers
    return chosen


def run_sizes(games: int, batch_size: int, limits: AutoLimits, plies: float) -> dict[str, int]:
    """Return the values of all settings that may be `AUTO`, by name.

    Args:
        games: games of the run.
        batch_size: batch size of an update.
        limits: maxima of the algorithm.
        plies: mean number of plies of a game; the positions of the run are `games * plies`.
    """
    rollout_games = MIN_ROLLOUT_GAMES
    while 2 * rollout_games * MIN_ROLLOUTS <= games:
        rollout_games *= 2
    positions = games * plies
    # At least one batch, unless that is over a quarter of the run.
    start = max(round(START_FRACTION * positions), min(batch_size, round(positions / 4)))
    # At least ten batches: the network would memorize fewer positions.
    buffer = max(round(limits.buffer_fraction * positions), 10 * batch_size)
    return {
        "games_per_iteration": min(rollout_games, limits.games_per_iteration),
        "log_interval": min(max(games // MIN_LOGS, 1), limits.log_interval),
        "eval_interval": min(max(games // MIN_EVALUATIONS, 1), limits.eval_interval),
        "past_opponent_interval": min(
            max(games // MIN_PAST_NETWORKS, 1), limits.past_opponent_interval
        ),
        limits.start[0]: min(start, limits.start[1]),
        limits.buffer[0]: min(buffer, limits.buffer[1]),
    }


def _mean_plies(game: Game, names: list[str], limits: AutoLimits) -> float:
    """Return the mean length of a game of random moves, or 1 if no setting in `names` needs it."""
    if not {limits.start[0], limits.buffer[0]} & set(names):
        return 1.0
    from ludoteca.evaluate.match import play_match  # slow to import: it needs the compiler

    match = play_match(game, ["random"] * game.num_players, MEASURED_GAMES, seed=0)
    return match.mean_plies


def _is_auto(value: Any) -> bool:
    """Return whether the value of a setting is `AUTO`; other settings may be -1.0 or True."""
    return isinstance(value, int) and not isinstance(value, bool) and value == AUTO
