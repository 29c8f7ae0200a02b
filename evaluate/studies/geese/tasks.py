"""The kinds of tasks of the study on Hungry Geese: games to learn from, networks, teachers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.match_task import Match
from ludoteca.evaluate.studies.study import FolderTask, GamesTask, command_line


@dataclass(frozen=True)
class Games(GamesTask):
    """Games to learn from, of an agent against itself.

    Attributes:
        name: of its folder.
        agent: its spec string.
        games: how many there are.
    """

    name: str
    agent: str
    games: int
    requires: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"agents": self.agent, "games": self.games, "seed": 0}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        places = {"game": "hungry_geese", "num_workers": 1, "out": self.artifact(folder)}
        return command_line("ludoteca.train.data", ("generate",), self.settings | places)


@dataclass(frozen=True)
class Recorded(GamesTask):
    """Games to learn from that others recorded, from files of the user.

    Attributes:
        name: of its folder.
        sources: episode files, archives and folders.
    """

    name: str
    sources: tuple[Path, ...]
    requires: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on, but for where that is."""
        return {}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        sources = tuple(map(str, self.sources))
        options = {"out": self.artifact(folder), "num_workers": 1}
        return command_line("ludoteca.train.data", ("convert", *sources), options)


@dataclass(frozen=True)
class Network(FolderTask):
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
    def requires(self) -> tuple[str, ...]:
        """Names of the tasks that it needs."""
        return (self.data.name,)

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"data": self.data.settings, "seed": 0, **self.options}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        places = {"data": self.data.artifact(folder), "run_dir": folder / self.name}
        return command_line("ludoteca.train.imitation", ("uib2021",), self.settings | places)


@dataclass(frozen=True)
class SelfPlay(FolderTask):
    """A network that learns by self-play from nothing.

    Attributes:
        name: of its folder.
        preset: of the training.
        options: of the training.
    """

    name: str
    preset: str
    options: Mapping[str, Any]
    requires: tuple[str, ...] = ()

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
class Agreement(FolderTask):
    """How agents agree with themselves, see `ludoteca.evaluate.studies.geese.agreement`.

    Attributes:
        name: of its folder.
        agents: their spec strings.
        options: of the command.
    """

    name: str
    agents: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    requires: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {"agents": self.agents, "seed": 0, **self.options}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        options = {**self.settings, "out": self.artifact(folder)}
        return command_line("ludoteca.evaluate.studies.geese.agreement", (), options)


Task = Games | Recorded | Network | SelfPlay | Agreement | Match
Tasks = dict[str, Task]
