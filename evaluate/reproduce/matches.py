"""A match as a piece of a study."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.evaluate.reproduce.study import RESULTS, Filed, command_line


@dataclass(frozen=True)
class Match(Filed):
    """A match of two agents.

    Attributes:
        name: of its folder.
        agents: their spec strings; `{folder}` stands for where the pieces are, and `{seconds}` for
            `times` what a move took the first agent of the match `pace`.
        games: how many.
        after: names of the pieces that it needs.
        options: further options of the match.
        pace: name of another match, or none.
        times: see `agents`.
    """

    name: str
    agents: tuple[str, str]
    games: int
    after: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    pace: str = ""
    times: float = 1.0

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        paced = {"pace": self.pace, "times": self.times} if self.pace else {}
        return {"agents": self.agents, "games": self.games, "seed": 1, **self.options, **paced}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`; what it needs has been made."""
        known = {"folder": str(folder)}
        if self.pace:
            found = json.loads((folder / self.pace / RESULTS).read_text())
            known["seconds"] = f"{self.times * found['agents'][0]['seconds_per_move']:.5f}"
        options = {
            "agents": tuple(spec.format(**known) for spec in self.agents),
            "games": self.games,
            "seed": 1,
            **self.options,
            "out": self.product(folder),
        }
        return command_line("ludoteca.evaluate.reproduce.timed_match", (), options)
