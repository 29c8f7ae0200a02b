"""Tests of the study that repeats a thesis (`uaemex2021`) by tournaments, and of all reports.

The thesis compares five selection policies of MCTS in eight games, with 100 and 1000 simulations.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.statistics.differences import shares_differ
from ludoteca.evaluate.statistics.equivalence import stratified_score
from ludoteca.evaluate.statistics.verdicts import (
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    UNCORRECTED,
    verdict_by_interval,
    verdict_by_test,
    verdict_of_all,
    verdict_of_no_difference,
)
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.ggp import branching, encounters, uaemex2021
from ludoteca.evaluate.studies.ggp import report as ggp_report
from ludoteca.evaluate.studies.ggp import study as ggp
from ludoteca.evaluate.studies.ggp.conclusions import conclusions, difference
from ludoteca.evaluate.studies.ggp.report import pair_wins
from ludoteca.evaluate.studies.ggp.uaemex2021 import (
    DIRECTED_PAIRS,
    FIRST_COMPARISON,
    PAIR_WINS,
)
from ludoteca.evaluate.tournament import report as tournament_report
from ludoteca.evaluate.tournament import trends
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.run import play_games
from ludoteca.files import write_atomically

ROOT = Path(__file__).resolve().parents[2]
# Wins in the thesis by number of simulations, `[games, policies]`; each is of 1,200 games.
THESIS = {simulations: wins.astype(float) for simulations, wins in uaemex2021.WINS.items()}


def random_results(tournament, shares):
    """Return random results of a tournament, by the agents' shares of wins, `[games, agents]`."""
    shape = (len(tournament.games), len(tournament.pairs), tournament.repeats)
    outcomes = np.empty((*shape, tournament.games_per_match), np.int8)
    rng = np.random.default_rng(0)
    for k, (a, b) in enumerate(tournament.pairs):
        p = 0.5 + (shares[:, a] - shares[:, b])[:, None, None] / 2
        outcomes[:, k] = np.where(rng.random(outcomes[:, k].shape) < p, 1, -1)
    return Results(tournament, outcomes, np.ones(shape[:2], np.int64), np.ones(shape[:2]))


def test_the_study_has_the_settings_of_the_thesis():
    study = ggp.tournaments("ggp", fast=False, seed=0)
    assert sum(tournament.total_games for tournament in study.values()) == 48_000
    assert [tournament.games_per_match for tournament in study.values()] == [100, 100]
    for simulations, tournament in study.items():
        assert uaemex2021.WINS[int(simulations)].shape == (8, 5)
        for game in tournament.games:
            for spec in tournament.agents:
                agent = make_agent(spec, make_game(game))
                assert agent.simulations == int(simulations)
                assert agent.config.draw_is_loss


@pytest.mark.parametrize("fast", [True, False])
def test_every_agent_of_the_extended_study_exists(fast):
    for stage, tournament in ggp.tournaments("ggp_extended", fast, seed=0).items():
        game = make_game("tictactoe_large")
        for spec in tournament.agents:
            agent = make_agent(spec, game)
            assert (agent.seconds is not None) == (stage == "equal_time")


def test_wins_of_the_thesis_support_its_conclusions():
    all_conclusions = conclusions(THESIS)
    assert len(all_conclusions) == 28
    assert [conclusion.claim for conclusion in all_conclusions if conclusion.verdict == FAILS] == []
    # The thesis does not correct its tests for their number; corrected, none is significant.
    tests = [
        conclusion
        for conclusion in all_conclusions
        if "is significantly better" in conclusion.claim
    ]
    assert len(tests) == 11
    assert {conclusion.verdict for conclusion in tests} == {UNCORRECTED}
    assert all("after Holm's correction p = 0.0781" in conclusion.evidence for conclusion in tests)
    total = [
        conclusion.verdict
        for conclusion in all_conclusions
        if "most games in total" in conclusion.claim
    ]
    assert total == [HOLDS, HOLDS]


def test_the_thesis_pairs_add_up_to_its_totals():
    """Compare wins by pair (tables 4.2 to 4.36) with totals (4.17, 4.37); draws are in neither."""
    for simulations, totals in uaemex2021.WINS.items():
        for g, name in enumerate(uaemex2021.GAMES):
            wins = dict(zip(DIRECTED_PAIRS, PAIR_WINS[simulations][g].tolist(), strict=True))
            first = np.array([sum(wins[a, b] for b in range(3) if b != a) for a in range(3)])
            np.testing.assert_array_equal(first, FIRST_COMPARISON[simulations][g])
            for a in (3, 4):
                assert sum(wins[a, b] for b in range(5) if b != a) == totals[g, a]
            # The 300 games of a pair that neither agent wins are draws.
            draws = first + [600 - wins[3, a] - wins[4, a] for a in range(3)] - totals[g, :3]
            draws = [*draws, *(300 - wins[a, b] - wins[b, a] for a, b in ((0, 1), (1, 2), (3, 4)))]
            assert min(draws) >= 0
            assert (max(draws) > 0) == (name in ("tictactoe_large", "free_for_all"))


def test_the_thesis_encounters_add_up_to_its_totals():
    for simulations, wins in uaemex2021.ENCOUNTERS.items():
        np.testing.assert_array_equal(wins.sum(1), uaemex2021.WINS[simulations])
        first = uaemex2021.FIRST_ENCOUNTERS[simulations]
        np.testing.assert_array_equal(first.sum(1), FIRST_COMPARISON[simulations])
        # In each encounter 1,000 games are played, of which only two games have draws.
        drawn = 1000 - wins.sum(2)
        assert (drawn[:6] == 0).all()
        assert (drawn[6:] >= 0).all()
        assert (wins[:, :, :3] >= first).all()


def test_deviations_of_new_policies_at_100_simulations_are_a_misprint():
    """Check that they are those at 1,000 simulations, and contradict the wins by encounter.

    Without draws, an old policy's wins by encounter against both new ones have a deviation between
    the difference and the sum of its deviations against each.
    """
    deviations, impossible = uaemex2021.PAIR_DEVIATIONS, {}
    np.testing.assert_array_equal(deviations[100][:, 6:], deviations[1000][:, 6:])
    for simulations, wins in uaemex2021.ENCOUNTERS.items():
        old = wins[:, :, :3] - uaemex2021.FIRST_ENCOUNTERS[simulations]
        total = old.std(1, ddof=1)[:6]
        each = [
            deviations[simulations][:6, [DIRECTED_PAIRS.index((new, a)) for a in range(3)]]
            for new in (3, 4)
        ]
        possible = (np.abs(each[0] - each[1]) - 0.02 <= total) & (total <= sum(each) + 0.02)
        impossible[simulations] = int((~possible).sum())
    assert impossible == {100: 11, 1000: 0}


def test_pairs_of_a_tournament_are_read_by_direction():
    shares = np.linspace(0.2, 0.8, 40).reshape(8, 5)
    results = random_results(ggp.tournaments("ggp", fast=True, seed=0)["100"], shares)
    wins = pair_wins(results)
    assert wins.shape == (8, 14)
    assert wins[3, DIRECTED_PAIRS.index((1, 2))] == results.wins()[3, 1, 2]
    assert wins[5, DIRECTED_PAIRS.index((4, 3))] == results.wins()[5, 4, 3]
    significant = shares_differ(np.array([0.6, 0.6]), 100, np.array([150, 195]) / 300, 300)
    np.testing.assert_array_equal(significant, [False, False])
    assert shares_differ(np.array([0.6]), 100, np.array([0.4]), 300)[0]


def test_a_lead_within_chance_decides_nothing():
    """Of 9,600 games, a lead of 23 wins is no significant difference."""
    wins = {simulations: table.copy() for simulations, table in THESIS.items()}
    # UCB-Tuned (2) gets 12 wins fewer than alpha2 (4), so 23 more than alpha1.
    wins[100][:, 2] += (wins[100][:, 4].sum() - 12 - wins[100][:, 2].sum()) / 8
    first = conclusions(wins)[0]
    assert first.claim == "alpha1 and alpha2 win the most games in total"
    assert first.verdict == INCONCLUSIVE
    assert "the smallest lead is that of alpha1 over UCB-Tuned: -23 (" in first.evidence
    wins[100][:, 2] += 100
    assert conclusions(wins)[0].verdict == FAILS


def test_intervals_of_differences_of_wins_cover_them():
    """About 95 % of the intervals of 400 tournaments between equal policies contain zero."""
    rng = np.random.default_rng(0)
    games, covered = 300, 0
    for _ in range(400):
        wins = np.zeros(5)
        for a in range(5):
            for b in range(a):
                won = rng.binomial(games, 0.5)
                wins[[a, b]] += won, games - won
        low, high = difference(wins[:1], wins[1:2], 4 * games)
        covered += low <= 0 <= high
    assert 0.92 <= covered / 400 <= 0.99
    low, high = difference(np.array([600.0]), np.array([500.0]), 1200)
    assert low > 0  # 100 of 1,200 games are more than chance
    wide = difference(np.array([600.0]), np.array([500.0]), 96)
    assert wide[0] < 0 < low < high < wide[1]  # the same shares of 96 games are not


def test_verdicts_need_an_interval_or_a_test():
    assert (verdict_by_interval(0.1, 0.3), verdict_by_interval(-0.3, -0.1)) == (HOLDS, FAILS)
    assert verdict_by_interval(-0.1, 0.3) == verdict_by_interval(0.0, 0.3) == INCONCLUSIVE
    assert verdict_of_all([HOLDS, HOLDS]) == HOLDS
    assert verdict_of_all([HOLDS, INCONCLUSIVE]) == INCONCLUSIVE
    assert verdict_of_all([HOLDS, INCONCLUSIVE, FAILS]) == FAILS
    assert verdict_by_test(0.001, 0.01, True) == HOLDS
    assert verdict_by_test(0.001, 0.01, False) == FAILS
    assert verdict_by_test(0.01, 0.08, True) == UNCORRECTED
    assert verdict_by_test(0.01, 0.08, False) == verdict_by_test(0.3, 1.0, True) == INCONCLUSIVE
    assert verdict_of_no_difference(0.2, 1.0, 0.01) == HOLDS
    assert verdict_of_no_difference(0.001, 0.01, 0.01) == FAILS
    assert verdict_of_no_difference(0.02, 0.09, 0.01) == INCONCLUSIVE
    # Without a test of equivalence, or if it does not reject, a claim of no difference is open.
    assert verdict_of_no_difference(0.2, 1.0) == INCONCLUSIVE
    assert verdict_of_no_difference(0.2, 1.0, 0.06) == INCONCLUSIVE


def test_conclusions_can_fail():
    equal = {simulations: np.full((8, 5), 600.0) for simulations in THESIS}
    claim = "alpha1 and alpha2 do not differ significantly (Wilcoxon)"
    few, many = (
        {simulations: stratified_score([(games // 2, 0, games)] * 8) for simulations in THESIS}
        for games in (10, 300)
    )
    for scores, holds in ((None, False), (few, False), (many, True)):
        checked = conclusions(equal, scores=scores)
        held = {conclusion.claim for conclusion in checked if conclusion.verdict == HOLDS}
        assert "alpha1 and alpha2 win the most games in total" not in held
        assert (claim in held) == holds
    reverse = {simulations: wins[:, ::-1] for simulations, wins in THESIS.items()}
    better = [
        conclusion.verdict
        for conclusion in conclusions(reverse)
        if "significantly better" in conclusion.claim
    ]
    assert len(better) == 12
    assert not {HOLDS, UNCORRECTED} & set(better[1:])
    assert conclusions(reverse)[0].verdict == FAILS


def test_rounding_of_shares_does_not_break_ties():
    """Check that rank tests see equal wins as ties, although shares times games are rounded."""
    report = (ROOT / "docs/results/ggp/report.md").read_text()
    single = (ROOT / "docs/results/ggp/1000/report.md").read_text()
    row = next(line for line in single.splitlines() if line.startswith("| alpha1 | **+ "))
    p = row.rstrip(" |").split("| ")[-1]
    assert p == "0.16"
    assert f"| Wilcoxon p, alpha1 against alpha2 | {p} | at least 0.2 |" in report


def test_differences_beyond_chance():
    rng = np.random.default_rng(0)
    same = rng.binomial(1200, 0.5, (2, 10_000)) / 1200
    assert shares_differ(same[0], 1200, same[1], 1200).mean() == pytest.approx(0.05, abs=0.01)
    assert shares_differ(np.array([0.55]), 1200, np.array([0.5]), 1200).all()
    assert not shares_differ(np.array([0.55]), 96, np.array([0.5]), 1200).any()


@pytest.mark.usefixtures("unrendered_figures")
def test_the_report_compares_with_the_thesis(tmp_path, monkeypatch, capsys):
    def run(tournament, folder, **options):
        return random_results(tournament, THESIS[int(folder.name)] / 1200)

    monkeypatch.setattr(ggp, "run_tournament", run)
    monkeypatch.setattr(encounters, "compared_boxes", lambda *args, **options: b"figure")
    arguments = ["ggp", "--fast", "--out", str(tmp_path), "--processes", "1"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"report: {tmp_path / 'report.md'}\n"
    report = (tmp_path / "report.md").read_text()
    assert "**This is a small run**: 24 games per pair" in report
    assert "(4,378, " in report  # the thesis' total of UCB at 100 simulations
    assert "24.625" in report
    assert "alpha1 is not significantly better than UCB (Wilcoxon)" in report
    for simulations in ("100", "1000"):
        assert f"]({simulations}/report.md)" in report
        assert (tmp_path / simulations / "points.png").stat().st_size > 0
        assert (tmp_path / simulations / "report.md").stat().st_size > 0
    for figure in ("boxes.png", "encounters_100.png", "encounters_1000.png"):
        assert (tmp_path / figure).stat().st_size > 0
    page = (tmp_path / "encounters.md").read_text()
    assert page.count(" / 97.7 ± 11.2 |") == 1  # UCB in Atari Go, table 4.1
    assert page.count(" / 165.7 ± 12.1 |") == 1  # the same in table 4.21
    assert page.count(" / 9.0 |") == 2  # UCB against ETC and ETC against UCB, table 4.2
    content = json.loads((tmp_path / "comparison.json").read_text())
    assert content["thesis_wins"]["100"][0] == [497, 612, 500, 711, 680]
    assert len(content["conclusions"]) == 28


def test_the_extended_report_names_the_best_policies(tmp_path, monkeypatch):
    def run(tournament, folder, **options):
        strength = np.linspace(0.4, 0.6, len(tournament.agents))
        return random_results(tournament, np.tile(strength, (8, 1)))

    def write_report(results, folder, **about):  # drawing takes long, and is tested elsewhere
        write_atomically(folder / "report.md", "")

    monkeypatch.setattr(ggp, "run_tournament", run)
    factors = iter(range(2, 10))
    monkeypatch.setattr(ggp, "write_report", write_report)
    monkeypatch.setattr(trends, "SAMPLES", 200)
    monkeypatch.setattr(ggp_report, "branching_factor", lambda game, games: (next(factors), 0.01))
    assert main(["ggp", "--fast", "--extended", "--out", str(tmp_path), "--processes", "1"]) == 0
    report = (tmp_path / "report.md").read_text()
    assert "The best constant over all games is UCB 0.01" in report
    assert "- It is inconclusive whether alpha2 is stronger or weaker: Elo" in report
    for stage in ggp.tournaments("ggp_extended", fast=True, seed=0):
        assert f"]({stage}/report.md)" in report
        assert (tmp_path / stage / "report.md").exists()
    assert "| UCB plain |" in report
    assert "| Knight-Through | 6.0 | " in report
    assert (tmp_path / "branching.png").stat().st_size > 0
    stored = json.loads((tmp_path / "answers.json").read_text())["branching_factors"]
    assert stored == [[mean, 0.01] for mean in range(2, 10)]


@pytest.mark.slow
@pytest.mark.interpreted
def test_a_game_of_the_study_is_played():
    tournament = ggp.tournaments("ggp", fast=True, seed=0)["100"]
    match = next(
        candidate
        for candidate in tournament.matches()
        if candidate.game == uaemex2021.GAMES.index("tictactoe_large") and candidate.pair == (0, 3)
    )
    played = play_games(tournament, match, 0, 2)
    assert len(played.outcomes) == 2
    assert played.plies >= 2 * 9  # five in a row take at least 9 plies


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "studies:"),
        (["--help"], 0, "ggp"),
        (["chess"], 2, "unknown study 'chess'; there are "),
        (["ggp", "--processes", "0"], 2, "processes must be an integer from 1"),
    ],
)
def test_the_command_prints_help_and_errors(
    tmp_path, capsys, monkeypatch, arguments, status, message
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == status
    printed = capsys.readouterr()
    assert message in (printed.err if status else printed.out)


@pytest.mark.usefixtures("unrendered_figures")
@pytest.mark.parametrize(
    "name",
    [
        *("ggp", "hex", "othello", "solved", "statistics"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("ggp_extended", "geese")),
    ],
)
def test_committed_reports_are_those_of_the_committed_results(tmp_path, name, capsys, monkeypatch):
    """Check that writing a report again from its results does not change it, figures aside.

    The tournaments of a study have reports of their own, in folders in that of the study.
    """
    for module, draw, figures in (
        (tournament_report, "draw_figures", {}),
        (encounters, "compared_boxes", b""),
        (branching, "trend_plots", b""),
    ):
        monkeypatch.setattr(module, draw, lambda *args, figures=figures, **options: figures)
    committed, rewritten = ROOT / "docs/results" / name, tmp_path / name
    shutil.copytree(committed, rewritten)
    reports = [rewritten / "report.md"]
    if study_has_tournaments := name.startswith("ggp"):
        reports += [*rewritten.glob("*/report.md"), *rewritten.glob("*/results.csv")]
        reports += rewritten.glob("encounters.md")
    for file in reports:
        file.unlink()
    study, *variant = name.split("_")
    options = ["--extended"] if variant else []
    options += ["--rewrite", "--out", str(rewritten), "--runs", str(tmp_path / "none")]
    assert main([study, *options]) == 0
    assert capsys.readouterr().out == f"report: {rewritten / 'report.md'}\n"
    assert len(reports) == {"ggp": 6, "ggp_extended": 9}.get(name, 1)
    for file in reports:
        assert file.read_text() == (committed / file.relative_to(rewritten)).read_text()
    pattern = "**/*.json" if study_has_tournaments else "*.json"
    for file in rewritten.glob(pattern):
        texts = (path.read_text() for path in (file, committed / file.relative_to(rewritten)))
        new, old = (json.loads(text, parse_float=lambda x: round(float(x), 5)) for text in texts)
        assert new == old


def test_a_report_is_not_written_again_without_results(tmp_path, capsys):
    assert main(["ggp", "--rewrite", "--out", str(tmp_path)]) == 2
    assert "expected the folder of a tournament's report" in capsys.readouterr().err
