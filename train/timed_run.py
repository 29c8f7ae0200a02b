"""Training run with a time limit: selects algorithm, settings and number of games."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.registry import default_game
from ludoteca.train.algorithms import choose_algorithm, find_algorithm
from ludoteca.train.command import run
from ludoteca.train.equivalent_command import equivalent_command, with_settings
from ludoteca.train.pace import PLANNED, measure_pace, plan
from ludoteca.train.presets import PRESETS, preset_config


class TimedRun:
    """Training run with a time limit.

    Attributes:
        game: the game.
        algorithm: the algorithm.
        minutes: time limit in minutes.
        config: settings; `plan` sets the number of games, unless it is known.
        planned: whether the number of games is known, because it is among the settings, the run
            resumes, or `plan` has set it.
    """

    def __init__(
        self,
        game: Game,
        *,
        preset: str = "two-minutes",
        minutes: float | None = None,
        algorithm: str = "auto",
        opponent: str = "self",
        run_dir: Path | None = None,
        seed: int = 0,
        threads: int | None = None,
        processes: int = 1,
        settings: Sequence[str] = (),
    ):
        """Choose algorithm and settings.

        The arguments are those of the command `ludoteca train`, see `ludoteca.train.train_command`.

        Raises:
            ValueError: if a preset, algorithm, opponent or setting is unknown, or invalid for the
                game.
        """
        self._start = time.monotonic()
        if preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
        if minutes is not None:
            check_real("minutes", minutes, 0.1, 10_000)
        if opponent != "self":
            make_agent(opponent, game)  # raises before any work if the opponent is unknown
        self.game = game
        name = choose_algorithm(game, algorithm, opponent)
        self.algorithm = find_algorithm(name)
        self.minutes = PRESETS[preset] if minutes is None else minutes
        config = preset_config(name, game, PRESETS[preset], opponent)
        # Part of the name of the folder.
        time_name = preset if minutes is None else f"{minutes:g}-minutes"
        config = replace(config, run_dir=run_dir or default_run_dir(game, time_name), seed=seed)
        if threads is not None:
            config = replace(config, threads=threads)
        config = replace(config, num_actors=check_integer("processes", processes, 1, 1024))
        prog = f"python -m {self.algorithm.module}"
        self.config: Any = with_settings(config, settings, prog)
        names = {setting.partition("=")[0].strip().replace("-", "_") for setting in settings}
        self._given_plan = names & set(PLANNED)  # planned settings that are among `settings`
        if "minutes" in names:
            self.minutes = self.config.minutes
        self._saved_plan = self._load_plan()
        self.planned = "games" in names or bool(self._saved_plan)

    def plan(self) -> None:
        """Measure how many games fit into the time limit, unless their number is known.

        The time limit starts after compilation, which is slow only once on a machine.
        """
        planned_settings = self._saved_plan
        if not self.planned:
            pace = measure_pace(self.config, 60 * self.minutes)
            self._start = pace.ready
            planned_settings = plan(self.config, pace, 60 * self.minutes, self._seconds_left())
            self.planned = True
        planned_settings = {
            name: value for name, value in planned_settings.items() if name not in self._given_plan
        }
        minutes = max(self._seconds_left() / 60, 0.05)  # a limit must be positive
        self.config = replace(self.config, minutes=round(minutes, 3), **planned_settings)

    def train(self) -> dict[str, Any] | None:
        """Train, evaluate and report; return the content of `results.json`, or None if stopped."""
        console = Console(stderr=True, highlight=False)
        config = self.config
        console.print(
            f"{self.game.title}: {self.algorithm.title} for {self.minutes:g} "
            f"minute{'s' if self.minutes != 1 else ''}, in {config.run_dir}",
            markup=False,
        )
        if self.planned:
            if self._saved_plan:
                console.print("resuming the run in this folder, with its number of games")
            else:
                console.print("using the number of games in the settings")
        else:
            console.print(
                "compiling, and measuring how many games fit into the time limit ...", markup=False
            )
        sys.stderr.flush()
        self.plan()
        command = equivalent_command(
            self.algorithm.module, self.config, self.algorithm.config_class()
        )
        console.print(f"{self.config.games:,} games; the equivalent command, with all settings:")
        console.print(f"  {command}", markup=False, soft_wrap=True)
        return run(self.config)

    def _seconds_left(self) -> float:
        """Return the seconds until the time limit; negative after it."""
        return 60 * self.minutes - (time.monotonic() - self._start)

    def _load_plan(self) -> dict[str, int]:
        """Return the planned settings of the run in `run_dir`, if there is one."""
        file = Path(self.config.run_dir) / "config.json"
        try:
            saved = json.loads(file.read_text())
            return {name: int(saved[name]) for name in PLANNED}
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{file} is damaged: remove {file.parent} to begin anew") from None


def default_run_dir(game: Game, time_name: str) -> Path:
    """Return the default folder: named after the game, changed parameters, and the time.

    Args:
        game: the game.
        time_name: name of the time limit, such as `"two-minutes"`.
    """
    defaults = default_game(game).params
    changed = [f"{key}={value}" for key, value in game.params.items() if value != defaults[key]]
    return Path("runs") / "-".join([game.name, *changed, time_name])
