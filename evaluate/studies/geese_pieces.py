"""The kinds of pieces of the study on Hungry Geese: games to learn from, networks, teachers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.matches import Match
from ludoteca.evaluate.studies.study import Filed, FiledGames, command_line


@dataclass(frozen=True)
class Games(FiledGames):
    """Games to learn from, of an agent against itself.

    Attributes:
        name: of its folder.
        agent: its spec string.
        games: how many there are.
    """

    name: str
    agent: str
    games: int
    after: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"agents": self.agent, "games": self.games, "seed": 0}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        options = {**self.settings, "processes": 1, "out": self.product(folder)}
        return command_line("ludoteca.train.episodes", ("generate",), options)


@dataclass(frozen=True)
class Recorded(FiledGames):
    """Games to learn from that others recorded, from files of the user.

    Attributes:
        name: of its folder.
        sources: episode files, archives and folders.
    """

    name: str
    sources: tuple[Path, ...]
    after: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on, but for where that is."""
        return {}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        sources = tuple(map(str, self.sources))
        options = {"out": self.product(folder), "processes": 1}
        return command_line("ludoteca.train.episodes", ("convert", *sources), options)


@dataclass(frozen=True)
class Network(Filed):
    """The thesis' convolutional network, taught the moves of others.

    Attributes:
        name: of its folder.
        data: the games.
        label: what it is called in the report.
        options: whose moves it learns, and for how long.
    """

    name: str
    data: Games | Recorded
    label: str
    options: Mapping[str, Any]

    @property
    def after(self) -> tuple[str, ...]:
        """Names of the pieces that it needs."""
        return (self.data.name,)

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"data": self.data.settings, "seed": 0, **self.options}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        places = {"data": self.data.product(folder), "run_dir": folder / self.name}
        return command_line("ludoteca.train.imitation", ("uib2021",), self.settings | places)


@dataclass(frozen=True)
class SelfPlay(Filed):
    """A network that learns by self-play from nothing.

    Attributes:
        name: of its folder.
        preset: of the training.
        options: of the training.
    """

    name: str
    preset: str
    options: Mapping[str, Any]
    after: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"preset": self.preset, "seed": 0, **self.options}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        sizes = (
            {"log_interval": 1_024, "past_opponent_interval": 5_120}
            if self.preset == "default"
            else {}
        )
        options = {"seed": 0, **sizes, **self.options, "run_dir": folder / self.name}
        return command_line("ludoteca.train.actor_critic", (self.preset,), options)


@dataclass(frozen=True)
class Agreement(Filed):
    """How agents agree with themselves, see `ludoteca.evaluate.studies.agreement`.

    Attributes:
        name: of its folder.
        agents: their spec strings.
        options: of the command.
    """

    name: str
    agents: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"agents": self.agents, "seed": 0, **self.options}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        options = {**self.settings, "out": self.product(folder)}
        return command_line("ludoteca.evaluate.studies.agreement", (), options)


Piece = Games | Recorded | Network | SelfPlay | Agreement | Match
Planned = dict[str, Piece]
