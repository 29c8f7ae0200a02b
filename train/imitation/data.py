"""Training and validation samples of imitation learning (behavioral cloning)."""

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
from ludoteca.train.imitation.observations import Observations, observations_class


@dataclass(frozen=True)
class ImitationData:
    """S state-action samples, split by games into training and validation.

    Attributes:
        games: games with selected players.
        about: file name, number of games and metadata of each file, JSON-serializable.
        encoder: encoder of the network's observations.
        observations: observation of each sample.
        actions: the player's action. int16, shape `[S]`.
        returns: the player's return, in [-1, 1]. float32, shape `[S]`.
        game_indices: index of the sample's game in `games`. int32, shape `[S]`.
        agents: the player's agent, as an index into `games.agent_names`. int32, shape `[S]`.
        training: indices of the training samples.
        validation: indices of the validation samples.
    """

    games: GameDataset
    about: list[dict[str, Any]]
    encoder: SeatEncoder
    observations: Observations
    actions: NDArray[np.int16]
    returns: NDArray[np.float32]
    game_indices: NDArray[np.int32]
    agents: NDArray[np.int32]
    training: NDArray[np.int64]
    validation: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def digest(self) -> int:
        """Checksum of the games and the selected players."""
        digest = 0
        for name in ("actions", "lengths", "seeds", "chance_outcomes", "agents", "selected"):
            digest = zlib.crc32(getattr(self.games, name).tobytes(), digest)
        return digest


def load_data(config: ImitationConfig) -> ImitationData:
    """Load, select, split and replay the games.

    Raises:
        FileNotFoundError: if a file does not exist.
        ValueError: if a file is damaged, the files are of different games, or too few games are
            selected.
    """
    games, about = _select_games(config)
    encoder = SeatEncoder(games.game, config.network.view)
    observations_of = observations_class(encoder)
    parts, observations = [], []
    for positions in iterate_positions(games):
        samples = positions.samples()
        samples = samples[samples.selected]
        observations.append(observations_of.of(encoder, samples))
        parts.append((samples.actions, samples.returns, samples.games, samples.agents))
    actions, returns, game_indices, agents = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    held_out = validation_games(games, config.validation_fraction, config.seed)[game_indices]
    if held_out.all() or not held_out.any():
        raise ValueError(
            f"needs samples for training and for validation, got {(~held_out).sum()} and "
            f"{held_out.sum()} from {len(games)} games"
        )
    return ImitationData(
        games,
        about,
        encoder,
        observations_of.concatenate(observations),
        actions,
        returns,
        game_indices,
        agents,
        np.flatnonzero(~held_out),
        np.flatnonzero(held_out),
    )


def _select_games(config: ImitationConfig) -> tuple[GameDataset, list[dict[str, Any]]]:
    """Return the games with selected players, and the description of each file."""
    if not config.data:
        raise ValueError("data must name at least one file, got none")
    datasets = [load_dataset(path) for path in config.data]
    about = [
        {"file": path.name, "games": len(dataset), "about": dataset.metadata}
        for path, dataset in zip(config.data, datasets, strict=True)
    ]
    games = concatenate(datasets)
    if config.agents or config.rating_range is not None:
        games = games.select_agents(config.agents, config.rating_range)
    has_selected = np.asarray(games.selected.any(axis=1))
    games = games[has_selected]
    if len(games) < 2:
        raise ValueError(f"needs at least two games with selected players, got {len(games)}")
    if config.games is not None:
        if config.games > len(games):
            raise ValueError(
                f"games must be at most {len(games)}, as many as have selected players"
            )
        games = games[: config.games]
    return games, about
