"""Metrics of a training run, for TensorBoard and as a CSV table.

TensorBoard also gets the hyperparameters, the command, and the last position of a game of each
evaluation. Weights & Biases copies all of it after `wandb.init(sync_tensorboard=True)`.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from ludoteca.envs.game import Game
from ludoteca.envs.render import render
from ludoteca.envs.replay import Replay
from ludoteca.files import write_atomically
from ludoteca.provenance import command_line
from ludoteca.train.distributed import ranks

Row = dict[str, float | int | None]


class Metrics:
    """Rows of metrics; in data-parallel training, only rank 0 writes them.

    Attributes:
        rows: rows so far, with their `step`; part of the state of a run.
    """

    def __init__(
        self,
        folder: Path,
        rows: list[Row] | None = None,
        tensorboard: bool = True,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ):
        """Make metrics that are written to `folder`.

        Args:
            folder: folder of the run.
            rows: earlier rows of the run.
            tensorboard: whether TensorBoard files are written.
            settings: settings of the run, the hyperparameters in TensorBoard.
        """
        self._settings = settings
        self.rows = rows or []
        self._folder = folder
        self._writer: Any = None
        if tensorboard and ranks().is_main_process:
            # Earlier files are purged of steps after the last row, which the resumed run repeats.
            last = self.rows[-1]["step"] if self.rows else -1
            assert last is not None
            make_writer: Any = SummaryWriter
            self._writer = make_writer(str(folder / "tensorboard"), purge_step=int(last) + 1)
            self._writer.add_text("command", f"`{command_line()}`", max(int(last), 0))

    def add(self, step: int, **values: float | int | None) -> None:
        """Add a row.

        Args:
            step: number of games or epochs so far.
            values: metrics by name; None: not measured. `group__name` is in a group of TensorBoard.
        """
        self.rows.append({"step": step, **values})
        if self._writer is not None:
            for name, value in values.items():
                if value is not None:
                    self._writer.add_scalar(name.replace("__", "/"), value, step)

    @property
    def draws_boards(self) -> bool:
        """Whether `add_board` draws an image; else it does nothing."""
        return self._writer is not None

    def add_board(self, step: int, game: Game, replay: Replay) -> None:
        """Add the last position of a game to TensorBoard, if its files are written."""
        if self._writer is not None:
            *_, final = replay.positions()
            image = render(game, final, "rgb_array")
            self._writer.add_image("evaluation game", image, step, dataformats="HWC")

    def save(self) -> None:
        """Write `metrics.csv`."""
        if not ranks().is_main_process:
            return
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        table = csv.DictWriter(text, names, lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows)
        write_atomically(self._folder / "metrics.csv", text.getvalue())

    def close(self) -> None:
        """Write the hyperparameters with the last metrics, and close the TensorBoard files."""
        if self._writer is None:
            return
        latest: dict[str, float | int] = {}
        for row in self.rows:
            latest |= {name: value for name, value in row.items() if value is not None}
        step = int(latest.pop("step", 0))
        if self._settings and latest:
            metrics = {name.replace("__", "/"): value for name, value in latest.items()}
            settings = dict(_hyperparameters(self._settings))
            # ".": into the folder of the other metrics, not into a new one below.
            self._writer.add_hparams(settings, metrics, run_name=".", global_step=step)
        self._writer.close()


def _hyperparameters(
    settings: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, bool | int | float | str]]:
    """Yield names (`prefix`, with dots for nested settings) and values that TensorBoard stores."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _hyperparameters(value, f"{prefix}{name}.")
        else:
            is_scalar = isinstance(value, bool | int | float | str)
            yield prefix + name, value if is_scalar else str(value)
