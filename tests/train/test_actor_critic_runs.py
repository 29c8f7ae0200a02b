"""Runs of actor-critic training: exact resume, refusals, gatekeeper, report."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from actor_critic_settings import TINY, TINY_SEARCH, TINY_SEARCH_GEESE, TINY_UIB2021, UIB2021_CONFIG

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.divergence import DivergedError
from ludoteca.train.command import parse
from ludoteca.train.command import run as main
from ludoteca.train.loop import RLTraining
from ludoteca.train.uib2021 import UIB2021

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(TINY, marks=pytest.mark.slow, id="ppo"),
        pytest.param(
            replace(TINY_SEARCH, games_per_iteration=24),
            marks=pytest.mark.slow,
            id="search-imitation",
        ),
        pytest.param(TINY_UIB2021, id="uib2021"),
    ],
)
def test_non_finite_losses_end_a_run(config, tmp_path):
    training = RLTraining(replace(config, run_dir=tmp_path), tensorboard=False)
    with torch.no_grad():
        next(training.network.parameters()).fill_(torch.nan)
    with pytest.raises(DivergedError, match=r"losses of update 1 are nan and nan: learning_rate="):
        training.learn(training.play(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        TINY,
        replace(TINY, overlap_actor_learner=False, augment=True),
        TINY_SEARCH,
        TINY_SEARCH_GEESE,
        TINY_UIB2021,
    ],
    ids=["ppo", "no-overlap", "search", "search_geese", "uib2021"],
)
def test_interrupted_run_resumes_to_the_same_result(config, tmp_path):
    uninterrupted = RLTraining(
        replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False
    )
    for _ in uninterrupted.run():
        pass
    parts = replace(config, run_dir=tmp_path / "parts")
    for rollouts in (1, 2, 10):
        training = RLTraining(parts, tensorboard=False)
        for _, _ in zip(range(rollouts), training.run(), strict=False):
            pass
    assert training.finished
    for (name, one), other in zip(
        uninterrupted.network.state_dict().items(),
        training.network.state_dict().values(),
        strict=True,
    ):
        assert torch.equal(one, other), name
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in uninterrupted.metrics.rows]
    assert rows == [
        {k: v for k, v in row.items() if k != "seconds"} for row in training.metrics.rows
    ]
    assert uninterrupted.plies == training.plies > 0
    assert 0 < training.learning_seconds < training.seconds


@pytest.mark.parametrize("name", ["opponent_pool", "eval_opponents"])
@pytest.mark.parametrize(
    ("spec", "message"),
    [("nonsense", "unknown agent 'nonsense'"), ("ac:nowhere", "nowhere")],
)
def test_invalid_opponents_leave_no_run_folder(name, spec, message, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises((ValueError, OSError), match=message):
        RLTraining(replace(TINY, run_dir=folder, **{name: (spec,)}), tensorboard=False)
    assert not folder.exists()


def test_uib2021_accepts_only_winning_candidates(tmp_path, monkeypatch):
    training = RLTraining(replace(TINY_UIB2021, run_dir=tmp_path), tensorboard=False)
    algorithm = training.algorithm
    assert isinstance(algorithm, UIB2021)
    scores, states = iter([0.4, 0.4, 0.6]), []
    monkeypatch.setattr(algorithm, "score_against_previous", lambda: next(scores))
    num_pending = [
        len(algorithm.pending_rollouts)
        for _ in training.run()
        if states.append(_trained_state(training)) is None
    ]
    assert num_pending == [1, 2, 0]
    # The optimizer has no moments before a network is accepted.
    assert states[0].keys() == states[1].keys() < states[2].keys()
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])
    assert not any(np.array_equal(states[1][name], states[2][name]) for name in states[1])
    assert training.updates > 2
    assert (algorithm.tested, algorithm.accepted) == (3, 1)


def _trained_state(training):
    """Return the trainable weights and the optimizer's moments."""
    trainable = {f"network/{name}" for name, _ in training.network.named_parameters()}
    return {
        name: array.copy()
        for name, array in training.learner.state().items()
        if name in trainable or name.startswith("optimizer/")
    }


def test_the_command_writes_a_report(tmp_path, capsys):
    arguments = ["--run-dir", str(tmp_path / "run"), "--games", "16", "--games-per-iteration", "8"]
    config = replace(TINY, run_dir=tmp_path / "run", games=16)
    assert parse("ppo", arguments).games == 16
    assert parse("ppo", ["uib2021"]) == UIB2021_CONFIG
    assert main(config) is not None
    text = (tmp_path / "run" / "report.md").read_text()
    assert "Proximal policy optimization in Hungry Geese" in text
    assert "| random | any | 9 |" in text  # 3 games for each of 3 seats
    # Each living goose decides once per ply.
    counts = json.loads((tmp_path / "run" / "results.json").read_text())["training"]
    assert counts["plies"] < counts["decisions"] < 3 * counts["plies"]
    assert (
        f"({counts['decisions'] / counts['learning_seconds']:,.0f} decisions of the network)"
        in text
    )
    for name in ("best.safetensors", "learning_curve.png", "game.svg", "game.png", "replay.json"):
        assert (tmp_path / "run" / name).stat().st_size > 0
    assert "random" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"game": "othello"}, "support only view='plain', got view='hand_crafted'"),
        ({"game": "othello", "num_simulations": 4}, "expected a simultaneous game"),
        ({"network": ACConfig(value=False)}, "network.value=True"),
        ({"eval_opponents": ()}, "at least one opponent"),
        ({"gamma": 1.5}, "gamma"),
        ({"num_simulations": 0}, "num_simulations"),
        ({"improvement_fraction": 1.5}, "improvement_fraction"),
        ({"root_uniform_fraction": 1.5}, "root_uniform_fraction"),
        ({"max_rollouts": 2, "overlap_actor_learner": True}, "overlap_actor_learner"),
        ({"opponent_pool": ("nobody",)}, "unknown agent"),
    ],
)
def test_invalid_settings_raise(changes, problem, tmp_path):
    is_of_search = any(hasattr(TINY_SEARCH, name) and not hasattr(TINY, name) for name in changes)
    config = TINY_SEARCH if is_of_search else TINY_UIB2021 if "max_rollouts" in changes else TINY
    with pytest.raises(ValueError, match=problem):
        RLTraining(replace(config, run_dir=tmp_path, **changes), tensorboard=False)
