"""Tests of the study `ggp` with some games played again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.ggp import encounters
from ludoteca.evaluate.studies.ggp import study as ggp
from ludoteca.evaluate.studies.ggp.repeated_games import replace_games, tournament_of_games
from ludoteca.evaluate.tournament import report as tournament_report
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.results import Results


def constant_results(tournament: Tournament, outcome: int, plies: int = 6) -> Results:
    """Return results in which each game has the same outcome and number of plies."""
    shape = (len(tournament.games), len(tournament.pairs), tournament.repeats)
    outcomes = np.full((*shape, tournament.games_per_match), outcome, np.int8)
    total = np.full(shape[:2], plies * tournament.games_per_pair)
    return Results(tournament, outcomes, total, np.ones(shape[:2]))


def test_only_the_results_of_the_repeated_games_are_replaced() -> None:
    games = ("tictactoe", "breakthrough", "connect4")
    tournament = Tournament(games, ("random", "mcts:simulations=1", "mcts:simulations=2"), 6, 3)
    part = tournament_of_games(tournament, ("connect4",))
    assert len(part.games) == 1
    match = next(iter(part.matches()))
    original = next(m for m in tournament.matches() if m.game == 2)
    assert part.match_seed(match) == tournament.match_seed(original)
    merged = replace_games(constant_results(tournament, 1), constant_results(part, 0, plies=9))
    assert merged.tournament == tournament
    assert merged.wins().sum((1, 2)).tolist() == [18, 18, 0]
    assert merged.draws()[2, 0, 1] == 6
    assert merged.by_repeat.wins.sum((1, 2)).tolist() == [18, 18, 0]
    assert merged.by_repeat.losses.sum() == 0
    assert {(p.game, p.mean_plies) for p in merged.pair_results} == {(0, 6), (1, 6), (2, 9)}


def test_other_tournaments_and_unknown_games_are_refused() -> None:
    tournament = Tournament(("tictactoe", "connect4"), ("random", "mcts:simulations=1"), 6, 3)
    other = Tournament(("tictactoe",), ("random", "mcts:simulations=2"), 6, 3)
    with pytest.raises(ValueError, match="must differ only in their games"):
        replace_games(constant_results(tournament, 1), constant_results(other, 1))
    with pytest.raises(ValueError, match="games must be among tictactoe, connect4, got hex"):
        tournament_of_games(tournament, ("hex",))


def test_the_command_plays_games_again_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = list[tuple[str, ...]]()

    def run(tournament: Tournament, folder: Path, **options: Any) -> Results:
        played.append(tournament.games)
        return constant_results(tournament, 1 if len(tournament.games) == 8 else -1)

    monkeypatch.setattr(ggp, "run_tournament", run)
    monkeypatch.setattr(encounters, "compared_boxes", lambda *args, **options: b"figure")
    monkeypatch.setattr(tournament_report, "draw_figures", lambda results, analysis: {})
    command = ["ggp", "--fast", "--out", str(tmp_path), "--processes", "1"]
    assert main(command) == 0
    before = json.loads((tmp_path / "comparison.json").read_text())
    assert main([*command, "--games", "free_for_all"]) == 0
    assert [len(games) for games in played] == [8, 8, 1, 1]
    after = json.loads((tmp_path / "comparison.json").read_text())
    for simulations in ("100", "1000"):
        old, new = before["wins"][simulations], after["wins"][simulations]
        assert old[:7] == new[:7]
        assert new[7] == old[7][::-1]
    (run_again,) = after["about"].pop("games_played_again")
    assert run_again["games"] == ["free_for_all"]
    assert after["about"] == before["about"]
    for page in ("report.md", "100/report.md", "1000/report.md"):
        assert "free_for_all played again by `" in (tmp_path / page).read_text()
    assert main([*command, "--stages", "1000"]) == 0
    assert [len(games) for games in played[4:]] == [8]
    assert json.loads((tmp_path / "comparison.json").read_text())["wins"]["1000"][7] == old[7]
    assert ". 1000 played again by `" in (tmp_path / "report.md").read_text()
    assert main([*command, "--stages", "10"]) == 2
