"""Tests of behavioral cloning from recorded games: runs and their reports."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from imitation_runs import DEFAULT, SMALL, TINY, TINY_PLAIN, UIB2021, VIEWS, games_of, tiny, trained

from ludoteca.agents.networks.ac_network import ACConfig, load_ac_network
from ludoteca.agents.networks.weights import load_weights
from ludoteca.agents.registry import make_agent
from ludoteca.divergence import DivergedError
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.train.data.positions import replay_positions
from ludoteca.train.data.storage import load_dataset, save_dataset
from ludoteca.train.imitation import ImitationConfig, ImitationTraining, main, parse
from ludoteca.train.loop import RLTraining
from ludoteca.train.optimizer import plateau_rate
from ludoteca.train.ppo import PPOConfig

pytestmark = pytest.mark.interpreted


def weights(folder, name="network"):
    """Return the weights in a file of a run."""
    return load_weights(folder / f"{name}.safetensors")[0]


@pytest.mark.slow
def test_network_imitates_an_agent(tmp_path):
    game = "hungry_geese:num_players=2,rows=7,columns=7,max_length=12,episode_steps=60"
    save_dataset(tmp_path / "games.npz", games_of("deterministic", games=150, game=game))
    config = ImitationConfig(
        data=(tmp_path / "games.npz",),
        run_dir=tmp_path / "run",
        network=ACConfig(filters=16, blocks=2),
        epochs=4,
        batch_size=64,
        learning_rate=5e-3,
        augment=False,  # the agent is not symmetric: of equally good actions it takes the first
    )
    training = trained(config)
    data = training.data
    assert np.bincount(data.actions).max() / len(data) < 0.4
    assert training.best["accuracy"] > 0.75
    assert training.best["value_loss"] < 0.9 * data.returns[data.validation].var()
    for agent in (f"cnn:{config.run_dir}", f"ac:{config.run_dir}"):
        assert play_match(game, [agent, "random_safe"], 50, seed=5).totals[0].score > 0.8


@pytest.mark.interpreted
@pytest.mark.parametrize("view", VIEWS)
def test_accuracy_is_the_frequency_of_equal_actions(view, mixed, tmp_path):
    training = trained(tiny(mixed, tmp_path, network=replace(TINY, view=view), epochs=1, games=15))
    data = training.data
    samples = replay_positions(data.games).samples()
    chosen = data.validation
    agent = make_agent(f"cnn:{tmp_path},precision={training.precision}", data.games.game)
    states, seats = samples.states[samples.rows[chosen]], samples.players[chosen].astype(np.int64)
    rngs = np.zeros((len(chosen), 1), np.uint64)
    moves = agent.act(states, seats, rngs, np.arange(len(chosen)))
    assert training.best["accuracy"] == np.mean(moves == samples.actions[chosen])


@pytest.mark.parametrize(
    ("losses", "rate"),
    [
        ([], 0.01),
        ([1, 2, 2], 0.01),
        ([1, 2, 2, 2], 0.003),  # three epochs without improvement
        ([1, 2, 2, 0.5, 2, 2], 0.01),  # an improvement in between
        ([1, 2, 2, 1, 0.9, 3, 3, 3], 0.0009),
        ([1] * 6, 0.003),  # the count restarts after each reduction
        ([1] * 7, 0.0009),
        ([1] * 10, 0.00027),
        ([1] * 13, 0.0001),  # the minimum rate, instead of 0.000081
        ([1] * 99, 0.0001),
    ],
)
def test_learning_rate_drops_on_a_plateau(losses, rate):
    assert plateau_rate(losses, 0.01, 1e-4, 0.3, 3) == pytest.approx(rate)


def test_learning_rate_matches_pytorch_scheduler():
    losses = np.random.default_rng(0).uniform(1, 2, 200) * np.linspace(1, 0.3, 200)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.01)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.3, patience=4, threshold=0.0, min_lr=1e-4, eps=0.0
    )
    for k, loss in enumerate(losses):
        theirs.step(loss)
        ours = plateau_rate(losses[: k + 1].tolist(), 0.01, 1e-4, 0.3, 5)
        assert ours == pytest.approx(optimizer.param_groups[0]["lr"])


def test_a_run_learns_with_the_rate_of_its_schedule(mixed, tmp_path, monkeypatch):
    config = tiny(mixed, tmp_path / "plateau", UIB2021, epochs=7, games=6, plateau_patience=2)
    training = ImitationTraining(config, tensorboard=False)
    losses = iter([5.0, 4, 6, 6, 6, 6, 6])
    monkeypatch.setattr(training, "validate", lambda: {"loss": next(losses), "accuracy": 0.0})
    for _ in training.run():
        pass
    rates = [row["learning_rate"] for row in training.metrics.rows]
    assert rates == pytest.approx([0.01, 0.01, 0.01, 0.01, 0.003, 0.003, 0.0009])
    assert training.best["epoch"] == 2
    config = tiny(mixed, tmp_path / "cosine", games=6, learning_rate=0.5, final_learning_rate=0.1)
    training = ImitationTraining(config, tensorboard=False)
    assert training.learning_rate_at(0.0) == 0.5
    training.epoch = 1
    assert training.learning_rate_at(0.5) == pytest.approx(0.3)
    training.epoch = 2
    assert training.learning_rate_at(1.0) == pytest.approx(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (DEFAULT, {"precision": "bfloat16"}),
        (DEFAULT, {"positions_per_epoch": 200, "network": replace(TINY, view="plain")}),
        (UIB2021, {"network": replace(TINY_PLAIN, value=True), "augment": True}),
    ],
    ids=["default", "plain", "uib2021"],
)
def test_interrupted_run_resumes_to_the_same_result(base, changes, mixed, tmp_path):
    whole = trained(tiny(mixed, tmp_path / "whole", base, **changes))
    parts = tiny(mixed, tmp_path / "parts", base, **changes)
    for epochs in (1, 2):
        training = ImitationTraining(parts, tensorboard=False)
        updates = training.run()
        while training.epoch < epochs:
            next(updates)
        next(updates)  # the run is killed within the next epoch
    training = trained(parts)
    assert training.epoch == 3
    for name in ("network", "best"):
        one, other = weights(tmp_path / "whole", name), weights(tmp_path / "parts", name)
        assert all(torch.equal(one[key], other[key]) for key in one)
    rows = [[{**row, "seconds": 0} for row in run.metrics.rows] for run in (whole, training)]
    assert rows[0] == rows[1]
    seeded = trained(tiny(mixed, tmp_path / "seeded", base, **changes | {"seed": 2}))
    assert seeded.metrics.rows[-1]["training_loss"] != rows[0][-1]["training_loss"]
    with pytest.raises(ValueError, match="other settings"):
        ImitationTraining(replace(parts, momentum=0.5), tensorboard=False)
    moves = load_dataset(mixed)
    save_dataset(tmp_path / "games.npz", moves[:20])
    started = replace(parts, data=(tmp_path / "games.npz",), run_dir=tmp_path / "started")
    ImitationTraining(started, tensorboard=False)
    save_dataset(tmp_path / "games.npz", moves[5:25])
    with pytest.raises(ValueError, match="digest"):
        ImitationTraining(started, tensorboard=False)


def test_validation_is_without_dropout_and_with_running_means(mixed, tmp_path):
    training = trained(tiny(mixed, tmp_path, UIB2021, epochs=1))
    network, data = training.network, training.data
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    chosen = data.validation[:60]
    losses = training.evaluate(network, chosen)
    planes = torch.from_numpy(data.observations.encode(chosen)[0]).float()
    network.eval()
    with torch.no_grad():
        logits = network(planes).double().numpy()
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = -np.log(probabilities[np.arange(60), data.actions[chosen]])
    np.testing.assert_allclose(losses["loss"], expected, rtol=1e-4)
    np.testing.assert_array_equal(losses["accuracy"], logits.argmax(1) == data.actions[chosen])
    first = training.evaluate(network, chosen[:1])  # does not depend on the batch
    np.testing.assert_allclose(first["loss"], losses["loss"][:1], rtol=1e-4)
    assert all(torch.equal(before[name], weight) for name, weight in network.state_dict().items())
    network.train()
    training.update(data.training[:64], np.random.default_rng(0), 0.0)
    assert not torch.equal(
        before["body.convolutions.2.running_mean"],
        network.state_dict()["body.convolutions.2.running_mean"],
    )


def test_value_loss_is_weighted(mixed, tmp_path):
    def step(vf_coef, network):
        folder = tmp_path / f"{vf_coef}-{network.value}"
        config = tiny(mixed, folder, network=network, games=8, vf_coef=vf_coef, max_grad_norm=0.0)
        training = ImitationTraining(config, tensorboard=False)
        last = training.network.body.head[-1].weight
        before = last.detach().clone()
        losses = training.update(training.data.training[:64], np.random.default_rng(0), 0.1)
        return losses, (last.detach() - before).abs().sum(1)

    losses, moved = step(0.0, replace(TINY, kind="residual"))
    assert losses["value_loss"] > 0
    assert moved[:4].min() > 0.01
    assert moved[4] < 1e-4  # by weight decay only
    assert step(1.0, TINY)[1][4] > 0.01
    assert "value_loss" not in step(1.0, replace(TINY, value=False))[0]


@pytest.mark.parametrize("view", VIEWS)
def test_command_leaves_a_report_and_a_network_to_start_from(view, mixed, tmp_path, capsys):
    run = tmp_path / "run"
    network = ["--network.filters", "8", "--network.blocks", "1", "--network.view", view]
    arguments = ["--data", str(mixed), "--run-dir", str(run), "--epochs", "2", "--batch-size", "64"]
    arguments += ["--games", "12"]
    results = main(parse([*arguments, *network]))
    assert results is not None
    assert "accuracy" in capsys.readouterr().out
    for name in ("learning_curve.png", "metrics.csv", "network.safetensors", "state.npz"):
        assert (run / name).stat().st_size > 100
    report = (run / "report.md").read_text()
    assert json.loads((run / "results.json").read_text()) == json.loads(json.dumps(results))
    overall, *agents = results["validation"]
    assert {one["agent"] for one in agents} == {"greedy", "random_safe"}
    for count in ("positions", "learned"):
        assert overall[count] == sum(one[count] for one in agents)
    mean = sum(one["accuracy"] * one["positions"] for one in agents) / overall["positions"]
    assert overall["accuracy"] == pytest.approx(mean)
    assert overall["accuracy"] == pytest.approx(results["training"]["best"]["accuracy"])
    assert f"| greedy | {agents[0]['positions']:,} |" in report.replace("random_safe", "greedy")
    game = make_game(SMALL)
    loaded, metadata = load_ac_network(game, run / "best.safetensors")
    assert metadata["card"]["validation"] == results["validation"]
    assert metadata["card"]["data"]["files"][0]["file"] == mixed.name
    further = PPOConfig(game=SMALL, network=loaded.config, start_from=run, run_dir=tmp_path / "ac")
    started = RLTraining(further, tensorboard=False).network.state_dict()
    assert all(torch.equal(started[key], one) for key, one in loaded.state_dict().items())


def test_time_limit_ends_a_run(mixed, tmp_path, capsys):
    config = tiny(mixed, tmp_path, UIB2021, epochs=1, games=8, minutes=1e-9)
    assert main(config, progress=False) is None
    assert "time is up before anything was learned" in capsys.readouterr().out
    assert main(replace(config, minutes=None), progress=False) is not None
    assert capsys.readouterr().out == ""


def test_uib2021_preset_matches_the_thesis():
    assert parse(["uib2021"]) == UIB2021
    assert parse([]) == DEFAULT
    assert UIB2021.network == ACConfig("uib2021", "plain", filters=24, blocks=6, value=False)
    settings = (
        UIB2021.optimizer,
        UIB2021.momentum,
        UIB2021.learning_rate,
        UIB2021.validation_fraction,
    )
    assert settings == ("sgd", 0.9, 0.01, 0.2)
    schedule = (UIB2021.lr_schedule, UIB2021.plateau_factor, UIB2021.plateau_patience)
    assert (*schedule, UIB2021.final_learning_rate) == ("plateau", 0.3, 5, 0.0001)
    assert not UIB2021.augment


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"data": ()}, "at least one file"),
        ({"agents": ("nobody",)}, "there is no agent 'nobody'"),
        ({"rating_range": (2000.0, 3000.0)}, "ratings are from 0 to 1000"),
        ({"rating_range": (2.0, 1.0)}, r"must be \(lowest, highest\)"),
        ({"rating_range": (5.0, 5.0)}, "at least two games"),
        ({"games": 31}, "games must be at most 30"),
        ({"games": 1}, "at least two different games"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"plateau_factor": 1.5}, "plateau_factor"),
        ({"plateau_patience": 0}, "plateau_patience"),
        ({"vf_coef": -1.0}, "vf_coef"),
        ({"optimizer": "lion"}, "optimizer must be one of"),
        ({"lr_schedule": "none"}, "lr_schedule must be one of"),
        ({"epochs": 0}, "epochs"),
    ],
)
def test_invalid_settings_raise(changes, problem, mixed, tmp_path):
    config = tiny(mixed, tmp_path)
    with pytest.raises(ValueError, match=problem):
        ImitationTraining(replace(config, **changes), tensorboard=False)


def test_diverged_training_raises(mixed, tmp_path):
    config = tiny(mixed, tmp_path, UIB2021, learning_rate=1e9, momentum=0.0)
    with pytest.raises(DivergedError, match="learning_rate=1e\\+09 is too high"):
        trained(config)
