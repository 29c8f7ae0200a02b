"""The best network of a run so far: its weights, how good it is, and when its file holds it."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from ludoteca.agents.networks.weights import load_weights
from ludoteca.train.checkpoint import Weights, as_arrays, copied, write_if_other
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix


class BestNetwork:
    """The network of a run that did best in evaluations; of equal ones, the latest.

    Attributes:
        record: its `win_rate`, and after how many `games` it was reached; empty if no network was
            evaluated.
        weights: of the network.
        updates: how many it had learned from.
    """

    def __init__(self, select: str, pretrained: bool):
        """Begin without a network.

        Args:
            select: `"best"`, or `"last"`: each network that is evaluated replaces the one before.
            pretrained: whether the run starts from a trained network, so that even its first
                network has learned something.
        """
        self._select, self._pretrained = select, pretrained
        self.record: dict[str, Any] = {}
        self.weights: Weights = {}
        self.updates = 0
        self._interim: dict[str, Any] = {}  # the last network, if it was evaluated out of turn

    def consider(self, network: nn.Module, games: int, updates: int, rate: float) -> None:
        """Keep a network that was evaluated, unless the one so far did better."""
        if self._accepts(rate):
            self.record = {"win_rate": rate, "games": games}
            self.weights, self.updates = copied(network), updates

    def consider_interim(self, updates: int, rate: float) -> None:
        """Prefer a network that was evaluated out of turn while it is the present one.

        It is no part of `state`: a run that resumes does not know of it.
        """
        if self._accepts(rate):
            self._interim = {"win_rate": rate, "updates": updates}

    def _accepts(self, rate: float) -> bool:
        return self._select == "last" or rate >= self.record.get("win_rate", -1)

    def is_present(self, updates: int) -> bool:
        """Return whether `best.safetensors` holds the present network, and not an earlier one.

        That is so if it is the best one, if the last one is selected, or if the best one has not
        learned anything while the present one has.

        Args:
            updates: of the present network.
        """
        if not self.record or self._select == "last":
            return True
        untrained = self.updates == 0 and not self._pretrained
        return untrained or updates in (self.updates, self._interim.get("updates"))

    def selected(self, games: int, updates: int) -> dict[str, Any]:
        """Return which network `best.safetensors` holds: after how many `games`, its `win_rate`.

        The latter is None if it was not evaluated.

        Args:
            games: of the run so far.
            updates: of the present network.
        """
        if not self.is_present(updates) or (self.record and updates == self.updates):
            return self.record
        rate = self._interim["win_rate"] if updates == self._interim.get("updates") else None
        return {"win_rate": rate, "games": games}

    def write(self, path: Path, present: Weights, about: dict[str, Any]) -> None:
        """Write `best.safetensors`, if it is missing or out of date.

        Args:
            path: of the file.
            present: weights of the present network.
            about: what is written beside them, among it its `games` and `updates`.
        """
        if self.is_present(about["updates"]):
            write_if_other(path, present, about)
        else:
            mine = {"games": self.record["games"], "updates": self.updates}
            write_if_other(path, self.weights, about | mine)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return numbers and arrays that `restore` needs."""
        numbers = {"best": self.record, "best_updates": self.updates}
        return numbers, with_prefix("best", as_arrays(self.weights))

    def restore(self, numbers: dict[str, Any], arrays: Arrays, file: Path) -> None:
        """Restore a state.

        Args:
            numbers: of the checkpoint.
            arrays: of the checkpoint. Those of an older version of this package lack the weights.
            file: holds the weights then; without it, there is no best network so far.
        """
        self.record, self.updates = numbers["best"], numbers.get("best_updates", 0)
        best = without_prefix("best", arrays)
        self.weights = {name: torch.from_numpy(array) for name, array in best.items()}
        if self.record and not best:
            self._load(file)

    def _load(self, file: Path) -> None:
        try:
            weights, about = load_weights(file)
            if about["games"] != self.record["games"]:
                raise ValueError
            self.weights, self.updates = weights, about["updates"]
        except (OSError, ValueError, KeyError):
            self.record = {}
