"""Tests of the study of RAVE and GRAVE, and of committed reports against committed results."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.studies.amaf import equal_time, grid
from ludoteca.evaluate.studies.amaf import study as amaf
from ludoteca.evaluate.studies.amaf.grid import agent_spec, play_grid
from ludoteca.evaluate.studies.bandit_policies import findings, plots
from ludoteca.evaluate.studies.bandit_policies import study as bandit_policies
from ludoteca.evaluate.studies.equivalence import study as equivalence
from ludoteca.evaluate.studies.exploration import study as exploration
from ludoteca.evaluate.studies.p_game import study as p_game
from ludoteca.evaluate.studies.playout_policy import study as playout_policy
from ludoteca.evaluate.studies.related_work import study as related_work
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import read_records
from ludoteca.evaluate.studies.ucb_tuned import study as ucb_tuned

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"


@pytest.mark.parametrize(
    "module",
    [
        amaf,
        bandit_policies,
        equivalence,
        exploration,
        p_game,
        playout_policy,
        related_work,
        ucb_tuned,
    ],
    ids=lambda module: module.__name__,
)
def test_committed_report_matches_the_committed_results(module, tmp_path):
    study = replace(module.make_study(), draw=None)
    folder = RESULTS / study.name
    records = read_records(folder, study.parts)
    for part, tasks in study.parts.items():
        assert records[part].keys() == tasks.keys() or part in study.optional_parts
    (tmp_path / "results.json").write_text((folder / "results.json").read_text())
    write_report(study, records, tmp_path, tmp_path)
    assert (tmp_path / "report.md").read_text() == (folder / "report.md").read_text()


def test_bounds_above_the_regret_of_the_worst_arm_are_named():
    rows = [
        {"policy": name, "regret": 10.0, "violations": 0, "distribution": distribution} | bound
        for name, distribution, bound in (
            ("ucb1", "1", {"bound": 50.0, "trivial": 60.0}),
            ("moss", "11", {"bound": 90.0, "trivial": 60.0}),
            ("moss", "2", {"bound": 70.0, "trivial": 60.0}),
        )
    ]
    ucb1, moss = findings.bound_findings(rows)
    assert ucb1.startswith("The bounds of ucb1 are 5.0 to 5.0 times its mean regret")
    assert ucb1.endswith("is above its bound at none of the checkpoints.")
    assert " In 2, 11 the bound is above the regret of always pulling the worst arm" in moss


def test_figures_of_bandits_have_all_curves():
    study = bandit_policies.make_study()
    parts = read_records(RESULTS / study.name, study.parts)
    bounds = plots.draw_bounds(parts["policies"])
    shares = plots.draw_shares(parts["policies"])
    for figure, lines in ((bounds, 3 + 4 + 1), (shares, len(bandit_policies.POLICIES) + 1)):
        used = [axes for axes in figure.axes if axes.axison]
        assert len(used) == 7
        assert all(len(axes.lines) == lines for axes in used)


def test_agents_have_the_constant_and_the_bias():
    game = make_game("tictactoe_large")
    for name in ("rave", "grave"):
        agent = make_agent(agent_spec(name, 0.0, 0.05, 100), game)
        assert (agent.config.amaf, agent.simulations) == (name, 100)
        assert agent._params["policy_params"][0, 0] == 0
        assert agent._params["amaf_weight"][0] == 0.05
    without_amaf = make_agent(agent_spec("none", 0.5, None, 100), game)
    assert without_amaf.config.amaf == ""
    assert without_amaf._params["policy_params"][0, 0] == 0.5
    assert amaf.equivalence(0.05) == pytest.approx(100)  # visits: 1 / (4 * 0.05^2)


@pytest.mark.interpreted
def test_a_grid_has_all_cells(tmp_path):
    content = play_grid(
        tmp_path / "results.json", "tictactoe", ("none", "rave"), (0.0, 2.0), (0.1, 0.3), 4, 2
    )
    cells = [(cell["amaf"], cell["constant"], cell["bias"]) for cell in content["cells"]]
    assert cells == [
        ("none", 0.0, None), ("none", 2.0, None),
        ("rave", 0.0, 0.1), ("rave", 0.0, 0.3), ("rave", 2.0, 0.1), ("rave", 2.0, 0.3),
    ]  # fmt: skip
    assert all(cell["games"] == 2 for cell in content["cells"])
    records = {"tictactoe": content}
    total = amaf.pool(records, amaf="rave", constant=0.0)
    assert total["games"] == 4
    assert total["wins"] == content["cells"][2]["wins"] + content["cells"][3]["wins"]


@pytest.mark.interpreted
def test_at_equal_time_an_agent_has_fewer_simulations_the_more_they_cost(tmp_path, monkeypatch):
    specs = []
    monkeypatch.setattr(grid, "relative_cost", lambda game, spec, rival, seed: 1.6)
    play_match = grid.play_match
    monkeypatch.setattr(
        grid,
        "play_match",
        lambda game, agents, games, seed: (
            specs.append(agents) or play_match(game, agents, games, seed=seed)
        ),
    )
    content = play_grid(
        tmp_path / "results.json", "tictactoe", ("rave",), simulations=8, games=2, equal_time=True
    )
    assert [(cell["cost"], cell["simulations"]) for cell in content["cells"]] == [(1.6, 5)]
    assert [spec.count("simulations=5") for spec in specs[0]] == [1, 0]
    assert [spec.count("simulations=8") for spec in specs[0]] == [0, 1]
    assert amaf.mean_cost({"tictactoe": content}, amaf="rave") == 1.6


@pytest.mark.interpreted
def test_cost_is_relative_to_the_reference_search(monkeypatch):
    now = 0.0

    class Agent:
        def __init__(self, spec, game):
            self.simulations = int(spec.removeprefix("mcts:simulations="))

        def search(self, position):
            nonlocal now
            now += self.simulations

    monkeypatch.setattr(equal_time, "process_time", lambda: now)
    monkeypatch.setattr(equal_time, "make_agent", Agent)
    game = make_game("tictactoe")
    assert equal_time.relative_cost(game, "mcts:simulations=40", "mcts:simulations=5", 1) == 8


def test_the_fastest_search_of_each_position_counts(monkeypatch):
    now = 0.0

    class Agent:
        def __init__(self, seconds):
            self.seconds = seconds  # by position, of each search in turn

        def search(self, position):
            nonlocal now
            now += self.seconds[position].pop()

    monkeypatch.setattr(equal_time, "process_time", lambda: now)
    agents = [Agent([[9, 2, 7, 3, 8], [4, 4, 4, 4, 5]]), Agent([[1] * 5, [3, 2, 2, 2, 9]])]
    assert equal_time.fastest_searches(agents, [0, 1]) == [2 + 4, 1 + 2]


def test_pools_accept_several_values_of_a_setting():
    cell = {"amaf": "rave", "constant": 0.0, "wins": 1, "draws": 0, "games": 2}
    records = {"a": {"cells": [cell | {"bias": bias} for bias in (0.01, 0.05, 0.1)]}}
    assert amaf.pool(records, amaf="rave", bias=(0.01, 0.1)) == {"wins": 2, "draws": 0, "games": 4}


def test_scores_count_draws_as_half():
    assert amaf.score({"wins": 3, "draws": 2, "games": 8}) == 0.5
    assert amaf.is_better({"wins": 70, "draws": 0, "games": 100})
    assert not amaf.is_better({"wins": 55, "draws": 0, "games": 100})


def test_urgencies_are_options_of_the_search():
    game = make_game("tictactoe_large")
    agents = [make_agent(agent_spec("rave", 0.0, 0.1, 9, fpu), game) for fpu in ("", "inf", "0.5")]
    assert [agent.config.amaf_fpu for agent in agents] == [False, True, True]
    assert [float(agent._params["fpu"][0]) for agent in agents] == [math.inf, math.inf, 0.5]


@pytest.mark.interpreted
def test_a_grid_has_a_cell_for_each_urgency(tmp_path):
    content = play_grid(
        tmp_path / "results.json", "tictactoe", ("rave",), simulations=4, games=2,
        fpu=("inf", "0.5"),
    )  # fmt: skip
    assert [cell["fpu"] for cell in content["cells"]] == ["inf", "0.5"]


def test_searches_with_first_play_urgency_play_at_equal_time(tmp_path, monkeypatch):
    measured = []

    def relative_cost(rules, spec, rival, seed):
        measured.append(spec)
        return 2.0 * len(measured)

    played, play_match = [], grid.play_match

    def recorded_match(game, agents, games, seed):
        played.append(agents[0])
        return play_match(game, agents, games, seed=seed)

    monkeypatch.setattr(grid, "relative_cost", relative_cost)
    monkeypatch.setattr(grid, "play_match", recorded_match)
    content = play_grid(
        tmp_path / "results.json", "tictactoe", ("rave",), simulations=8, games=2,
        fpu=("inf", "0.5"), equal_time=True,
    )  # fmt: skip
    kept = [{key: cell[key] for key in ("fpu", "cost", "simulations")} for cell in content["cells"]]
    assert kept == [
        {"fpu": "inf", "cost": 2.0, "simulations": 4},
        {"fpu": "0.5", "cost": 4.0, "simulations": 2},
    ]
    assert measured == [agent_spec("rave", 0.0, 0.1, 8, fpu) for fpu in ("inf", "0.5")]
    assert played == [
        agent_spec("rave", 0.0, 0.1, 4, "inf"),
        agent_spec("rave", 0.0, 0.1, 2, "0.5"),
    ]


def cell(amaf_name, wins, games=200, **settings):
    settings = {"constant": 0.0, "bias": None, **settings}
    return {"amaf": amaf_name, "wins": wins, "draws": 0, "games": games, **settings}


def test_settings_are_tested_against_the_best_constant_of_ucb1():
    cells = [cell("none", 90), cell("none", 100, constant=0.1)]
    cells += [cell("rave", 110), cell("grave", 135), cell("grave", 60)]
    test = amaf.compare_with_ucb1({"cells": cells})
    assert (test["ucb1"], test["best"]) == (cells[1], cells[3])
    # The variances of the means are 0.25 / 199 and 0.675 * 0.325 / 199: z = 0.175 / 0.04857.
    value, low, high = test["difference"]
    assert (value, high - low) == pytest.approx((0.175, 2 * 1.96 * 0.04857), abs=1e-4)
    assert test["p"] == pytest.approx(0.000314, abs=2e-6)
    assert test["corrected"] == pytest.approx(2 * test["p"])  # Holm: that of 60 wins is smaller
    assert (test["better"], test["cells"]) == (1, 3)


def test_equal_cells_are_those_of_the_same_setting():
    cells = [
        cell("rave", 5),
        cell("rave", 6, bias=0.1),
        cell("grave", 6),
        cell("grave", 6, bias=0.1),
    ]
    assert amaf.equal_cells({"cells": cells}) == 1
