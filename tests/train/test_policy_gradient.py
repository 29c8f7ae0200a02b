"""Tests that PPO and REINFORCE learn sequential and simultaneous games from self-play alone."""

import pytest

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.evaluate.match import play_match
from ludoteca.train.loop import RLTraining
from ludoteca.train.ppo import PPOConfig
from ludoteca.train.reinforce import ReinforceConfig

NETWORK = ACConfig(kind="residual", view="plain", filters=16, blocks=1)
SETTINGS = {
    "network": NETWORK,
    "games_per_iteration": 100,
    "batch_size": 256,
    "learning_rate": 3e-3,
    "opponent_pool": (),
    "num_past_opponents": 0,
    "eval_opponents": ("random",),
    "log_interval": 1_000,
    "eval_interval": 10**6,
    "eval_games": 5,
    "save_seconds": 1e9,
    "threads": 1,
    "precision": "float32",
}


@pytest.mark.parametrize(
    ("config_class", "game", "games", "changes", "min_score"),
    [
        # Four training seeds scored 0.81 to 0.88 after training, 0.50 to 0.63 before.
        pytest.param(
            PPOConfig,
            "tictactoe",
            20_000,
            {
                "learning_rate": 1e-3,
                "ent_coef": 0.01,
                "games_per_iteration": 500,
                "replay_ratio": 4.0,
            },
            0.75,
            marks=pytest.mark.slow,
        ),
        # Four training seeds scored 0.71 to 0.75 after training, 0.56 to 0.63 before.
        (
            ReinforceConfig,
            "tictactoe",
            16_000,
            {"learning_rate": 1e-3, "batch_size": 1024, "ent_coef": 0.01},
            0.65,
        ),
        pytest.param(
            ReinforceConfig, "tron:rows=5,columns=5", 6_000, {}, 0.75, marks=pytest.mark.slow
        ),
    ],
    ids=["ppo-sequential", "reinforce-sequential", "reinforce-simultaneous"],
)
def test_policy_gradient_beats_random_moves(
    config_class, game, games, changes, min_score, tmp_path
):
    config = config_class(run_dir=tmp_path, game=game, games=games, **(SETTINGS | changes))
    training = RLTraining(config, tensorboard=False)
    agents = [training.algorithm.agent(), "random"]
    before = play_match(game, agents, 2_000, seed=5).totals[0].score
    for _ in training.run():
        pass
    after = play_match(game, [f"ac:{tmp_path}", "random"], 2_000, seed=5).totals[0].score
    # 0.05 is more than three standard errors of the difference.
    assert after > max(before + 0.05, min_score)
