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
            summed: metrics whose sum is written instead of the mean.
        """
        self._names, self._summed = tuple(names), tuple(summed)
        self.sums: dict[str, list[float]] = {name: [0, 0] for name in names}

    def add(self, values: Mapping[str, tuple[float, float]]) -> None:
        """Add sums and counts, by name of the metric."""
        for name, (total, count) in values.items():
            old_total, old_count = self.sums[name]
            self.sums[name] = [old_total + total, old_count + count]

    def summary(self) -> dict[str, float | None]:
        """Return means (None without values) and sums, and reset them."""
        values = {
            name: total if name in self._summed else total / count if count else None
            for name, (total, count) in self.sums.items()
        }
        self.sums = {name: [0, 0] for name in self._names}
        return values
