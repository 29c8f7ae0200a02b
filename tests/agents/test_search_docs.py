"""Tests that the page about search describes every policy and parameter."""

import inspect
import re
from pathlib import Path

from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.policies import POLICIES

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its head."""
    section = re.split(r"\n##+ ", PAGE.partition(f"## {heading}\n")[2])[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_policy_is_described_with_its_parameters() -> None:
    described = {row[0].strip("`"): row[1] for row in rows("Selection policies")}
    assert list(described) == list(POLICIES)
    for name, policy in POLICIES.items():
        params = ", ".join(f"{key}={value}" for key, value in policy.params.items())
        assert described[name] == (f"`{params}`" if params else ""), name


def test_every_parameter_of_the_agent_is_described() -> None:
    described = [name for row in rows("Parameters") for name in re.findall(r"`(\w+)`", row[0])]
    assert len(described) == len(set(described))
    assert set(described) == set(inspect.signature(MCTSAgent).parameters) - {"game"}
