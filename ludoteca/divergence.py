"""Divergence of a training run, whose loss is infinite or NaN: its error, and its exit status."""

DIVERGED = 3  # exit status of a command whose training diverged


class DivergedError(ValueError):
    """Error of a training run whose loss is not finite."""
