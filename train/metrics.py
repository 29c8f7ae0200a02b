"""Metrics of a training, for TensorBoard and as a CSV table."""

import csv
import io
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from ludoteca.files import write_whole
from ludoteca.train.distributed import ranks

Row = dict[str, float | int | None]


class Metrics:
    """Rows of metrics; in data-parallel training, only rank 0 writes them.

    Attributes:
        rows: rows so far, with their `step`; part of the state of a run.
    """

    def __init__(self, folder: Path, rows: list[Row] | None = None, keep_writing: bool = True):
        """Make metrics that are written to `folder`.

        Args:
            folder: folder of the run.
            rows: earlier rows of the run.
            keep_writing: whether TensorBoard files are written.
        """
        self.rows = rows or []
        self._folder = folder
        self._writer: Any = None
        if keep_writing and ranks().leads:
            # Steps after the last row belong to a part of the run that is played again.
            last = self.rows[-1]["step"] if self.rows else -1
            assert last is not None
            make: Any = SummaryWriter
            self._writer = make(str(folder / "tensorboard"), purge_step=int(last) + 1)

    def add(self, step: int, **values: float | int | None) -> None:
        """Add a row; None: not measured."""
        self.rows.append({"step": step, **values})
        if self._writer is not None:
            for name, value in values.items():
                if value is not None:
                    self._writer.add_scalar(name.replace("__", "/"), value, step)

    def save(self) -> None:
        """Write `metrics.csv`."""
        if not ranks().leads:
            return
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        table = csv.DictWriter(text, names, lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows)
        write_whole(self._folder / "metrics.csv", text.getvalue())

    def close(self) -> None:
        """Close the TensorBoard files."""
        if self._writer is not None:
            self._writer.close()
