"""Tests that our rule sheets have the rules of our games, both in GGP-Base and compiled."""

import io
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ludoteca.envs.gdl.interpreter import read_interpreter
from ludoteca.envs.gdl.own_sheets import GAME_SHEETS, find_sheet, game_sheet, sheet_names
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import make_machine
from ludoteca.evaluate.gdl.traces import TracePosition, read_trace

GOLDEN = Path(__file__).parents[1] / "golden" / "gdl_traces.zip"
names = pytest.mark.parametrize("name", GAME_SHEETS)


@cache
def golden_trace(name: str) -> tuple[TracePosition, ...]:
    """Return the games of a sheet that GGP-Base played; see tests/oracles/record_gdl.py."""
    with zipfile.ZipFile(GOLDEN) as archive:
        return tuple(read_trace(io.BytesIO(archive.read(f"{name}.jsonl"))))


def test_every_sheet_is_in_the_table():
    others = {
        "dice_race", "eight_puzzle", "kriegspiel_tictactoe", "kuhn_poker", "leduc_poker",
        "prisoners_dilemma", "three_in_line",
    }  # fmt: skip
    assert set(GAME_SHEETS) | others == set(sheet_names())
    assert all(sheet.path == find_sheet(name) for name, sheet in GAME_SHEETS.items())
    with pytest.raises(ValueError, match=r"no file 'breakthru'.*breakthrough"):
        find_sheet("breakthru")


def test_other_sizes_have_no_sheet():
    assert game_sheet(make_game("hex")) is GAME_SHEETS["hex"]
    with pytest.raises(ValueError, match="board_size=11"):
        game_sheet(make_game("hex:board_size=5"))
    with pytest.raises(ValueError, match="no rule sheet for hungry_geese"):
        game_sheet(make_game("hungry_geese"))


@names
def test_actions_of_the_game_have_different_terms(name):
    sheet = GAME_SHEETS[name]
    terms = [sheet.term(action) for action in sheet.game.action_names]
    assert len(set(terms)) == len(terms)
    with pytest.raises(ValueError, match="has no action 'nonsense'"):
        sheet.term("nonsense")


@names
@pytest.mark.interpreted
def test_game_follows_the_games_that_ggp_base_played_by_the_sheet(name):
    sheet, plies = GAME_SHEETS[name], 0
    game = sheet.game
    action_of = {sheet.term(action): k for k, action in enumerate(game.action_names)}
    for position in golden_trace(name):
        if position.ply == 0:
            s = game.new()
        assert set(position.state) == set(sheet.state(s)), position
        assert position.terminal == game.is_terminal(s), position
        if position.terminal:
            scores = np.zeros(2)
            game.returns(s, scores)
            assert [goal / 50 - 1 for goal in position.goals] == scores.tolist(), position
            continue
        if game.simultaneous:
            legal = [game.legal(s, player) for player in range(2)]
            actions = [action_of[move] for move in position.moves]
        else:
            player = game.player(s)
            legal = [[], []]
            legal[player] = game.legal(s)
            assert position.legal[1 - player] == ("noop",), position
            actions = action_of[position.moves[player]]
        for moves, own_actions in zip(position.legal, legal, strict=True):
            assert {action_of[move] for move in moves if move != "noop"} == set(own_actions)
        with np.errstate(over="ignore"):
            game.step(s, np.array(actions) if game.simultaneous else actions)
        plies += 1
    assert plies > 5


SLOW_SHEETS = {"connect4", "hex", "othello"}
by_speed = pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in SLOW_SHEETS else n for n in sheet_names()],
)


@by_speed
def test_compiled_sheet_follows_the_games_that_ggp_base_played(name):
    comparison = compare_trace(make_machine(find_sheet(name)), golden_trace(name))
    assert comparison.differences == ()
    assert comparison.games > 1
    assert comparison.positions == len(golden_trace(name)) > 10


@by_speed
def test_interpreted_sheet_follows_the_games_that_ggp_base_played(name):
    machine = InterpretedMachine(read_interpreter(find_sheet(name)))
    comparison = compare_trace(machine, golden_trace(name))
    assert comparison.differences == ()
    assert comparison.positions == len(golden_trace(name)) > 10
