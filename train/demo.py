"""Demonstration: deep Q-learning learns Hex 5x5 against Mixed in at most five minutes.

The same as `python -m ludoteca.train.dqn default` with the defaults below. The network is evaluated
in both seats against Mixed, the heuristic and random moves; the report is in `runs/demo/`.
"""

from dataclasses import replace
from pathlib import Path

import tyro

from ludoteca.agents.networks.q_network import QConfig
from ludoteca.train.command import run, run_command
from ludoteca.train.dqn import DQNConfig

DEMO = replace(
    DQNConfig(),
    run_dir=Path("runs/demo"),
    game="hex:board_size=5",
    opponent="mixed:epsilon=0.2",
    experience="mirrored",
    td_target="reply",
    games=25_000,
    minutes=5.0,
    network=QConfig(filters=(64,), blocks=3),
    replay_ratio=1.0,
    learning_starts=2_000,
    log_interval=500,
    eval_interval=2_500,
    eval_games=250,
    eval_opponents=("mixed:epsilon=0.2", "heuristic"),
)


if __name__ == "__main__":
    run_command(
        "ludoteca.train.demo",
        lambda: run(
            tyro.cli(
                DQNConfig, default=DEMO, prog="python -m ludoteca.train.demo", description=__doc__
            )
        ),
    )
