"""Tests of the study of equivalence to UCB-alpha2."""

from pathlib import Path
from typing import Any

import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.select import ACTION_SELECTIONS
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.studies.equivalence.analysis import (
    compare,
    extremes,
    names_by_verdict,
    records_until,
    verdict,
)
from ludoteca.evaluate.studies.equivalence.matches import RIVAL, agent_spec, play_candidates
from ludoteca.evaluate.studies.equivalence.study import (
    BLOCKS,
    CANDIDATES,
    CONFIRMATION_GAMES,
    CONFIRMATION_SEED,
    CONFIRMED,
    MARGIN,
    OPTIONS,
    make_study,
)
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAMES
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import read_records

RESULTS = Path(__file__).resolve().parents[2] / "docs/results/equivalence"


def record(game: str, wins: dict[str, int], games: int) -> dict[str, Any]:
    """Return a record with one match of each candidate, by the wins of each."""
    cells = [
        {"candidate": candidate, "wins": count, "draws": 0, "games": games}
        for candidate, count in wins.items()
    ]
    return {"game": game, "cells": cells}


@pytest.mark.interpreted
def test_matches_have_all_candidates(tmp_path: Path) -> None:
    candidates = ("policy=ucb1,policy.alpha=2", "policy=ucb1,mast=greedy")
    content = play_candidates(tmp_path / "results.json", "tictactoe", candidates, OPTIONS, 4, 2)
    assert [cell["candidate"] for cell in content["cells"]] == list(candidates)
    assert all(cell["games"] == 2 for cell in content["cells"])


def test_specs_are_those_of_the_thesis() -> None:
    game = make_game("tictactoe_large")
    for options in (*CANDIDATES.values(), RIVAL):
        agent: Any = make_agent(agent_spec(options, OPTIONS, 1_000), game)
        assert agent.simulations == 1_000
        assert agent.action_selection == ACTION_SELECTIONS.index("mean")
        assert agent.config.draw_is_loss
        assert agent.config.policy == ("ucb_alpha2" if options == RIVAL else "ucb1")


def test_tasks_of_a_game_have_different_games() -> None:
    for game in GAMES:
        tasks = [t.options for t in make_study().tasks.values() if t.options["game"] == game]
        played = {
            seed: [
                number
                for options in tasks
                for number in range(options["first_game"], options["first_game"] + options["games"])
                if options["seed"] == seed
            ]
            for seed in (1, CONFIRMATION_SEED)
        }
        assert played[1] == list(range(sum(BLOCKS.values())))
        # The confirmation has as many games, of which none is one of the first experiment.
        assert played[CONFIRMATION_SEED] == list(range(CONFIRMATION_GAMES))
        assert len(tasks) == len(BLOCKS) + 1
    assert sum(BLOCKS.values()) == CONFIRMATION_GAMES


def test_the_confirmation_plays_the_candidates_that_were_found_equivalent() -> None:
    study = make_study()
    first = read_records(RESULTS, study.parts)["matches"]
    named = names_by_verdict(compare(first, CANDIDATES, MARGIN))
    assert set(named["equivalent"]) == set(CONFIRMED)
    for task in study.parts["confirmation"].values():
        assert task.options["candidates"] == tuple(CANDIDATES[name] for name in CONFIRMED)


def test_a_look_has_the_games_until_then() -> None:
    blocks = {"a": (0, 100), "b": (100, 50), "c": (150, 50)}
    records: dict[str, Any] = {
        name: {"settings": {"first_game": first, "games": games}}
        for name, (first, games) in blocks.items()
    }
    looks = {games: set(records_until(records, games)) for games in (99, 100, 150, 200)}
    assert looks == {99: set(), 100: {"a"}, 150: {"a", "b"}, 200: {"a", "b", "c"}}


@pytest.mark.parametrize(
    ("score", "p_equivalent", "p_different", "expected"),
    [
        (0.50, 0.01, 0.90, "equivalent"),
        (0.52, 0.01, 0.01, "equivalent"),
        (0.60, 0.90, 0.01, "stronger"),
        (0.40, 0.90, 0.01, "weaker"),
        (0.53, 0.10, 0.10, "inconclusive"),
    ],
)
def test_verdicts_by_p_values(
    score: float, p_equivalent: float, p_different: float, expected: str
) -> None:
    assert verdict(score, p_equivalent, p_different) == expected


def test_candidates_are_compared_over_all_games_with_a_correction() -> None:
    wins = {"a": 50, "b": 80, "c": 20, "d": 57}
    records = {
        f"{game}-{first}": record(game, wins, 100)
        for game in ("breakthrough", "atari_go") for first in (0, 100)
    }  # fmt: skip
    rows = compare(records, {name: name for name in wins}, MARGIN)
    assert rows["a"]["games"] == 400
    assert rows["a"]["by_game"]["atari_go"] == {"wins": 100, "draws": 0, "games": 200}
    # Of 400 games the standard error is 2.5 %: z = 2 on both sides, p = 0.0228, four candidates.
    assert rows["a"]["p_equivalent"] == pytest.approx(4 * 0.0228, abs=0.001)
    assert names_by_verdict(rows) == {
        "equivalent": [], "stronger": ["b", "d"], "weaker": ["c"], "inconclusive": ["a"],
    }  # fmt: skip


def test_extremes_are_the_games_with_the_lowest_and_the_highest_score() -> None:
    wins = {"atari_go": 5, "breakthrough": 2, "free_for_all": 3}
    totals = {game: {"wins": n, "draws": 2, "games": 10} for game, n in wins.items()}
    assert extremes(totals) == [("breakthrough", 0.3), ("atari_go", 0.6)]


def test_a_fast_report_has_all_verdicts(tmp_path: Path) -> None:
    study = make_study(fast=True)
    about = {"date": "2026-01-01T00:00:00", "cpu": "a processor", "cores": 1}

    def records_of(part: str, wins: dict[str, int]) -> dict[str, Any]:
        return {
            name: record(task.options["game"], wins, 4)
            | {"settings": task.settings, "seconds": 1.0, "about": about}
            for name, task in study.parts[part].items()
        }

    wins = {options: k % 5 for k, options in enumerate(CANDIDATES.values())}
    first = records_of("matches", wins)
    again = records_of("confirmation", {CANDIDATES[name]: 4 for name in CONFIRMED})
    write_report(study, {"matches": first, "confirmation": {}}, tmp_path, tmp_path)
    without = (tmp_path / "report.md").read_text()
    assert "## Conclusions" not in without
    assert all(f"| {name} | 32 |" in without for name in CANDIDATES)
    write_report(study, {"matches": first, "confirmation": again}, tmp_path, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "A fast run" in text
    # The conclusions on these candidates are those of the confirmation, which they win.
    stronger = next(line for line in text.splitlines() if line.startswith("- **Stronger**"))
    assert all(name in stronger for name in CONFIRMED)
    assert all(text.count(f"| {name} | 32 |") == 2 for name in CONFIRMED)
