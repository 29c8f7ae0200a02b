"""Errors of rule sheets, with their place in the text."""


class GDLError(ValueError):
    """A rule sheet that cannot be read or compiled; the message has the file and the line."""


class GDLLimitError(GDLError):
    """A rule sheet that needs more time, memory or rule instances than the given limits."""


class GDLWarning(UserWarning):
    """A fault of a rule sheet that does not prevent playing it."""
