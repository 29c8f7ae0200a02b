"""Tests of the studies of exploration factors and of softmax playouts, with their reports."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.agents.move_groups import find_move_groups
from ludoteca.agents.playout_weights import save_playout_weights
from ludoteca.agents.registry import make_agent
from ludoteca.agents.softmax_playouts import find_move_features
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.studies.exploration import matches, study
from ludoteca.evaluate.studies.playout_policy import study as playout_study
from ludoteca.evaluate.studies.playout_policy.matches import play_methods


@pytest.mark.interpreted
def test_matches_have_the_control_and_all_options(tmp_path: Path) -> None:
    options = ("exploration=linear", "groups=row")
    content = matches.play_options(
        tmp_path / "results.json", "tictactoe", options, (2.0, 0.2), 0.5, 4, 2
    )
    names = [(cell["option"], cell["alpha"]) for cell in content["cells"]]
    assert names == [(x, alpha) for alpha in (2.0, 0.2) for x in ("factor", *options)]
    assert all(cell["games"] == 2 for cell in content["cells"])


def test_the_control_halves_the_constant() -> None:
    game = make_game("tictactoe")
    agents: list[Any] = [make_agent(matches.agent_spec(a, 10), game) for a in (2.0, 2.0 * 0.5**2)]
    constants = [float(agent._params["policy_params"][0, 0]) ** 0.5 for agent in agents]
    assert constants[1] == pytest.approx(constants[0] / 2)


@pytest.mark.parametrize("name", study.GROUPS_BY_GAME)
def test_every_game_has_its_groups(name: str) -> None:
    for option in study.GROUPS_BY_GAME[name]:
        assert find_move_groups(option.removeprefix("groups="), make_game(name))


def test_verdicts_need_an_interval_for_all_comparisons() -> None:
    def record(wins: int) -> dict[str, Any]:
        return {
            "cells": [
                {"option": "factor", "alpha": alpha, "wins": wins, "draws": 0, "games": 100}
                for alpha in study.ALPHAS
            ]
        }

    for wins, verdict in ((75, "helps"), (60, "inconclusive"), (25, "harms")):
        rows = study.verdicts({"tictactoe_large": record(wins)})
        assert [row["verdict"] for row in rows] == [verdict] * len(study.ALPHAS)


def test_the_confidence_of_a_verdict_counts_the_differences_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    confidences = []

    def interval(*arguments: Any) -> tuple[float, float]:
        confidences.append(arguments[-1])
        return 0.4, 0.6

    monkeypatch.setattr(study, "score_interval", interval)
    monkeypatch.setattr(study, "difference_interval", interval)
    cells = [
        {"option": option, "alpha": alpha, "wins": 5, "draws": 0, "games": 10}
        for option in ("factor", *study.OPTIONS, *study.GROUPS)
        for alpha in study.ALPHAS
    ]
    rows = study.verdicts({"tictactoe_large": {"cells": cells}})
    count = sum((row["verdict"] != "") + (row["against_control"] != "") for row in rows)
    assert count == 30
    assert confidences == pytest.approx([1 - 0.05 / count] * count)


def test_verdicts_on_playouts_need_all_seeds() -> None:
    def matches_of(*wins: int) -> list[dict[str, int]]:
        return [{"wins": each, "draws": 0, "games": 100} for each in wins]

    mean, low, high, verdict = playout_study.over_seeds(matches_of(65, 44, 59))
    assert mean == pytest.approx(0.56)
    # Student's t with 2 degrees of freedom: 4.3027 s / sqrt(3), s = 0.10817.
    assert (low, high) == pytest.approx((0.56 - 0.26870, 0.56 + 0.26870), abs=1e-4)
    assert verdict == "inconclusive"
    assert playout_study.over_seeds(matches_of(85, 76, 81))[3] == "helps"


def test_differences_to_the_control_have_the_variance_of_both_scores() -> None:
    total, control = ({"wins": w, "draws": d, "games": 400} for w, d in ((240, 0), (160, 80)))
    low, high = study.difference_interval(total, control)
    # 0.6 - 0.5 with variances 0.24 / 400 and (0.25 - 0.2 / 4) / 400
    half_width = 1.959964 * (0.24 / 400 + 0.2 / 400) ** 0.5
    assert (low, high) == pytest.approx((0.1 - half_width, 0.1 + half_width), abs=1e-6)


@pytest.mark.interpreted
def test_softmax_playouts_play_at_equal_simulations_and_at_equal_cpu_time(tmp_path: Path) -> None:
    spec, file = "breakthrough:rows=5,columns=2", tmp_path / "balancing.safetensors"
    game = make_game(spec)
    save_playout_weights(file, game, np.zeros(find_move_features(game).num_features))
    content = play_methods(tmp_path / "results.json", spec, (file,), 4, 2, speed_positions=4)
    equal, cpu_time = content["cells"]
    assert (equal["method"], equal["budget"]) == ("balancing", "simulations")
    assert (equal["opponent_simulations"], equal["games"]) == (4, 2)
    ratio = content["uniform_simulations_per_second"] / cpu_time["simulations_per_second"]
    assert cpu_time["opponent_simulations"] == round(4 * ratio)
