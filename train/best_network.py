"""Best network of a run: its weights, its score, and the file `best.safetensors`."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ludoteca.agents.networks.weights import load_weights
from ludoteca.train.checkpoint import Weights, as_arrays, copy_weights, write_if_changed
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix


class BestNetwork:
    """Network with the highest evaluation score of a run; in a tie, the latest.

    A score is from 0 to 1, see `Algorithm.score`.

    Attributes:
        record: the network's evaluation score, which the files of a run name `win_rate`, and its
            number of training `games`; empty before the first evaluation.
        weights: weights of the network.
        updates: number of its updates.
    """

    def __init__(self, select: str, pretrained: bool):
        """Begin without a network.

        Args:
            select: `"best"`, or `"last"`: each evaluated network replaces the previous one.
            pretrained: whether the run starts from a trained network, so that its initial network
                counts as trained.
        """
        self._select, self._pretrained = select, pretrained
        self.record: dict[str, Any] = {}
        self.weights: Weights = {}
        self.updates = 0
        # Score and updates of the latest network that was evaluated off schedule and accepted.
        self._interim: dict[str, Any] = {}

    def consider(self, network: nn.Module, games: int, updates: int, score: float) -> None:
        """Keep an evaluated network, unless the best network so far scored higher.

        Args:
            network: the current network.
            games: games of the run so far.
            updates: updates of the network.
            score: its evaluation score.
        """
        if self._accepts(score):
            self.record = {"win_rate": score, "games": games}
            self.weights, self.updates = copy_weights(network), updates

    def consider_interim(self, updates: int, score: float) -> None:
        """Prefer a network evaluated between scheduled evaluations while it is the current one.

        This evaluation is not part of `state`: a resumed run ignores it.

        Args:
            updates: updates of the current network.
            score: its evaluation score.
        """
        if self._accepts(score):
            self._interim = {"win_rate": score, "updates": updates}

    def _accepts(self, score: float) -> bool:
        """Return whether a network with this score replaces the best one."""
        return self._select == "last" or score >= self.record.get("win_rate", -1)

    def is_current(self, updates: int) -> bool:
        """Return whether `best.safetensors` holds the current network, and not an earlier one.

        True if the current network is the best one, if there is no best one yet, if the last one is
        selected, or if the best one is untrained and the current one is not.

        Args:
            updates: updates of the current network.
        """
        if not self.record or self._select == "last":
            return True
        untrained = self.updates == 0 and not self._pretrained
        return untrained or updates in (self.updates, self._interim.get("updates"))

    def selected(self, games: int, updates: int) -> dict[str, Any]:
        """Return the training `games` and the `win_rate` of the network in `best.safetensors`.

        `win_rate` is None if the network was not evaluated.

        Args:
            games: games of the run so far.
            updates: updates of the current network.
        """
        if not self.is_current(updates) or (self.record and updates == self.updates):
            return self.record
        score = self._interim["win_rate"] if updates == self._interim.get("updates") else None
        return {"win_rate": score, "games": games}

    def write(self, path: Path, current: Weights, metadata: dict[str, Any]) -> None:
        """Write `best.safetensors`, if it is missing or out of date.

        Args:
            path: path of the file.
            current: weights of the current network.
            metadata: metadata of the file, with `games` and `updates`.
        """
        if self.is_current(metadata["updates"]):
            write_if_changed(path, current, metadata)
        else:
            best_metadata = {"games": self.record["games"], "updates": self.updates}
            write_if_changed(path, self.weights, metadata | best_metadata)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state as numbers and arrays, for `restore`."""
        numbers = {"best": self.record, "best_updates": self.updates}
        return numbers, with_prefix("best", as_arrays(self.weights))

    def restore(self, numbers: dict[str, Any], arrays: Arrays, file: Path) -> None:
        """Restore a state.

        Args:
            numbers: numbers of the checkpoint.
            arrays: arrays of the checkpoint; those of older versions lack the weights.
            file: file with the weights in that case; without it, there is no best network.
        """
        self.record, self.updates = numbers["best"], numbers.get("best_updates", 0)
        best = without_prefix("best", arrays)
        self.weights = {name: torch.from_numpy(array) for name, array in best.items()}
        if self.record and not best:
            self._load(file)

    def _load(self, file: Path) -> None:
        """Load the best network from its file, or forget it if the file is of another network."""
        with suppress(OSError, ValueError, KeyError):
            weights, metadata = load_weights(file)
            if metadata["games"] == self.record["games"]:
                self.weights, self.updates = weights, metadata["updates"]
                return
        self.record = {}
