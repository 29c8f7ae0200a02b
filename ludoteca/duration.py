"""Durations as text."""

from math import isinf


def format_duration(seconds: float) -> str:
    """Return a duration as text, such as `"12.5 s"`, `"15 min"` or `"2 h 05 min"`.

    An infinite duration is `"unknown time"`.
    """
    if isinf(seconds):
        return "unknown time"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60:,} h {minutes % 60:02} min"
