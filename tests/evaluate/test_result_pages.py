"""Committed pages of benchmarks are those of the committed numbers beside them."""

import json
from pathlib import Path

import pytest

from ludoteca.evaluate import network_formats
from ludoteca.evaluate.bench import arrays_page, tuning_page

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PAGES = {
    "arrays": lambda content: arrays_page.markdown_page(content, "results.json"),
    "formats": network_formats.markdown_page,
    "tuning": lambda content: tuning_page.markdown_page(content["problems"], "results.json"),
}


@pytest.mark.parametrize("name", PAGES)
def test_committed_pages_are_those_of_the_committed_results(name):
    content = json.loads((RESULTS / name / "results.json").read_text(encoding="utf-8"))
    assert PAGES[name](content) == (RESULTS / name / "README.md").read_text(encoding="utf-8")
