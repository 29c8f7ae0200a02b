"""Tests of tuning: optimizers of noisy scores, parameters, and resumption of runs."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import run

from ludoteca.evaluate.tuning.evaluation_log import EVALUATIONS_FILE, Evaluation, EvaluationLog
from ludoteca.evaluate.tuning.optimizers.ntbea import NTBEA
from ludoteca.evaluate.tuning.optimizers.registry import OPTIMIZERS, make_optimizer
from ludoteca.evaluate.tuning.optimizers.spsa import SPSA
from ludoteca.evaluate.tuning.parameters import (
    TunedParameter,
    parse_parameter,
    parse_parameters,
    start_positions,
    with_values,
)
from ludoteca.evaluate.tuning.run import tune_agent

pytestmark = pytest.mark.interpreted
PARAMETERS = parse_parameters(["x=0:1", "y=0.01:100:log"])
# Optimizers with other settings than their defaults.
OTHER_SETTINGS = [
    pytest.param(spec, marks=pytest.mark.slow)
    for spec in ("optuna:sampler=random", "ntbea:levels=5")
]
MAXIMUM = np.array([0.3, 0.75])
GAME = "tictactoe:board_size=3,line=3"
# Agent whose moves are random with probability `epsilon`.
AGENT = "skilled_agent:SkilledAgent"


def expected_score(points):
    """Return the win probability at points of the unit cube, 0.8 at its maximum."""
    return 0.8 - 0.6 * ((points - MAXIMUM) ** 2).sum(-1)


def optimize(spec, seed, batch=100, budget=200):
    """Return the recommended point after batches of simulated games."""
    rng = np.random.default_rng(seed)
    optimizer = make_optimizer(spec, PARAMETERS, [0.9, 0.1], budget, seed)
    evaluations = 0
    while evaluations + len(points := optimizer.ask()) <= budget:
        evaluations += len(points)
        optimizer.tell(rng.binomial(batch, expected_score(points)) / batch)
    return optimizer.best()


@pytest.mark.parametrize("spec", [*OPTIMIZERS, *OTHER_SETTINGS])
def test_optimizers_find_the_maximum_of_noisy_scores(spec):
    start = expected_score(np.array([0.9, 0.1]))
    scores = [expected_score(optimize(spec, seed)) for seed in range(3)]
    assert start < 0.34
    assert np.mean(scores) > 0.74


def test_first_step_of_spsa_by_hand():
    optimizer = SPSA(PARAMETERS, [0.5, 0.5], 20, 0, perturbation=0.1, learning_rate=0.2)
    points = optimizer.ask()
    np.testing.assert_allclose(np.abs(points - 0.5), 0.1)
    np.testing.assert_allclose(points.sum(0), 1)
    optimizer.tell(np.array([0.6, 0.4]))
    # The gradient is 0.2 / 0.2 toward the first point, the first step size 0.2.
    np.testing.assert_allclose(
        optimizer.best(), 0.5 + 0.2 * np.sign(points[0] - 0.5), rtol=0, atol=1e-12
    )


def test_ntbea_recommends_by_the_mean_of_its_model():
    optimizer = NTBEA(PARAMETERS[:1], [0.0], 10, 0, levels=3, exploration=1.0)
    scores = {0.0: 0.5, 0.5: 0.7, 1.0: 0.6}
    for _ in range(12):
        (point,) = optimizer.ask()[0]
        optimizer.tell(np.array([scores[point]]))
    assert optimizer.best().tolist() == [0.5]


def test_positions_and_values():
    alpha = parse_parameter("policy.alpha=0.01:100:log")
    assert [alpha.value(x) for x in (0, 0.25, 0.5, 1)] == ["0.01", "0.1", "1", "100"]
    assert alpha.position("10") == pytest.approx(0.75)
    integer = parse_parameter("depth=1:4:int")
    assert [integer.value(x) for x in (0, 0.2, 0.5, 0.9, 1)] == ["1", "2", "2", "4", "4"]
    assert len(integer.levels(100)) == 4
    mast = parse_parameter("mast=|greedy|gibbs")
    assert [mast.value(x) for x in (0, 0.4, 1)] == ["", "greedy", "gibbs"]
    assert mast.value(mast.position("gibbs")) == "gibbs"


def test_values_replace_those_in_the_spec_string():
    spec = "mcts:simulations=10,policy=ucb1,policy.alpha=2"
    parameters = (TunedParameter("policy.alpha", 0, 4), TunedParameter("fpu", 1, 3))
    assert start_positions(spec, parameters) == [0.5, 0.5]
    assert with_values(spec, {"policy.alpha": "1", "fpu": "2"}) == (
        "mcts:simulations=10,policy=ucb1,policy.alpha=1,fpu=2"
    )
    assert with_values("mcts", {"fpu": "2"}) == "mcts:fpu=2"
    assert with_values("mine.py:Agent:depth=3", {"depth": "4"}) == "mine.py:Agent:depth=4"


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        ([], "different names"),
        (["a=0:1", "a=1:2"], "different names"),
        (["a"], "expected NAME=LOW:HIGH"),
        (["a=1"], "expected NAME=LOW:HIGH"),
        (["a=0:1:loog"], "expected NAME=LOW:HIGH"),
        (["a b=0:1"], "expected NAME=LOW:HIGH"),
        (["a=1:0"], "LOW of a must be less than HIGH"),
        (["a=nan:1"], "must be a finite number"),
        (["a=0:1:log"], "must be positive"),
        (["a=0.5:2:int"], "must be integers"),
        (["a=x|x"], "must be different"),
    ],
)
def test_invalid_parameters_give_clear_errors(texts, error):
    with pytest.raises(ValueError, match=error):
        parse_parameters(texts)


def tune(folder, optimizer, **settings):
    """Tune the probability of random moves of an agent; lower values play better."""
    return tune_agent(
        GAME, f"{AGENT}:epsilon=0.8", ["epsilon=0:1"], folder,
        optimizer=optimizer, **{"match_games": 20, **settings},
    )  # fmt: skip


@pytest.mark.compiled
def test_tuning_finds_less_random_play(tmp_path):
    result = tune(tmp_path, "spsa", games=1000, batch=20, match_games=100)
    assert float(result.values["epsilon"]) < 0.5
    assert result.matches[0].interval[0] > 0.5
    assert result.matches[0].opponent == f"{AGENT}:epsilon=0.8"
    assert all(evaluation.games == 20 for evaluation in result.evaluations)
    assert result.games == 1000


@pytest.mark.compiled
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_interrupted_run_has_the_result_of_an_uninterrupted_one(optimizer, tmp_path):
    settings = {"games": 80, "batch": 4, "against": ["random"], "seed": 3}
    uninterrupted = tune(tmp_path / "uninterrupted", optimizer, **settings)
    log = (tmp_path / "uninterrupted" / EVALUATIONS_FILE).read_bytes()
    (tmp_path / "cut").mkdir()
    for file in (tmp_path / "uninterrupted").iterdir():
        (tmp_path / "cut" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "cut" / EVALUATIONS_FILE).write_bytes(log[: len(log) // 2])  # ends within a line
    assert tune(tmp_path / "cut", optimizer, **settings) == uninterrupted
    assert (tmp_path / "cut" / EVALUATIONS_FILE).read_bytes() == log


@pytest.mark.compiled
def test_points_of_a_pair_play_each_other(tmp_path):
    result = tune(tmp_path, "spsa", games=40, batch=4)
    assert all(evaluation.opponent_values for evaluation in result.evaluations)
    with_opponents = tune(
        tmp_path / "against", "spsa", games=40, batch=4, against=["random", "greedy"]
    )
    assert {match.opponent for match in with_opponents.matches} == {
        f"{AGENT}:epsilon=0.8",
        "random",
        "greedy",
    }
    assert not any(evaluation.opponent_values for evaluation in with_opponents.evaluations)


def test_folder_of_another_run_is_rejected(tmp_path):
    EvaluationLog(tmp_path, {"seed": 0}).__exit__(None, None, None)
    with pytest.raises(ValueError, match="another tuning run: its seed is 0, not 1"):
        EvaluationLog(tmp_path, {"seed": 1})
    (tmp_path / EVALUATIONS_FILE).write_text('{"values": {}, "wins": 0, "draws": 0, "losses": 0}\n')
    with pytest.raises(ValueError, match=r"line 1 of .* is damaged: expected numbers"):
        EvaluationLog(tmp_path, {"seed": 0})
    assert Evaluation({}, 1, 1, 2).score == 0.375


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--tune", "epsilon=0:1", "--optimizer", "spas"], "did you mean 'spsa'?"),
        (["--tune", "epsilon=0:1", "--optimizer", "grid:level=3"], "no setting 'level'"),
        (
            ["--tune", "epsilon=0:1", "--optimizer", "cma_es:population=4"],
            "population must be 0 or at least 5 with lr_adapt=True, got 4",
        ),
        (["--tune", "epsilon=0:1", "--batch", "3"], "batch must be a multiple of 2"),
        (["--tune", "style=|x"], "spsa tunes only ranges"),
        (["--tune", "epsilon=0:0.5"], "is outside of its range"),
        (["--tune", "epsilon=0:1", "--optimizer", "grid", "--games", "40"], "grid has 8 points"),
        (["--tune", "depth=0:1"], "has no parameter 'depth'"),
    ],
)
def test_invalid_options_give_clear_errors(options, error, capsys, tmp_path):
    command = ["tune", GAME, "--agent", f"{AGENT}:epsilon=0.8"]
    status, _, err = run(capsys, *command, *options, "--out", str(tmp_path))
    assert status == 2
    assert error in err
    assert not list(tmp_path.iterdir())


@pytest.mark.compiled
def test_command_writes_results_and_a_figure(capsys, tmp_path: Path):
    status, out, _ = run(
        capsys, "tune", GAME, "--agent", f"{AGENT}:epsilon=0.8", "--tune",
        "epsilon=0:1", "--games", "40", "--batch", "4", "--match-games", "20",
        "--out", str(tmp_path),
    )  # fmt: skip
    assert status == 0
    assert "agent with starting values" in out
    saved = json.loads((tmp_path / "tuning.json").read_text())
    assert saved["values"].keys() == {"epsilon"}
    assert saved["games"] == 40
    assert (tmp_path / "tuning.png").read_bytes().startswith(b"\x89PNG")
