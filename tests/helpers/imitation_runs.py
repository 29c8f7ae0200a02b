"""Small runs of behavioral cloning: games, settings and trainings."""

from dataclasses import replace

import pytest

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.train.data.generate import GenerationConfig, play_games
from ludoteca.train.imitation import ImitationConfig, ImitationTraining, parse

DEFAULT, UIB2021 = ImitationConfig(), parse(["uib2021"])

VIEWS = ["plain", pytest.param("hand_crafted", marks=pytest.mark.slow)]
SMALL = "hungry_geese:num_players=2,rows=5,columns=5,max_length=8,episode_steps=60"
TINY = ACConfig(filters=8, blocks=1)
TINY_PLAIN = ACConfig(kind="uib2021", view="plain", filters=8, blocks=1, value=False)


def games_of(*agents, games=30, game=SMALL, seed=0):
    """Return games of some agents."""
    return play_games(
        GenerationConfig(game=game, agents=agents, games=games, seed=seed, num_workers=1)
    )


def tiny(data, folder, base=DEFAULT, **changes):
    """Return the settings of a short run with a small network."""
    network = TINY if base is DEFAULT else TINY_PLAIN
    settings = {"network": network, "epochs": 3, "batch_size": 64, "seed": 1} | changes
    return replace(base, data=(data,), run_dir=folder, **settings)


def trained(config):
    """Return a training that has been run to its end."""
    training = ImitationTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    return training
