"""Fixtures of agent tests."""

import textwrap

import pytest


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a submission and returns its path."""

    def write(source, name="submission.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(source))
        return file

    return write
