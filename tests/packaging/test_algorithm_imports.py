"""Tests that algorithms are small: what one imports, and how long its file is."""

import subprocess
import sys

import pytest

from ludoteca.train.algorithms import ALGORITHMS, find_algorithm

COUNT = """
import sys
import ludoteca
before = set(sys.modules)
import ludoteca.train.dqn
print(*sorted(m for m in set(sys.modules) - before if m.startswith("ludoteca.")))
"""
MOST_MODULES, MOST_LINES = 45, 400  # what a reader of an algorithm may have to read


def test_deep_q_learning_imports_few_modules():
    run = [sys.executable, "-P", "-c", COUNT]
    modules = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert "ludoteca.train.algorithm" in modules
    assert len(modules) < MOST_MODULES, modules
    # An algorithm does not import the training loop, reports and evaluation.
    unwanted = ("ludoteca.train.loop", "ludoteca.train.report", "ludoteca.evaluate")
    assert not [module for module in modules if module.startswith(unwanted)]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_are_one_short_file(name):
    algorithm = find_algorithm(name)
    module = sys.modules[algorithm.__module__]
    assert module.__name__ == algorithm.module
    assert algorithm.config_class.algorithm == name
    with open(module.__file__, encoding="utf-8") as file:
        text = file.read()
    assert text.count("\n") <= MOST_LINES
    # The settings come first in the file.
    assert 0 < text.index("Config(") < text.index(f"class {algorithm.__name__}(")
