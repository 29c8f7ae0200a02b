"""Arena in a browser: the server in a process, and a simulated person who clicks."""

import os
import random
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

SIZES = {"phone": (390, 844), "laptop": (1280, 800), "4k": (3840, 2160)}
TIMEOUT = 60  # seconds for a game to continue


def chromium():
    """Return the path of Chromium, or skip the test."""
    pytest.importorskip("playwright", reason="Playwright is not installed: the extra `dev`")
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return pytest.skip("no Chromium is found: apt-get install chromium")


@contextmanager
def arena(*arguments, interpreted=True):
    """Run `ludoteca arena`; yield its address."""
    environment = os.environ | ({"LUDOTECA_INTERPRETED": "1"} if interpreted else {})
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
    """Person at a page of the arena, who clicks at random.

    Attributes:
        page: the page.
        problems: errors in the page so far.
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
            else:
                with self.page.expect_response(re.compile(r"/api/games/")):
                    field.fill(value)
                    field.blur()
        for seat in self.page.locator("select[id^=seat-]").all()[1:]:
            seat.select_option(opponent)
        self.page.locator("#option-pause").fill("0")
        if self.page.locator("#option-clock").count():
            self.page.locator("#option-clock").fill(clock)
        self.page.get_by_role("button", name="Start the game").click()
        self.page.locator(".game[data-turn]").wait_for()

    def turn(self):
        """Return `"person"`, `"over"` or `"other"`, and the number of plies."""
        game = self.page.locator(".game")
        return game.get_attribute("data-turn"), int(game.get_attribute("data-plies"))

    def play_to_the_end(self):
        """Play random moves by clicks and touches until the game is over; return its plies."""
        end = time.monotonic() + 4 * TIMEOUT
        while True:
            assert time.monotonic() < end, self.page.locator(".status").inner_text()
            turn, plies = self.turn()
            if turn == "over":
                return plies
            if self.page.locator(".pad").count():
                self._steer(plies)
            elif turn == "person":
                self._move(plies)
            else:
                time.sleep(0.02)

    def _move(self, plies):
        buttons = self.page.locator(".choices button")
        cells = self.page.locator(".cells .choice")
        count, others = cells.count(), buttons.count()
        if count == 0 and others == 0:
            return
        if others and (count == 0 or self._choose.random() < 0.3):
            self._press(buttons.nth(self._choose.randrange(others)))
        else:
            self._press(cells.nth(self._choose.randrange(count)))
            if self.page.locator(".marks .selected").count():
                targets = self.page.locator(".cells .choice")
                self._press(targets.nth(self._choose.randrange(targets.count())))
        self._wait(plies)

    def _steer(self, plies):
        pad = self.page.locator(".pad button")
        if count := pad.count():
            self.page.keyboard.press(
                ("ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft")[self._choose.randrange(count)]
            )
        self._wait(plies)

    def _press(self, place):
        if self.page.evaluate("navigator.maxTouchPoints > 0"):
            place.tap()
        else:
            place.click()

    def _wait(self, plies):
        """Wait until the game has more plies."""
        end = time.monotonic() + TIMEOUT
        while self.turn()[1] == plies and self.turn()[0] != "over":
            assert time.monotonic() < end, self.page.locator(".status").inner_text()
            time.sleep(0.02)

    def _listen(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def _check(self, url):
        if not url.startswith((self.address, "data:", "blob:")):
            self.problems.append(f"the page requests {url}")
