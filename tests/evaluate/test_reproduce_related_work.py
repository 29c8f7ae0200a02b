"""Tests of the study of related work: final moves by policy, tuning, and pairs in Tron."""

import json
import math
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.select import BY_POLICY, ROBUST
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.studies import runner
from ludoteca.evaluate.studies.related_work import analysis, decided_games, study
from ludoteca.evaluate.studies.related_work.decided_games import agent_spec, play_decided
from ludoteca.evaluate.studies.related_work.final_policy import play_repeats
from ludoteca.evaluate.studies.related_work.speed import measure_speed
from ludoteca.evaluate.studies.related_work.tron import chosen_constants, play_opponents
from ludoteca.evaluate.studies.related_work.tuning import choose_constants, tune_policy
from ludoteca.evaluate.studies.study import Tasks, make_record, settings_of

SMALL_TRON = "tron:rows=4,columns=4"


def match_result(outcomes: str) -> Any:
    """Result of a match whose games the first agent won (W), lost (L) or drew (D)."""
    wins, losses, draws = (outcomes.count(letter) for letter in "WLD")
    return SimpleNamespace(
        totals=(SimpleNamespace(wins=wins, losses=losses, draws=draws),), seconds=1.0
    )


@pytest.mark.interpreted
def test_the_policy_chooses_the_move_with_the_highest_bound() -> None:
    game = make_game("tictactoe")
    agent: Any = make_agent(
        "mcts:policy=ucb1,policy.alpha=2,simulations=60,action_selection=policy", game
    )
    report = agent.search(game.new(0))
    visits = sum(move.visits for move in report.candidates)
    bounds = {
        move.name: move.mean + math.sqrt(2 * math.log(visits) / move.visits)
        for move in report.candidates
    }
    assert bounds[report.name] == pytest.approx(max(bounds.values()))
    assert sorted(bounds.values())[-2] < max(bounds.values())  # there is no tie


@pytest.mark.interpreted
def test_matches_by_policy_are_repeated(tmp_path: Path) -> None:
    content = play_repeats(tmp_path / "results.json", "tictactoe", 4, 2, 3)
    assert [(cell["seed"], cell["games"]) for cell in content["cells"]] == [(1, 2), (2, 2), (3, 2)]
    agents: list[Any] = [make_agent(spec, make_game("tictactoe")) for spec in content["agents"]]
    assert [agent.config.policy for agent in agents] == ["ucb_tuned", "ucb1"]
    for agent in agents:
        assert (agent.action_selection, agent.config.draw_is_loss) == (BY_POLICY, True)


def test_searches_in_tron_play_the_most_visited_move_after_safe_playouts() -> None:
    spec = agent_spec("ucb1", "policy.alpha=0.5", "seconds=0.1")
    agent: Any = make_agent(spec, make_game("tron"))
    assert (agent.action_selection, agent.config.playout, agent.seconds) == (ROBUST, "safe", 0.1)
    assert agent._params["policy_params"][0, 0] == 0.5


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("WLDDWLWW", {"wins": 4, "losses": 2, "draws": 2, "games": 8}),
        ("D" * 60, {"wins": 0, "losses": 0, "draws": 54, "games": 54}),  # after ten times as many
    ],
)
def test_matches_last_until_enough_games_are_decided(
    outcomes: str, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(game: Any, specs: Any, count: int, *, seed: int, first_game: int) -> Any:
        assert count % 2 == first_game % 2 == 0  # both agents play each seat equally often
        assert seed == 7
        return match_result(outcomes[first_game : first_game + count])

    monkeypatch.setattr(decided_games, "play_match", play)
    cell = play_decided(make_game("tron"), ("a", "b"), 5, 7)
    assert {key: cell[key] for key in expected} == expected


def test_a_tuning_match_ends_early_if_its_constants_cannot_replace_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 20 decided games 15 wins are needed, so that the sixth loss decides."""
    outcomes = {"a": "WL" * 20, "b": "WWWL" * 10}

    def play(game: Any, specs: tuple[str, str], count: int, *, seed: int, first_game: int) -> Any:
        name = "a" if "alpha=0.1" in specs[0] else "b"
        return match_result(outcomes[name][first_game : first_game + count])

    monkeypatch.setattr(decided_games, "play_match", play)
    arguments = ("tron", "ucb1", "policy.alpha=2", ("policy.alpha=0.1", "policy.alpha=1"))
    full = tune_policy(tmp_path / "full.json", *arguments, "simulations=3", 20)
    early = tune_policy(tmp_path / "early.json", *arguments, "simulations=3", 20, early_stop=True)
    assert [cell["games"] for cell in full["cells"]] == [20, 20]
    assert [cell["games"] for cell in early["cells"]] == [12, 20]
    assert early["chosen"] == full["chosen"] == "policy.alpha=1"


def test_constants_replace_the_reference_only_if_their_interval_lies_above_one_half() -> None:
    def cells(*wins: int) -> list[dict[str, Any]]:
        return [{"constants": f"c{k}", "wins": x, "losses": 100 - x} for k, x in enumerate(wins)]

    assert choose_constants(cells(61, 70, 30), "reference") == "c1"
    assert choose_constants(cells(58, 30), "reference") == "reference"


@pytest.mark.interpreted
def test_pairs_play_with_the_tuned_constants(tmp_path: Path) -> None:
    tuning = tune_policy(
        tmp_path / "tuning.json", SMALL_TRON, "ucb1", "policy.alpha=2", ("policy.alpha=0.5",),
        "simulations=3", 2,
    )  # fmt: skip
    assert [cell["constants"] for cell in tuning["cells"]] == ["policy.alpha=0.5"]
    assert tuning["chosen"] == choose_constants(tuning["cells"], "policy.alpha=2")
    content = json.loads((tmp_path / "tuning.json").read_text())
    content["cells"][0] |= {"wins": 90, "losses": 10}
    (tmp_path / "tuning.json").write_text(json.dumps(content))
    pairs = play_opponents(
        tmp_path / "pairs.json", SMALL_TRON, "moss", ("ucb1",), (tmp_path / "tuning.json",),
        "simulations=3", 2,
    )  # fmt: skip
    (cell,) = pairs["cells"]
    assert cell["agents"] == (
        agent_spec("moss", "", "simulations=3"),
        agent_spec("ucb1", "policy.alpha=0.5", "simulations=3"),
    )
    assert cell["wins"] + cell["losses"] >= 2


def test_every_pair_of_policies_plays_once_after_the_tuning() -> None:
    tasks = study.make_study().parts["tron"]
    pairs = [task for task in tasks.values() if "opponents" in task.options]
    played = [
        (task.options["policy"], rival) for task in pairs for rival in task.options["opponents"]
    ]
    assert sorted(map(sorted, played)) == sorted(map(sorted, combinations(study.POLICIES, 2)))
    assert {task.requires for task in pairs} == {
        tuple(f"tuning-{policy}" for policy in study.GRIDS)
    }


def test_the_full_study_has_the_size_of_the_paper() -> None:
    for task in study.make_study(full=True).parts["tron"].values():
        assert (task.options["budget"], task.options["decided"]) == ("seconds=0.1", 10_000)
        assert task.options["game"] == "tron:rows=20,columns=20"
    with pytest.raises(ValueError, match="fast and full exclude each other"):
        study.make_study(fast=True, full=True)


def test_matches_with_the_time_of_the_paper_run_only_if_they_are_named() -> None:
    made = study.make_study()
    tasks = made.parts[study.TIMED_PART]
    assert made.optional_parts == {study.TIMED_PART}
    assert {task.options["budget"] for task in tasks.values()} == {"seconds=0.1"}
    pairs = [
        (task.options["policy"], *task.options["opponents"])
        for task in tasks.values()
        if "opponents" in task.options
    ]
    assert sorted(pairs) == sorted(combinations(study.POLICIES, 2))
    tunings = [name for name, task in tasks.items() if "grid" in task.options]
    assert len(tunings) == sum(len(grid) for _, grid in study.GRIDS.values())
    assert all(
        set(task.requires) == set(tunings) for task in tasks.values() if "opponents" in task.options
    )
    for other in (study.make_study(full=True), study.make_study(fast=True)):
        assert study.TIMED_PART not in other.parts
        assert other.optional_parts == set()


def test_optional_parts_are_not_among_all_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = list[str]()
    monkeypatch.setattr(runner, "run_part", lambda part, *rest: ran.append(part))
    monkeypatch.setattr(runner, "write_report", lambda *args: None)
    runner.run_study(study.make_study(), tmp_path / "out", tmp_path)
    assert ran == ["final_policy", "tron", "speed"]
    runner.run_study(study.make_study(), tmp_path / "out", tmp_path, part=study.TIMED_PART)
    assert ran[3:] == [study.TIMED_PART]


def test_kept_results_of_required_tasks_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair plays with the constants of tunings whose results are in the report only."""
    made, out, runs = study.make_study(), tmp_path / "out", tmp_path / "runs"
    tasks = made.parts[study.TIMED_PART]
    tunings = {name: task for name, task in tasks.items() if "grid" in task.options}
    pairs = [name for name in tasks if name not in tunings]
    records = {
        name: {"settings": settings_of(task), "policy": task.options["policy"], "cells": []}
        for name, task in tasks.items()
        if name != pairs[-1]
    }
    out.mkdir()
    (out / "results.json").write_text(json.dumps({study.TIMED_PART: records}))
    ran = list[list[str]]()

    def run_tasks(tasks: Tasks, folder: Path, **options: Any) -> None:
        ran.append([name for name, task in tasks.items() if not runner.is_finished(task, folder)])

    monkeypatch.setattr(runner, "run_tasks", run_tasks)
    monkeypatch.setattr(runner, "write_report", lambda *args: None)
    for keep in (True, False):
        runner.run_study(made, out, runs, part=study.TIMED_PART, keep=keep)
    # Nothing else is finished: of the other pairs there are no files.
    assert ran == [[pairs[-1]], pairs]
    for name, task in tunings.items():
        assert make_record(task, runs / "related_work") == records[name]


def test_constants_are_chosen_from_all_tunings_of_a_policy() -> None:
    tunings = [
        {
            "policy": policy, "reference": "policy.alpha=2",
            "cells": [{"constants": f"policy.alpha={alpha}", "wins": wins, "losses": 100 - wins}],
        }
        for policy, alpha, wins in (("ucb1", 1, 62), ("ucb1", 0.5, 70), ("ucb_v", 3, 55))
    ]  # fmt: skip
    expected = {"ucb1": "policy.alpha=0.5", "ucb_v": "policy.alpha=2"}
    assert chosen_constants(tunings) == expected


def test_constants_at_the_ends_of_their_grids_are_named() -> None:
    def tuning(policy: str, chosen: str, *grid: str) -> dict[str, Any]:
        cells = [{"constants": constants} for constants in grid]
        return {"policy": policy, "reference": grid[0], "chosen": chosen, "cells": cells}

    records = {
        "a": tuning("ucb1", "policy.alpha=0.1", "policy.alpha=0.1", "policy.alpha=1"),
        "b": tuning("moss", "policy.c=2", "policy.c=1", "policy.c=2", "policy.c=3"),
        "c": tuning(
            "ucb_v", "policy.z=3,policy.c=1", "policy.z=1,policy.c=1", "policy.z=3,policy.c=1"
        ),
    }
    assert analysis.constants_at_ends(records) == [
        "alpha = 0.1 of ucb1, the lowest of its grid",
        "z = 3 of ucb_v, the highest of its grid",
    ]


def test_core_hours_of_timed_matches() -> None:
    """90 decided of 100 games of 50 plies, in which two agents think for 0.36 s: 1 hour."""
    assert analysis.core_hours({"mean_plies": 50}, 90, 0.36) == pytest.approx(1)


@pytest.mark.interpreted
def test_the_speed_of_each_policy_is_measured(tmp_path: Path) -> None:
    content = measure_speed(
        tmp_path / "speed.json", SMALL_TRON, ("ucb1", "moss"), 0.01, games=2, simulations=2
    )
    assert content["simulations"].keys() == {"ucb1", "moss"}
    assert all(count >= 1 for count in content["simulations"].values())
    assert content["mean_plies"] > 0


def test_shares_have_intervals_and_are_bold_if_these_decide() -> None:
    texts = [
        analysis.share_text({"wins": wins, "losses": 60 - wins, "draws": 0, "games": 60})
        for wins in (30, 45, 15)
    ]
    assert texts == ["50 (38 to 62)", "**75 (63 to 84)**", "**25 (16 to 37)**"]


def record(policy: str, **wins: int) -> dict[str, Any]:
    cells = [
        {"opponent": opponent, "wins": x, "losses": 100 - x, "draws": 10, "games": 110}
        for opponent, x in wins.items()
    ]
    return {"policy": policy, "cells": cells}


def test_shares_in_two_rankings_are_correlated_by_rank() -> None:
    shares = {"a": 70, "b": 60, "c": 50, "d": 20}
    other = {"a": 90, "b": 40, "c": 45, "d": 10}  # b and c change places: 1 - 6 * 2 / (4 * 15)
    rows, others = (
        [
            {"policy": name, "total": {"wins": wins, "losses": 100 - wins}}
            for name, wins in totals.items()
        ]
        for totals in (shares, other)
    )
    rho, p = analysis.correlation_of_shares(rows, others[::-1])
    assert rho == pytest.approx(0.8)
    assert p == pytest.approx(0.2)  # of the t approximation, 1.8856 with 2 degrees of freedom


def test_the_ranking_counts_each_match_for_both_policies() -> None:
    records = {"a": record("a", b=70, c=52), "b": record("b", c=45)}
    rows = analysis.ranking(records, ("c", "b", "a"))
    wins = {row["policy"]: row["total"]["wins"] for row in rows}
    assert list(wins.items()) == [("a", 122), ("c", 103), ("b", 75)]
    assert [(row["beaten"], row["lost_to"]) for row in rows] == [(1, 0), (0, 0), (0, 1)]
    assert analysis.pool_against(rows, ("a", "b"), ("c",))["wins"] == 97
    assert analysis.top_verdict(rows, "a") == "inconclusive"
    assert analysis.top_verdict(rows, "a", ["c"]) == "confirmed"
    assert analysis.top_verdict(rows, "b") == "contradicted"


def test_the_advantage_is_larger_if_the_interval_of_the_difference_lies_above_zero() -> None:
    few, many = ({"wins": wins, "draws": 0, "games": 300} for wins in (180, 150))
    fall = analysis.compare_budgets(few, many)
    assert fall["value"] == pytest.approx(0.1)
    assert fall["verdict"] == "confirmed"
    assert analysis.compare_budgets(many, few)["verdict"] == "contradicted"
    assert analysis.compare_budgets(few, few)["verdict"] == "inconclusive"
