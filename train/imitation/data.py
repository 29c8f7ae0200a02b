"""The moves that a network learns, and those that it is validated with."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.train.data.dataset import GameDataset, concatenate
from ludoteca.train.data.positions import iterate_positions
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import load_dataset
from ludoteca.train.imitation.config import ImitationConfig
from ludoteca.train.imitation.views import Views, views_of


@dataclass(frozen=True)
class ImitationData:
    """S samples: moves of single seats, of two kinds of games.

    Attributes:
        games: those with moves to learn.
        about: of each file, how many games it has and how they came about, as JSON can hold it.
        encoder: what the network sees.
        views: of each sample.
        actions: the move. int16, shape `[S]`.
        outcomes: how the game ended for the seat, in [-1, 1]. float32, shape `[S]`.
        played: which of the games it is of. int32, shape `[S]`.
        agents: whose move it is, as an index into `games.agent_names`. int32, shape `[S]`.
        training: which samples it learns from, as indices.
        validation: which it is validated with, all of other games.
    """

    games: GameDataset
    about: list[dict[str, Any]]
    encoder: SeatEncoder
    views: Views
    actions: NDArray[np.int16]
    outcomes: NDArray[np.float32]
    played: NDArray[np.int32]
    agents: NDArray[np.int32]
    training: NDArray[np.int64]
    validation: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def digest(self) -> int:
        """A number that is another one for other games, and for other seats to learn from."""
        digest = 0
        for name in ("actions", "lengths", "seeds", "chance_outcomes", "agents", "selected"):
            digest = zlib.crc32(getattr(self.games, name).tobytes(), digest)
        return digest


def load_data(config: ImitationConfig) -> ImitationData:
    """Read the games, choose and split them, and play them again.

    Raises:
        FileNotFoundError: if a file is not there.
        ValueError: if one is damaged, the files are of different games, or too few games are left.
    """
    games, about = _choose(config)
    encoder = SeatEncoder(games.game, config.network.view)
    kind = views_of(encoder)
    parts, views = [], []
    for positions in iterate_positions(games):
        samples = positions.samples()
        samples = samples[samples.selected]
        views.append(kind.of(encoder, samples))
        parts.append((samples.actions, samples.returns, samples.games, samples.agents))
    actions, outcomes, played, agents = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    apart = validation_games(games, config.validation_fraction, config.seed)[played]
    if apart.all() or not apart.any():
        raise ValueError(
            f"needs moves to learn from and moves to validate with, got {(~apart).sum()} and "
            f"{apart.sum()} from {len(games)} games"
        )
    return ImitationData(
        games,
        about,
        encoder,
        kind.join(views),
        actions,
        outcomes,
        played,
        agents,
        np.flatnonzero(~apart),
        np.flatnonzero(apart),
    )


def _choose(config: ImitationConfig) -> tuple[GameDataset, list[dict[str, Any]]]:
    """Return the games with moves to learn, and what is told about the files."""
    if not config.data:
        raise ValueError("data must name at least one file, got none")
    files = [load_dataset(path) for path in config.data]
    about = [
        {"file": path.name, "games": len(one), "about": one.metadata}
        for path, one in zip(config.data, files, strict=True)
    ]
    games = concatenate(files)
    if config.agents or config.rating_range is not None:
        games = games.select_agents(config.agents, config.rating_range)
    games = games[games.selected.any(1)]
    if len(games) < 2:
        raise ValueError(f"needs at least two games with moves to learn, got {len(games)}")
    if config.games is not None:
        if config.games > len(games):
            raise ValueError(f"games must be at most {len(games)}, as many as have moves to learn")
        games = games[: config.games]
    return games, about
