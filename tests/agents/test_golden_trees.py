"""Repeated searches have the recorded trees (`golden_trees`), node by node."""

import json

import golden_trees
import pytest

CASES = golden_trees.make_cases()
RECORDED = json.loads(golden_trees.FILE.read_text())


def test_the_file_records_every_case() -> None:
    assert set(RECORDED) == set(CASES)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", CASES)
def test_interpreted_search_builds_the_recorded_tree(name: str) -> None:
    assert golden_trees.search_case(CASES[name]) == RECORDED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compiled_search_builds_the_recorded_tree(name: str) -> None:
    assert golden_trees.search_case(CASES[name]) == RECORDED[name]
