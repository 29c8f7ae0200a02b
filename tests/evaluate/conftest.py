"""Fixtures of evaluation tests."""

import pytest


@pytest.fixture
def pygame(monkeypatch):
    """Return pygame with a dummy display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    from ludoteca.envs.render.window import _pygame

    module = _pygame()
    yield module
    module.display.quit()
