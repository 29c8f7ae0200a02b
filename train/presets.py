"""Settings of runs with a time limit, by duration."""

from dataclasses import replace
from typing import Any

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.train.algorithms import find_algorithm
from ludoteca.train.settings import RLConfig

# Time limit of each preset in minutes, by name.
PRESETS = {
    "one-minute": 1.0,
    "two-minutes": 2.0,
    "ten-minutes": 10.0,
    "half-hour": 30.0,
    "hour": 60.0,
    "night": 480.0,
}
SMALL_BOARD = 36  # maximum number of cells of a small board's planes: 6x6, or Dots and Boxes 2x2
# Minimum minutes of a run, then filters and residual blocks on small and on large boards.
NETWORKS = (
    (0.0, (32, 2), (32, 3)),
    (10.0, (32, 3), (64, 4)),
    (60.0, (64, 4), (64, 6)),
    (480.0, (64, 6), (128, 6)),
)
# Batch size of AlphaZero in runs of a few minutes, whose few games would allow too few updates with
# larger batches (measured in Connect Four, see docs/training.md).
SHORT_RUN_BATCH_SIZE = 128
SHORT_RUN_MINUTES = 10.0  # shorter runs have fewer evaluation games and more frequent checkpoints
# PPO in sequential games: decisions per minibatch, and epochs. A rollout of short games has few
# decisions, which would give one update or less with larger batches.
SEQUENTIAL_PPO = {"batch_size": 256, "replay_ratio": 4.0}
TREE_SEARCH = "mcts:simulations=100"  # evaluation opponent, besides random moves
# Opponents in simultaneous games; agents that do not play the game are left out.
RIVALS = ("random_safe", "greedy", "deterministic")


def preset_config(algorithm: str, game: Game, minutes: float, opponent: str = "self") -> Any:
    """Return the settings of a run of a number of minutes, except its number of games.

    Args:
        algorithm: name in `ludoteca.train.algorithms.ALGORITHMS`.
        game: the game.
        minutes: time limit of the run.
        opponent: training opponent, or `"self"`.
    """
    config: RLConfig = find_algorithm(algorithm).config_class()
    network = network_config(algorithm, game, minutes)
    config = replace(
        config,
        game=game.spec,
        network=network,
        eval_games=20 if minutes < SHORT_RUN_MINUTES else 50,
        final_eval_games=50 if minutes < SHORT_RUN_MINUTES else 200,
        save_seconds=30.0 if minutes < SHORT_RUN_MINUTES else 120.0,
    )
    if algorithm == "dqn":
        opponents = (TREE_SEARCH, "random") if opponent == "self" else (opponent, "random")
        return replace(config, opponent=opponent, eval_opponents=opponents)  # type: ignore[call-arg]
    if algorithm == "alphazero":
        batch_size = SHORT_RUN_BATCH_SIZE if minutes < SHORT_RUN_MINUTES else config.batch_size
        return replace(config, eval_opponents=("random", TREE_SEARCH), batch_size=batch_size)
    if algorithm == "ppo" and not game.simultaneous:
        config = replace(config, **SEQUENTIAL_PPO)  # type: ignore[arg-type]
    rivals = [spec for spec in RIVALS if _plays(spec, game)] if opponent == "self" else [opponent]
    if game.num_players == 1:
        rivals = []
    config = replace(config, eval_opponents=("random", *rivals))
    if not hasattr(config, "opponent_pool"):
        return config
    pool: Any = {"opponent_pool": tuple(rivals), "opponent_pool_prob": 0.25 if rivals else 0.0}
    return replace(config, **pool)


def network_config(algorithm: str, game: Game, minutes: float) -> Any:
    """Return the network architecture of a run of a number of minutes."""
    _, rows, columns = game.observation_shape
    small = rows * columns <= SMALL_BOARD
    _, on_small, on_large = [row for row in NETWORKS if minutes >= row[0]][-1]
    filters, blocks = on_small if small else on_large
    network: Any = find_algorithm(algorithm).config_class().network
    if algorithm == "dqn":
        return replace(network, filters=(filters,), blocks=blocks)
    # The default, a torus of hand-crafted features, is for Hungry Geese only.
    if algorithm != "alphazero" and game.name != "hungry_geese":
        network = replace(network, kind="residual", view="plain")
    return replace(network, filters=filters, blocks=blocks)


def _plays(spec: str, game: Game) -> bool:
    """Return whether the agent of a spec string plays a game."""
    try:
        make_agent(spec, game)
    except ValueError:
        return False
    return True
