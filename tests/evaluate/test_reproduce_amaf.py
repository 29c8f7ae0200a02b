"""Tests of the study of RAVE and GRAVE, and of committed reports against committed results."""

from dataclasses import replace
from pathlib import Path

import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.studies.amaf import study as amaf
from ludoteca.evaluate.studies.amaf.grid import agent_spec, play_grid
from ludoteca.evaluate.studies.bandit_policies import plots
from ludoteca.evaluate.studies.bandit_policies import study as bandit_policies
from ludoteca.evaluate.studies.exploration import study as exploration
from ludoteca.evaluate.studies.p_game import study as p_game
from ludoteca.evaluate.studies.playout_policy import study as playout_policy
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import read_records

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"


@pytest.mark.parametrize(
    "module", [amaf, bandit_policies, exploration, p_game, playout_policy], ids=lambda m: m.__name__
)
def test_committed_report_matches_the_committed_results(module, tmp_path):
    study = replace(module.make_study(), draw=None)
    folder = RESULTS / study.name
    records = read_records(folder, study.parts)
    assert {name for part in records.values() for name in part} == study.tasks.keys()
    (tmp_path / "results.json").write_text((folder / "results.json").read_text())
    write_report(study, records, tmp_path, tmp_path)
    assert (tmp_path / "report.md").read_text() == (folder / "report.md").read_text()


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


def test_scores_count_draws_as_half():
    assert amaf.score({"wins": 3, "draws": 2, "games": 8}) == 0.5
    assert amaf.is_better({"wins": 70, "draws": 0, "games": 100})
    assert not amaf.is_better({"wins": 55, "draws": 0, "games": 100})
