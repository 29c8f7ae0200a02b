"""Settings of deep Q-learning in its tests."""

from dataclasses import replace

from ludoteca.agents.networks.q_network import QConfig
from ludoteca.train.command import parse as parse_command
from ludoteca.train.dqn import DQNConfig

DEFAULT = DQNConfig()


def parse(arguments):
    """Parse the command line of deep Q-learning."""
    return parse_command("dqn", arguments)


TANAKA2018 = parse(["tanaka2018"])


TINY = replace(
    DEFAULT,
    game="tictactoe",
    network=QConfig(filters=(8,), blocks=1),
    games=200,
    games_per_iteration=20,
    batch_size=32,
    buffer_size=1000,
    learning_starts=100,
    log_interval=40,
    eval_interval=80,
    eval_games=10,
    final_eval_games=20,
    save_seconds=0.0,
)
