"""Tests of the position editor of the arena in Chromium: clicks, touches and keys.

`make test-browser` runs them; without Playwright or Chromium they are skipped.
"""

import re

import pytest
from arena_browser import SIZES, SMALL, Person, close_game

from ludoteca.envs.registry import GAMES, game_name

pytestmark = pytest.mark.slow


def open_editor(page):
    """Open the position editor of the game on the page."""
    page.keyboard.press("m")
    page.get_by_role("button", name="Set up a position").click()
    page.locator(".editor").wait_for()


@pytest.mark.parametrize("size", SIZES)
def test_a_position_is_set_up_by_clicks_and_touches(browser, address, size):
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=size == "phone"
    )
    person = Person(context.new_page(), address)
    person.start("hex", {"board_size": "5"}, opponent="human")
    page = person.page
    open_editor(page)
    press = (lambda place: place.tap()) if size == "phone" else (lambda place: place.click())
    cell = lambda name: page.locator(".editor").get_by_role(  # noqa: E731
        "gridcell", name=re.compile(f"^{name},")
    )
    status, start = page.locator(".editor .status"), page.get_by_role("button", name="Play from")
    for name in ("c1", "c2", "c3", "c4", "c5"):
        press(cell(name))
    page.get_by_text("the game is over in this position: black wins").wait_for()
    assert start.is_disabled()
    page.get_by_label("white").first.check()  # the piece
    press(cell("c3"))  # replaces the black stone
    press(cell("a1"))
    press(cell("a1"))  # and removes it
    page.get_by_role("group", name="Player to move").get_by_label("white").check()
    page.get_by_text("this position is possible").wait_for()
    assert "error" not in status.get_attribute("class")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    press(start)
    page.locator(".editor").wait_for(state="detached")
    page.get_by_text("white to move").first.wait_for()
    assert page.get_by_role("gridcell", name=re.compile("^c3, white")).count() == 1
    assert page.get_by_role("gridcell", name=re.compile("^a1, empty")).count() == 1
    close_game(page)
    context.close()
    assert person.problems == []


def test_a_position_is_set_up_by_keyboard_alone(person):
    person.start("breakthrough", opponent="human")
    page = person.page
    open_editor(page)
    editor = page.locator(".editor")
    page.get_by_role("button", name="Clear the board").press("Enter")
    page.get_by_text("the player that moved last has no pieces").wait_for()
    editor.locator('[data-cell="0"]').focus()
    for key in ("ArrowDown", "1", "Enter", "ArrowDown", "2", "Enter", "ArrowRight", " ", "Delete"):
        page.keyboard.press(key)
    page.get_by_text("this position is possible").wait_for()
    names = [cell.get_attribute("aria-label") for cell in editor.get_by_role("gridcell").all()]
    assert [name for name in names if "empty" not in name] == ["a5, white", "a4, black"]
    page.get_by_role("button", name="As JSON").press("Enter")
    text = page.get_by_label("Position as JSON").input_value()
    assert "breakthrough:rows=6,columns=6" in text
    page.keyboard.press("Escape")  # closes the dialog alone
    assert editor.count() == 1
    page.get_by_role("button", name="Play from").press("Enter")
    editor.wait_for(state="detached")
    page.get_by_role("gridcell", name="a5, white, possible").wait_for()
    close_game(page)


def test_a_key_pressed_as_a_dialog_closes_is_a_command(person):
    """The focus stays in the closed dialog's field until the page is drawn again."""
    person.start("gdl", {}, opponent="human")
    page = person.page
    page.keyboard.press("m")
    page.get_by_role("button", name="Set up a position").click()
    page.get_by_label("Position as JSON").wait_for()
    page.evaluate("""() => {
      document.querySelector("dialog").close();
      const event = new KeyboardEvent("keydown", { key: "m", bubbles: true });
      document.activeElement.dispatchEvent(event);
    }""")
    close_game(page, opened=True)


@pytest.mark.parametrize("id_", GAMES)
def test_every_position_on_the_board_can_be_edited(person, id_):
    name = game_name(id_)
    person.start(name, SMALL.get(name, {}), opponent="human")
    page = person.page
    page.keyboard.press("m")
    page.get_by_role("button", name="Set up a position").click()
    if name == "gdl":
        page.get_by_label("Position as JSON").wait_for()
        page.keyboard.press("Escape")
    else:
        page.get_by_text("this position is possible").wait_for()
        page.get_by_role("button", name="Clear the board").click()
        page.get_by_role("button", name="Starting position").click()
        page.get_by_text("this position is possible").wait_for()
        page.get_by_role("button", name="Play from").click()
        page.locator(".editor").wait_for(state="detached")
    close_game(page)
