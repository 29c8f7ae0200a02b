"""Episode files of Hungry Geese for tests."""

import json
import zipfile
from functools import cache
from pathlib import Path

from ludoteca.envs.registry import make_game
from ludoteca.train.data.convert import ConversionConfig, convert
from ludoteca.train.data.kaggle import read_record
from ludoteca.train.data.kaggle_verify import verify_episode
from ludoteca.train.data.positions import replay_positions

GOLDEN = Path(__file__).parents[1] / "golden" / "geese_episodes.zip"
STANDARD = ("700041", "700326", "700350", "faults")  # in the order in which they are read


@cache
def golden(name):
    with zipfile.ZipFile(GOLDEN) as archive:
        return archive.read(f"{name}.json")


def read(content, game="hungry_geese"):
    game = make_game(game)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return verify_episode(game, read_record(data, game), "name")


def samples_of(games, *chunk):
    return replay_positions(games, *chunk).samples()


def converted(tmp_path, *sources, **settings):
    return convert(ConversionConfig(tuple(sources), tmp_path / "out.npz", **settings))
