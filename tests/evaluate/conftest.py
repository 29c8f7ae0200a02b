"""Fixtures of several files: figures that are not rendered, and the arena in a browser."""

import pytest
from arena_browser import arena, chromium, laptop_person


@pytest.fixture
def unrendered_figures(monkeypatch):
    """Let Matplotlib save one pixel instead of a figure: rendering takes most of a report's time.

    The code that draws the figure runs.
    """
    from PIL import Image

    def save(figure, file, **options):
        Image.new("RGB", (1, 1)).save(file, format="png")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", save)


@pytest.fixture(scope="module")
def browser():
    """Yield Chromium, started without a sandbox, which containers do not allow."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address():
    """Yield the address of an arena with fast agents."""
    chromium()
    pytest.importorskip("uvicorn", reason="the arena needs uvicorn: the extra `arena`")
    agents = ("--agents", "random", "mcts:simulations=30")
    with arena(*agents, "--adviser", "mcts:simulations=100") as address:
        yield address


@pytest.fixture
def person(browser, address):
    """Yield a person who plays against fast agents."""
    with laptop_person(browser, address) as person:
        yield person
