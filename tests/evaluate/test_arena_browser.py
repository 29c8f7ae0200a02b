"""Tests of the arena in Chromium: every game at three window sizes, keyboard, stops, runs.

`make test-browser` runs them; without Playwright or Chromium they are skipped.
"""

import re

import pytest
from arena_browser import SIZES, SMALL, Person, arena, chromium, laptop_person

from ludoteca.envs.registry import GAMES, game_name, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.arena.replay_page import replay_page

pytestmark = pytest.mark.slow

LONG = "mcts:simulations=1000000"  # runs until it is stopped


@pytest.fixture(scope="module")
def searching_address():
    """Yield the address of an arena whose agents search until they are stopped, or compile."""
    chromium()
    pytest.importorskip("uvicorn", reason="the arena needs uvicorn: the extra `arena`")
    agents = (LONG, "flat:simulations=1000000", "stopping_agents:Compiling")
    with arena("--agents", *agents, "--adviser", "mcts:simulations=999999") as address:
        yield address


@pytest.fixture
def stopper(browser, searching_address):
    """Yield a person who plays against agents that must be stopped."""
    with laptop_person(browser, searching_address) as person:
        yield person


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("id_", GAMES)
def test_a_whole_game_is_played(browser, address, id_, size):
    width, height = SIZES[size]
    name = game_name(id_)
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=size == "phone"
    )
    person = Person(context.new_page(), address)
    person.start(name, SMALL.get(name, {}))
    assert person.play_to_the_end() > 0
    page = person.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    board = page.locator("svg.board").bounding_box()
    assert board["x"] >= 0
    assert board["x"] + board["width"] <= width
    assert board["y"] + board["height"] <= height
    if size != "phone":  # on a phone the panel is below the board, not beside it
        # The board fills 60 % of the height, or of the 60 % of the width that the panel leaves.
        assert min(board["width"], board["height"]) > 0.6 * min(0.6 * width, height)
    page.keyboard.press("m")
    page.get_by_role("button", name="Close the game").click()
    page.get_by_role("heading", name="Choose a game").wait_for()
    context.close()
    assert person.problems == []


@pytest.mark.parametrize(
    "sheet", ["eight_puzzle", "three_in_line", "prisoners_dilemma", "dice_race"]
)
def test_rule_sheets_for_any_number_of_players_are_played(browser, address, sheet):
    with laptop_person(browser, address) as person:
        person.start("gdl", {"path": sheet})
        assert person.play_to_the_end() > 0


def test_a_game_is_played_by_keyboard_alone(person):
    person.start("tictactoe", opponent="human")
    page = person.page
    page.get_by_role("gridcell", name="a1, empty, possible").focus()
    moves = (["Enter"], ["ArrowDown", " "], ["ArrowUp", "ArrowRight", "Enter"])
    for plies, keys in enumerate(moves, 1):
        for key in keys:
            page.keyboard.press(key)
        person.wait(plies=plies)
    assert page.locator(".moves li").all_inner_texts() == ["a1", "a2", "b1"]
    assert page.get_by_role("gridcell", name="a2, O").count() == 1
    page.keyboard.press("u")
    person.wait(plies=2)
    page.keyboard.press("r")
    person.wait(plies=3)
    page.keyboard.press(",")
    person.wait(ply=2)
    assert page.locator(".stepper output").inner_text() == "2 / 3"


def test_illegal_clicks_are_explained(person):
    person.start("breakthrough", opponent="human")
    page, note = person.page, person.page.locator("#note")
    page.get_by_role("gridcell", name=re.compile("^c4, empty")).click()
    assert note.inner_text() == "c4 is empty: choose a piece first"
    page.get_by_role("gridcell", name=re.compile("^b2, white")).click()
    page.get_by_role("gridcell", name=re.compile("^f4, empty")).click()
    assert note.inner_text() == "no legal move leads from b2 to f4"
    page.get_by_role("gridcell", name=re.compile("^a6, black")).click()
    assert note.inner_text() == "black at a6 cannot move now"


def test_pieces_are_dragged_also_on_a_flipped_board(person):
    person.start("breakthrough", opponent="human")
    page = person.page
    for plies, (start, end) in enumerate((("b2", "b3"), ("c5", "c4")), 1):
        page.get_by_role("gridcell", name=re.compile(f"^{start},")).hover()
        page.mouse.down()
        page.get_by_role("gridcell", name=re.compile(f"^{end},")).hover()
        page.mouse.up()
        person.wait(plies=plies)
        page.keyboard.press("f")
    assert page.locator(".moves li").all_inner_texts() == ["b2-b3", "c5-c4"]


def test_hint_and_analysis_are_shown(person):
    person.start("connect4", opponent="mcts:simulations=30")
    page = person.page
    page.keyboard.press("h")
    page.locator(".marks .advised").wait_for(state="attached")
    assert page.locator(".status").inner_text().startswith("hint: ")
    page.keyboard.press("a")
    page.keyboard.press("v")
    page.locator(".analysis table").wait_for()
    heading = page.locator(".analysis thead").inner_text()
    assert "visit share" in heading
    assert "value (mean score)" in heading
    assert page.locator(".marks .label").count() > 0
    page.locator(".analysis tbody button").first.click()
    person.wait(plies=2)
    assert page.locator(".graph .point").count() >= 1


def test_a_shared_link_opens_the_game(person):
    person.start("tictactoe", opponent="human")
    person.play_to_the_end()
    page = person.page
    moves = page.locator(".moves li").all_inner_texts()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("m")
    page.get_by_role("button", name="Copy a link to the replay").click()
    page.get_by_text("the link is in the clipboard").wait_for()
    page.goto(page.evaluate("navigator.clipboard.readText()"))
    page.reload()
    page.locator(".game[data-turn]").wait_for()
    assert page.locator(".moves li").all_inner_texts() == moves


@pytest.mark.parametrize("spec", ["hex:board_size=4", "hungry_geese:episode_steps=10", "connect4"])
def test_a_replay_page_plays_without_a_server(browser, tmp_path, spec):
    game = make_game(spec)
    s, actions = game.new(3), []
    while not game.is_terminal(s):
        if game.simultaneous:
            action = [game.legal(s, p)[-1] if game.is_active(s, p) else 0 for p in range(4)]
        else:
            action = game.legal(s)[-1]
        actions.append(action)
        game.step(s, action)
    # A name with "</script>" would end the script of the page if it were not escaped.
    unfinished = Replay(
        game.spec, 3, actions[:-1], None, ("</script>", "b", "c", "d")[: game.num_players]
    )
    file = tmp_path / "game.html"
    file.write_text(replay_page(unfinished, seconds=0.01), encoding="utf-8")
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: problems.append(request.url))  # only that of the file
    page.goto(file.as_uri())
    page.get_by_role("button", name="Play", exact=True).click()
    last = f"{len(actions) - 1} / {len(actions) - 1}"
    page.locator(".stepper output", has_text=last).wait_for()
    assert "</script>" in page.locator(".players li").first.inner_text()
    page.keyboard.press("Home")
    assert page.locator(".stepper output").inner_text() == f"0 / {len(actions) - 1}"
    assert [problem for problem in problems if problem != file.as_uri()] == []
    page.close()


def test_a_long_search_is_stopped_and_its_move_is_seen(stopper):
    stopper.start("hex", {"board_size": "5"}, LONG)
    page = stopper.page
    page.locator(".cells .choice").first.click()
    page.locator(".status", has_text="is thinking").wait_for()
    page.locator(".analysis table").wait_for()
    page.keyboard.press("x")
    stopper.wait(plies=2, turn="person")
    assert page.locator(".moves li").count() == 2
    page.locator(".moves li").first.click()
    assert "simulations in" in page.locator(".analysis").inner_text()


def test_an_analysis_is_stopped_and_its_result_so_far_remains(stopper):
    stopper.start("hex", {"board_size": "5"}, "human")
    page = stopper.page
    page.keyboard.press("a")
    page.locator(".analysis table").wait_for()
    stop = page.get_by_role("button", name="Stop search")
    assert stop.is_enabled()
    page.keyboard.press("x")
    page.locator("button:disabled", has_text="Stop search").wait_for()
    analysis = page.locator(".analysis").inner_text()
    page.keyboard.press("v")
    page.locator(".marks .label").first.wait_for(state="attached")
    assert page.locator(".analysis").inner_text() == analysis
    page.locator(".cells .choice").first.click()  # the next position is analyzed, too
    stopper.wait(plies=1)
    page.locator("button:enabled", has_text="Stop search").wait_for()
    page.keyboard.press("a")
    page.locator("button:disabled", has_text="Stop search").wait_for()


def test_an_agent_that_cannot_stop_pauses_the_game_with_a_note(stopper):
    stopper.start("hex", {"board_size": "5"}, "flat:simulations=1000000")
    page = stopper.page
    note, go = page.locator("#note"), page.get_by_role("button", name="Go")
    page.locator(".cells .choice").first.click()
    for _ in range(5):  # until a stop comes after the search has begun
        page.locator(".status", has_text="is thinking").wait_for()
        page.keyboard.press("x")
        go.wait_for()
        if "before its search began" not in note.inner_text():
            break
        go.click()
        page.wait_for_timeout(500)  # 0.5 s for the process to begin its search
    stopped = "flat:simulations=1000000 did not stop by itself, so its process was ended"
    assert note.inner_text() == stopped
    page.keyboard.press("u")
    stopper.wait(plies=0, turn="person")


def test_a_stop_while_an_agent_compiles_pauses_the_game(stopper):
    stopper.start("tictactoe", opponent="stopping_agents:Compiling")
    page = stopper.page
    page.locator(".cells .choice").nth(4).click()
    page.locator(".status", has_text="compiling tictactoe 3x3 search").wait_for()
    page.keyboard.press("x")
    page.locator("#note", has_text="was stopped while its code was compiled or loaded").wait_for()
    page.get_by_role("button", name="Go").click()
    stopper.wait(plies=2, turn="person")
    assert page.locator(".moves li").all_inner_texts() == ["b2", "a1"]


def test_a_search_in_a_simultaneous_game_is_stopped(stopper):
    stopper.start("tron", {"rows": "6", "columns": "6"}, LONG)
    page = stopper.page
    page.keyboard.press("ArrowUp")
    page.locator("button:enabled", has_text="Stop search").wait_for()
    for plies in (1, 2):
        while stopper.look()["plies"] < plies:
            page.keyboard.press("x")  # stops the search of the opponent
            page.keyboard.press("ArrowUp")


def test_a_tournament_is_followed_while_it_is_played(browser, tmp_path):
    from ludoteca.evaluate.tournament.game_log import GameLog
    from ludoteca.evaluate.tournament.plan import Match, Tournament
    from ludoteca.evaluate.tournament.played_games import PlayedGames

    chromium()
    pytest.importorskip("uvicorn", reason="the arena needs uvicorn: the extra `arena`")
    plan = Tournament(("tictactoe",), ("random", "greedy"), games_per_pair=40, repeats=2)
    folder = tmp_path / "cup"
    folder.mkdir()
    Replay("tictactoe:board_size=3,line=3", 0, [4, 0], None).save(folder / "game_0000.json")
    with GameLog(plan, folder) as log, arena("--runs", str(tmp_path)) as address:
        # Four games with results of `random` (W, D, L), 30 plies and 0.5 s in all.
        log.add(PlayedGames(Match(0, (0, 1), 0), 0, "LLWL", 30, 0.5))
        person = Person(browser.new_page(), address)
        page = person.page
        page.goto(f"{address}#/runs")
        page.get_by_text("4 of 40 games").wait_for()
        rows = page.locator("[data-part=standings] tbody tr")
        assert rows.first.inner_text().split()[0] == "greedy"
        page.get_by_text(
            "Pairs", exact=True
        ).click()  # the section that the user closes stays closed
        log.add(PlayedGames(Match(0, (0, 1), 0), 4, "LD", 14, 0.2))
        page.get_by_text("6 of 40 games").wait_for()
        assert page.locator("[data-part=newest] tbody tr").count() == 6
        assert page.locator("[data-part=pairs] details[open]").count() == 0
        page.get_by_role("button", name="game_0000.json").click()
        page.locator('.game[data-plies="2"]').wait_for()
        page.close()
    assert person.problems == []
