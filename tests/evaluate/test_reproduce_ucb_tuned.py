"""Tests of the study of readings of UCB-Tuned's formula."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.studies.equivalence.matches import agent_spec
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.ucb_tuned.analysis import compare, wins_of
from ludoteca.evaluate.studies.ucb_tuned.matches import play_readings
from ludoteca.evaluate.studies.ucb_tuned.study import OPPONENTS, OPTIONS, READINGS, make_study

READING = "policy=ucb_tuned"


def test_readings_differ_only_in_the_bound_and_the_scale() -> None:
    game, found = make_game("tictactoe_large"), set()
    for options, _ in READINGS.values():
        agent: Any = make_agent(agent_spec(options, OPTIONS, 100), game)
        assert (agent.config.policy, agent.config.draw_is_loss) == ("ucb_tuned", True)
        found.add(tuple(agent._params["policy_params"][0, :2]))
    assert found == {(0.25, 1), (1e6, 1), (0.25, 100), (1e6, 100)}


def test_the_opponents_are_those_of_the_thesis() -> None:
    tasks = make_study().tasks.values()
    assert {task.options["simulations"] for task in tasks} == {100, 1_000}
    assert len(OPPONENTS) == len(thesis.POLICIES) - 1
    assert "policy=ucb_tuned" not in OPPONENTS.values()


@pytest.mark.interpreted
def test_each_reading_plays_each_opponent(tmp_path: Path) -> None:
    readings, opponents = (READING, "policy=ucb_tuned,policy.scale=100"), ("policy=moss",)
    content = play_readings(
        tmp_path / "results.json", "tictactoe", readings, opponents, OPTIONS, 4, 2
    )
    assert [(cell["reading"], cell["opponent"], cell["games"]) for cell in content["cells"]] == [
        (reading, "policy=moss", 2) for reading in readings
    ]


def record(game: str, wins: dict[str, int], simulations: int = 100) -> dict[str, Any]:
    """Return a record in which the reading wins some of 300 games against each opponent."""
    cells = [
        {"reading": READING, "opponent": OPPONENTS[name], "wins": won, "games": 300}
        for name, won in wins.items()
    ]
    return {"game": game, "settings": {"simulations": simulations}, "cells": cells}


def test_shares_are_compared_with_the_thesis() -> None:
    """In the thesis UCB-Tuned wins 500 of 1,200 games of Atari Go at 100 simulations."""
    same = record("atari_go", {"UCB": 120, "ETC": 130, "alpha1": 120, "alpha2": 130})
    result = compare({"a": same}, READING, 100, OPPONENTS)
    assert (result.share, result.thesis) == pytest.approx((500 / 1200, 500 / 1200))
    assert (result.contains_zero, result.differing, result.games) == (True, 0, 1200)
    half = 1.96 * np.sqrt(2 * 500 / 1200 * 700 / 1200 / 1200)
    assert (result.low, result.high) == pytest.approx((-half, half), abs=1e-4)
    more = record("atari_go", {"UCB": 150, "ETC": 150, "alpha1": 150, "alpha2": 150})
    result = compare({"a": more}, READING, 100, OPPONENTS)
    assert (result.low > 0, result.differing) == (True, 1)
    # Against UCB alone it wins 45.0 % there (table 4.2).
    against_ucb = compare({"a": more}, READING, 100, {"UCB": OPPONENTS["UCB"]})
    assert (against_ucb.share, against_ucb.thesis) == pytest.approx((0.5, 0.45), abs=0.001)
    assert against_ucb.games == 300


def test_only_records_with_the_simulations_count() -> None:
    records = {"a": record("atari_go", {"UCB": 9}), "b": record("atari_go", {"UCB": 8}, 1_000)}
    assert wins_of(records, READING, 1_000, (OPPONENTS["UCB"],)) == {"atari_go": (8, 300)}


def test_a_fast_report_has_all_readings(tmp_path: Path) -> None:
    study = make_study(fast=True)
    about = {"date": "2026-01-01T00:00:00", "cpu": "a processor", "cores": 1}
    records = {}
    for name, task in study.tasks.items():
        cells = [
            {"reading": reading, "opponent": opponent, "wins": 1, "games": 2}
            for reading in task.options["readings"]
            for opponent in task.options["opponents"]
        ]
        settings = {"simulations": task.options["simulations"]}
        common = {"game": task.options["game"], "settings": settings, "seconds": 1.0}
        records[name] = {**common, "cells": cells, "about": about}
    write_report(study, {"matches": records}, tmp_path, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "A fast run" in text
    assert all(text.count(f"| {name} | ") == 4 for name in READINGS)
