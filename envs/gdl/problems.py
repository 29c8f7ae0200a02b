"""Problems of rule sheets: violations of the specification that the checks find."""

from dataclasses import dataclass
from typing import Literal

from ludoteca.envs.gdl.rules import Rule

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Violation of the specification by a sheet.

    Attributes:
        line: its line, or 0 if it concerns the whole sheet.
        column: its column.
        text: description.
        severity: `"error"`: the sheet cannot be compiled; `"warning"`: it can be compiled, unless
            that exceeds a limit.
    """

    line: int
    column: int
    text: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text}" if self.line else self.text


def problem_of_sheet(text: str, severity: Severity = "error") -> Problem:
    """Return a problem that concerns the whole sheet."""
    return Problem(0, 0, text, severity)


def problem_of_rule(rule: Rule, text: str, severity: Severity = "error") -> Problem:
    """Return a problem of one rule."""
    return Problem(rule.line, rule.column, text, severity)
