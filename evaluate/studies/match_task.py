"""A match as a task of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.study import RESULTS, FolderTask, command_line
from ludoteca.files import read_json


@dataclass(frozen=True)
class Match(FolderTask):
    """A match of two agents or more.

    Attributes:
        name: of its folder.
        agents: their spec strings; `{folder}` stands for where the tasks are, `{seconds}` for
            `times` what a move took the first agent of the match `pace`, and the keys of `winners`
            for the agents with the most points in the matches that these name.
        games: how many.
        requires: names of the tasks that it needs.
        options: further options of the match.
        pace: name of another match, or none.
        times: see `agents`.
        winners: see `agents`.
        networks: fingerprints of networks of the package that play, by their spec strings: with
            another network it is another match.
        command: the module that plays it.
    """

    name: str
    agents: tuple[str, ...]
    games: int
    requires: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    pace: str = ""
    times: float = 1.0
    winners: Mapping[str, str] = field(default_factory=dict)
    networks: Mapping[str, str] = field(default_factory=dict)
    command: str = "ludoteca.evaluate.timed_match"

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        paced = {"pace": self.pace, "times": self.times} if self.pace else {}
        won = {"winners": dict(self.winners)} if self.winners else {}
        shipped = {"networks": dict(self.networks)} if self.networks else {}
        settings = {"agents": self.agents, "games": self.games, "seed": 1, **self.options}
        return settings | paced | won | shipped

    def artifact(self, folder: Path) -> Path:
        """Return the file that is there as soon as it is finished; another for other `networks`."""
        return folder / "-".join((self.name, *self.networks.values())) / self.made

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`; what it needs has been made."""
        known = {"folder": str(folder)}
        if self.pace:
            first = _agents(folder, self.pace)[0]
            known["seconds"] = f"{self.times * first['seconds_per_move']:.5f}"
        for key, match in self.winners.items():
            best = max(_agents(folder, match), key=lambda told: float(told["total"]["points"]))
            known[key] = best["agent"]
        options = {
            "agents": tuple(spec.format(**known) for spec in self.agents),
            "games": self.games,
            "seed": 1,
            **self.options,
            "out": self.artifact(folder),
        }
        return command_line(self.command, (), options)


def _agents(folder: Path, match: str) -> list[dict[str, Any]]:
    """Return what a finished match tells of its agents."""
    found: list[dict[str, Any]] = read_json(folder / match / RESULTS)["agents"]
    return found
