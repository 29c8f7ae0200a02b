"""Means and sums of metrics between two rows of `metrics.csv`."""

from collections.abc import Mapping, Sequence


class MeanMetrics:
    """Sums and counts by name.

    Attributes:
        sums: sum and count of each metric, JSON-serializable.
    """

    def __init__(self, names: Sequence[str], summed: Sequence[str] = ()):
        """Begin with empty metrics.

        Args:
            names: names of the metrics.
            summed: those of which the sum is written, and not the mean.
        """
        self._names, self._summed = tuple(names), tuple(summed)
        self.sums: dict[str, list[float]] = {name: [0, 0] for name in names}

    def add(self, values: Mapping[str, tuple[float, float]]) -> None:
        """Add a sum and a count to each of some metrics."""
        for name, (total, count) in values.items():
            before = self.sums[name]
            self.sums[name] = [before[0] + total, before[1] + count]

    def summary(self) -> dict[str, float | None]:
        """Return means, None of nothing, and sums; begin anew."""
        values = {
            name: total if name in self._summed else total / count if count else None
            for name, (total, count) in self.sums.items()
        }
        self.sums = {name: [0, 0] for name in self._names}
        return values
