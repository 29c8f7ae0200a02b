"""Test that the overview of all results quotes the findings of reports as they are."""

from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"


def one_line(text: str) -> str:
    """Return text with single spaces."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", ["bandit_policies", "bandits_full", "p_game"])
def test_overview_quotes_the_findings(name: str) -> None:
    report = (RESULTS / name / "report.md").read_text()
    section = report.partition("\n## Findings\n")[2].partition("\n## ")[0]
    findings = [line.removeprefix("- ") for line in section.splitlines() if line.startswith("- ")]
    overview = one_line((RESULTS / "README.md").read_text())
    assert len(findings) >= 4
    assert [each for each in findings if one_line(each) not in overview] == []
