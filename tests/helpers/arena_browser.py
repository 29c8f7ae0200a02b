"""Arena in a browser: the server in a process, and a simulated person who clicks."""

import os
import random
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

# Viewports, width and height in CSS pixels.
SIZES = {"phone": (390, 844), "laptop": (1280, 800), "4k": (3840, 2160)}
TIMEOUT = 60  # seconds to wait for an element of the page
MAX_PLIES = 2000  # more than any game here takes
ARROWS = "ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"
# Parameters that make games short.
SMALL = {
    "hungry_geese": {"episode_steps": "12"},
    "othello": {"board_size": "6"},
    "hex": {"board_size": "5", "swap": "True"},
    "tron": {"rows": "6", "columns": "6"},
}
# JavaScript that returns what a person sees, in one round trip to the browser.
LOOK = """() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  const { turn, plies } = document.querySelector(".game").dataset;
  return {
    turn, plies: Number(plies), directions: count(".pad button"),
    options: count(".options button"), cells: count(".cells .choice"),
    buttons: count(".choices button"), touches: navigator.maxTouchPoints > 0,
  };
}"""


def chromium():
    """Return the path of Chromium, or skip the test."""
    pytest.importorskip("playwright", reason="Playwright is not installed: the extra `dev`")
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return pytest.skip("no Chromium is found: apt-get install chromium")


@contextmanager
def arena(*arguments, interpreted=True):
    """Run `ludoteca arena` with this folder on its import path; yield its address."""
    environment = os.environ | ({"LUDOTECA_INTERPRETED": "1"} if interpreted else {})
    environment["PYTHONPATH"] = str(Path(__file__).parent)
    command = [sys.executable, "-P", "-m", "ludoteca", "arena", "--port", "0", "--no-browser"]
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        try:
            line = process.stdout.readline()
            yield re.search(r"http://\S+", line)[0]
        finally:
            process.terminate()
            process.wait(20)


class Person:
    """Simulated person at a page of the arena, who clicks at random.

    Attributes:
        page: the page of Playwright.
        problems: errors in the page so far: exceptions, messages in the console, and requests to
            other addresses.
    """

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.problems = []
        page.set_default_timeout(1000 * TIMEOUT)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._listen)
        page.on("request", lambda request: self._check(request.url))
        self._choose = random.Random(7)

    def start(self, game, params=(), opponent="random", clock="0"):
        """Fill in the form of a new game and start it."""
        self.page.goto(self.address)
        self.page.locator(f'button[data-game="{game}"]').click()
        self.page.locator(f'[data-form="{game}"]').wait_for()
        for name, value in dict(params).items():
            field = self.page.locator(f"#param-{name}")
            if field.get_attribute("type") == "checkbox":
                field.set_checked(value == "True")
            elif field.evaluate("field => field.tagName") == "SELECT":
                with self.page.expect_response(re.compile(r"/api/games/")):
                    field.select_option(value)
            else:
                with self.page.expect_response(re.compile(r"/api/games/")):
                    field.fill(value)
                    field.blur()
        self.page.locator("[aria-busy]").wait_for(state="detached")  # the form has all changes
        for seat in self.page.locator("select[id^=seat-]").all()[1:]:
            seat.select_option(opponent)
        self.page.locator("#option-move_delay").fill("0")
        if self.page.locator("#option-clock").count():
            self.page.locator("#option-clock").fill(clock)
        self.page.get_by_role("button", name="Start the game").click()
        self.page.locator(".game[data-turn]").wait_for()

    def look(self):
        """Return what the page shows: turn, plies, and the number of choices of each kind."""
        return self.page.evaluate(LOOK)

    def wait(self, **data):
        """Wait until the element of the game has data attributes, for example `plies=3`."""
        selector = "".join(f'[data-{name}="{value}"]' for name, value in data.items())
        self.page.locator(f".game{selector}").wait_for()

    def play_to_the_end(self):
        """Play random moves by clicks and touches until the game is over; return its plies."""
        for _ in range(MAX_PLIES):
            seen = self.look()
            if seen["turn"] == "over":
                return seen["plies"]
            if seen["directions"]:
                self.page.keyboard.press(ARROWS[self._choose.randrange(seen["directions"])])
                self._wait_for(f':not([data-plies="{seen["plies"]}"])')
            elif seen["options"]:
                self._press(".options button", seen["options"], seen)
                self._wait_for(f':not([data-plies="{seen["plies"]}"])')
            elif seen["turn"] == "person":
                self._move(seen)
            else:
                self._wait_for('[data-turn="person"]')
        raise AssertionError(self.page.locator(".status").inner_text())

    def _move(self, seen):
        """Choose a button, or a cell and, if a piece is selected by that, its target."""
        if seen["buttons"] and (seen["cells"] == 0 or self._choose.random() < 0.3):
            self._press(".choices button", seen["buttons"], seen)
        else:
            self._press(".cells .choice", seen["cells"], seen)
            if self.page.locator(".marks .selected").count():
                self._press(".cells .choice", self.look()["cells"], seen)
        self._wait_for(f':not([data-plies="{seen["plies"]}"])')

    def _press(self, selector, count, seen):
        """Click, or touch on touch screens, a random one of `count` elements."""
        place = self.page.locator(selector).nth(self._choose.randrange(count))
        if seen["touches"]:
            place.tap()
        else:
            place.click()

    def _wait_for(self, attributes):
        """Wait until the element of the game matches a CSS selector, or the game is over."""
        self.page.locator(f'.game{attributes}, .game[data-turn="over"]').first.wait_for()

    def _listen(self, message):
        """Record errors and warnings of the console."""
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def _check(self, url):
        """Record a request to another server."""
        if not url.startswith((self.address, "data:", "blob:")):
            self.problems.append(f"the page requests {url}")


@contextmanager
def laptop_person(browser, address):
    """Yield a person with a page of laptop size; assert afterwards that the page had no errors."""
    width, height = SIZES["laptop"]
    context = browser.new_context(viewport={"width": width, "height": height})
    person = Person(context.new_page(), address)
    yield person
    context.close()
    assert person.problems == []


def close_game(page, opened=False):
    """Close the game on the page, as few may be open at once; `opened`: its menu is open."""
    if not opened:
        page.keyboard.press("m")
    page.get_by_role("button", name="Close the game").click()
    page.get_by_role("heading", name="Choose a game").wait_for()
