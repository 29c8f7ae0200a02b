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
# Names of the episodes with Kaggle's default configuration, in the order in which they are read.
STANDARD = ("700041", "700326", "700350", "faults")


@cache
def golden(name):
    """Return the content of a recorded episode, JSON in bytes."""
    with zipfile.ZipFile(GOLDEN) as archive:
        return archive.read(f"{name}.json")


def read(content, game="hungry_geese"):
    """Return a verified episode from its content: bytes, or a JSON value."""
    game = make_game(game)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return verify_episode(game, read_record(data, game), "name")


def samples_of(games, *bounds):
    """Return the training samples of replayed games."""
    return replay_positions(games, *bounds).samples()


def converted(tmp_path, *sources, **settings):
    """Convert episode files, with settings of a `ConversionConfig`; return games and report."""
    return convert(ConversionConfig(tuple(sources), tmp_path / "out.npz", **settings))
