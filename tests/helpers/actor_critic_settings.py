"""Settings of small runs of actor-critic algorithms."""

from dataclasses import fields, replace

from boards import small_spec

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.envs.registry import make_game
from ludoteca.train.command import parse
from ludoteca.train.opponent_pool import ActorCriticConfig
from ludoteca.train.ppo import PPOConfig
from ludoteca.train.search_imitation import SearchImitationConfig

UIB2021_CONFIG = parse("ppo", ["uib2021"])
TINY = PPOConfig(
    game=small_spec("HungryGeese-v0"),
    network=ACConfig(filters=8, blocks=1),
    games=48,
    games_per_iteration=8,
    batch_size=64,
    opponent_pool=("random_safe",),
    opponent_pool_prob=0.5,
    num_past_opponents=2,
    past_opponent_interval=8,
    log_interval=16,
    eval_interval=16,
    eval_games=2,
    eval_opponents=("random",),
    final_eval_games=3,
    save_seconds=0.0,
    overlap_actor_learner=True,
    threads=1,
)
TINY_SEARCH_GEESE = replace(
    SearchImitationConfig(
        **{field.name: getattr(TINY, field.name) for field in fields(ActorCriticConfig)}
    ),
    num_simulations=6,
    search_prob=0.5,
    augment=True,
    improvement_fraction=0.5,
    buffer_size=150,
    replay_ratio=3.0,
    games=24,
    log_interval=8,
    eval_interval=8,
)
# The search of Tron is compiled in a third of the time.
TINY_SEARCH = replace(
    TINY_SEARCH_GEESE,
    game="tron:rows=5,columns=5",
    network=ACConfig(kind="residual", view="plain", filters=8, blocks=1),
)
TINY_UIB2021 = replace(
    UIB2021_CONFIG,
    game=TINY.game,
    network=ACConfig(kind="uib2021", view="plain", filters=8, blocks=1),
    games=24,
    games_per_iteration=8,
    gating_games=4,
    max_rollouts=2,
    log_interval=8,
    eval_interval=8,
    eval_games=2,
    eval_opponents=("random",),
    final_eval_games=3,
    save_seconds=0.0,
    threads=1,
)


def algorithm_of(algorithm, config):
    """Return an instance of an algorithm class, with a random network."""
    game = make_game(config.game)
    config = replace(config, precision="float32")
    return algorithm(config, game, algorithm.make_network(config.network, game))
