"""Fixtures of the tests of rule sheets."""

import pytest


@pytest.fixture
def no_disk_cache(monkeypatch):
    """Compile all sheets: limits of the compilation do not apply to networks in the disk cache."""
    monkeypatch.setattr("ludoteca.envs.gdl.compile.load_network", lambda digest: None)
