"""Test of games in SGF in the arena, in Chromium; `make test-browser` runs it."""

import pytest
from arena_browser import Person, arena, chromium

pytestmark = [pytest.mark.interpreted, pytest.mark.slow]


def test_a_game_in_sgf_is_opened_continued_and_saved(tmp_path):
    path = chromium()
    pytest.importorskip("uvicorn", reason="the arena needs uvicorn: the extra `arena`")
    from playwright.sync_api import sync_playwright

    file = tmp_path / "game.sgf"
    file.write_text("(;GM[2]SZ[8];B[d3])(;GM[11]SZ[4];B[a2];W[swap](;W[c2])(;W[d2]))")
    with (
        arena("--agents", "random", "--adviser", "random", "--workers", "1") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        person = Person(browser.new_page(), address)
        page = person.page
        page.goto(f"{address}#/open")
        page.get_by_label("Number of the game").fill("2")
        page.get_by_label("Replay file").set_input_files(file)
        page.locator('.game[data-plies="3"]').wait_for()
        assert page.locator(".moves li").all_inner_texts() == ["a2", "swap", "b3"]
        assert "1 variation is skipped" in page.locator("#note").inner_text()
        page.keyboard.press("m")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as .sgf").click()
        download.value.save_as(tmp_path / "saved.sgf")
        page.screenshot(path=tmp_path / "page.png")
        browser.close()
    saved = (tmp_path / "saved.sgf").read_text()
    assert saved.startswith("(;FF[4]GM[11]CA[UTF-8]SZ[4]PL[B]RU[swap]")
    assert saved.endswith(";B[a2];W[swap-pieces];B[b3])\n")
    assert person.problems == []
