"""Errors and warnings about rule sheets."""


class GDLError(ValueError):
    """Error for a rule sheet that cannot be read or compiled; most messages have file and line."""


class GDLLimitError(GDLError):
    """Error for a rule sheet that needs more time, memory or rule instances than the limits."""


class GrowingTermsError(GDLLimitError):
    """Error for a rule sheet whose terms are nested so deep that they probably grow without end."""


class GDLWarning(UserWarning):
    """Warning of a fault of a rule sheet that does not prevent playing it."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as `"1 argument"` or `"2 arguments"`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
