"""Tests of learning in games of one player, of three players, and with returns that add up."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from chance_games import write
from learning_sheets import LOCK, NIM, STAG_HUNT

from ludoteca.__main__ import main
from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.encoder import SequentialEncoder
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.seat_results import seat_names
from ludoteca.train.algorithms import choose_algorithm
from ludoteca.train.evaluation import MEAN_RETURN, SOLVED, evaluate, evaluation_metrics
from ludoteca.train.loop import RLTraining
from ludoteca.train.next_command import next_command
from ludoteca.train.nfsp import NFSPConfig
from ludoteca.train.ppo import PPO, PPOConfig
from ludoteca.train.reinforce import ReinforceConfig

NETWORK = ACConfig(kind="residual", view="plain", filters=16, blocks=0)
SETTINGS = {
    "network": NETWORK,
    "batch_size": 128,
    "learning_rate": 3e-3,
    "eval_opponents": ("random",),
    "log_interval": 10**6,
    "eval_interval": 10**6,
    "eval_games": 5,
    "save_seconds": 1e9,
    "threads": 1,
    "overlap_actor_learner": False,
    "precision": "float32",
}
ALONE = {"opponent_pool": (), "opponent_pool_prob": 0.0}
POLICY_GRADIENT = {"games_per_iteration": 64, "ent_coef": 0.01, **ALONE}
PPO_SETTINGS = {**POLICY_GRADIENT, "replay_ratio": 4.0}
KINDS = pytest.mark.parametrize("sheet", [LOCK, NIM, STAG_HUNT], ids=["lock", "nim", "stag_hunt"])


def train(config_class, sheet, games, settings, tmp_path):
    """Train, and return the game and the spec string of the trained agent."""
    spec = f"gdl:path={write(tmp_path, sheet)}"
    run_dir = tmp_path / "run"
    config = config_class(run_dir=run_dir, game=spec, games=games, **(SETTINGS | settings))
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    return training.game, f"{training.algorithm.agent_name}:{run_dir}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config_class", "settings"),
    [(PPOConfig, PPO_SETTINGS), (ReinforceConfig, POLICY_GRADIENT)],
    ids=["ppo", "reinforce"],
)
def test_a_puzzle_for_one_player_is_solved(config_class, settings, tmp_path):
    game, agent = train(config_class, LOCK, 3_000, settings, tmp_path)
    random, trained = play_match(game, ["random", f"{agent},temperature=1"], 1_000, seed=5).totals
    # The probability of at least five right digits of eight, each of which has probability 1/3.
    assert abs(random.win_rate - 0.088) < 0.04
    assert trained.win_rate > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config_class", "settings"),
    [
        (PPOConfig, PPO_SETTINGS),
        (ReinforceConfig, POLICY_GRADIENT),
        (NFSPConfig, {"network": replace(NETWORK, value=False)}),
    ],
    ids=["ppo", "reinforce", "nfsp"],
)
def test_a_game_for_three_is_won_in_every_seat(config_class, settings, tmp_path):
    game, agent = train(config_class, NIM, 6_000, settings, tmp_path)
    random = play_match(game, ["random"] * 3, 3_000, seed=5)
    trained = play_match(game, [agent, "random", "random"], 3_000, seed=5)
    for seat in range(3):
        # Half of the wins that random moves leave; the standard error is 0.016.
        chance = random.by_seat[seat].win_rate
        assert trained.seats[0][seat].win_rate > chance + 0.15, seat


@pytest.mark.slow
def test_two_players_learn_their_common_interest(tmp_path):
    game, agent = train(PPOConfig, STAG_HUNT, 3_000, PPO_SETTINGS, tmp_path)
    match = play_match(game, [f"{agent},temperature=1"] * 2, 500, seed=5)
    assert match.returns is not None
    assert match.returns.mean() > 0.9  # 1 if both hunt the stag in both rounds
    assert abs(play_match(game, ["random"] * 2, 500, seed=5).totals[0].mean_return) < 0.15


@pytest.mark.interpreted
@KINDS
def test_decisions_are_credited_with_the_return_of_their_player(sheet, tmp_path):
    game = make_game("gdl", path=write(tmp_path, sheet))
    settings = SETTINGS | ALONE | {"games_per_iteration": 12, "gae_lambda": 1.0, "gamma": 1.0}
    config = PPOConfig(game=game.spec, **settings)
    algorithm = PPO(config, game, PPO.make_network(config.network, game))

    def infer(planes):  # a policy that depends on nothing, and values that are not 0
        return np.tile(
            np.linspace(-0.5, 0.5, game.num_actions + 1, dtype=np.float32), (len(planes), 1)
        )

    rollout = algorithm.collect(infer, np.random.default_rng(0), 0)
    players = {(int(b), int(p)) for b, p in zip(rollout.env_indices, rollout.seats, strict=True)}
    assert {p for _, p in players} == set(range(game.num_players))
    own_returns = rollout.returns[rollout.env_indices, rollout.seats]
    assert len(set(own_returns.tolist())) > 1
    assert np.allclose(rollout.values, 0.5)
    assert np.allclose(algorithm.advantages(rollout) + rollout.values, own_returns)
    total, count = algorithm.measure(rollout)["self_play_return"]
    assert np.isclose(total / count, rollout.returns.mean())


@pytest.mark.interpreted
@KINDS
def test_the_player_who_observes_is_encoded_in_planes(sheet, tmp_path):
    game = make_game("gdl", path=write(tmp_path, sheet))
    encoder = SequentialEncoder(game)
    seats = np.arange(game.num_players)
    states = np.repeat(np.asarray(game.new(0)).reshape(1).astype(game.state), game.num_players)
    planes, masks = encoder.encode(states, seats)
    assert planes.shape[1:] == encoder.shape
    assert masks.shape == (game.num_players, game.num_actions)
    added = planes[:, game.observation_shape[0] :]
    _, rows, columns = encoder.shape
    if game.num_players == 1:
        assert added.shape[1] == 0
    elif game.num_players == 2:
        assert (added == seats[:, None, None, None]).all()
        assert added.shape[1] == 1
    else:
        one_hot = np.eye(game.num_players)[:, :, None, None]
        assert np.array_equal(added, np.broadcast_to(one_hot, (3, 3, rows, columns)))
    for symmetry in encoder.symmetries:
        assert np.array_equal(symmetry.observation(planes).shape, planes.shape)


@pytest.mark.interpreted
@KINDS
def test_ppo_is_chosen_and_suggested(sheet, tmp_path):
    game = make_game("gdl", path=write(tmp_path, sheet))
    assert choose_algorithm(game) == "ppo"
    assert choose_algorithm(game, "reinforce") == "reinforce"
    for name in ("dqn", "alphazero", "search-imitation"):
        with pytest.raises(ValueError, match=rf"{name} does not learn gdl: expected .*; use ppo$"):
            choose_algorithm(game, name)
    if game.num_players == 1:
        for name in ("nfsp", "uib2021"):
            with pytest.raises(ValueError, match=r"two players or more, .* is for one; use ppo"):
                choose_algorithm(game, name)
        with pytest.raises(ValueError, match="has one player, so it has no opponent 'random'"):
            choose_algorithm(game, "auto", "random")
    else:
        assert choose_algorithm(game, "nfsp") == "nfsp"
        assert choose_algorithm(game, "auto", "random") == "ppo"


@pytest.mark.interpreted
def test_games_for_one_player_have_no_opponent_pool(tmp_path):
    game = make_game("gdl", path=write(tmp_path, LOCK))
    config = PPOConfig(game=game.spec, **(SETTINGS | {"opponent_pool": ("random",)}))
    network = PPO.make_network(config.network, game)
    with pytest.raises(ValueError, match=r"expected an empty opponent_pool, got \('random',\)"):
        PPO(config, game, network)
    actor = object()
    assert PPO(replace(config, opponent_pool=()), game, network).wrap_actor(actor) is actor


@pytest.mark.interpreted
@KINDS
def test_evaluations_have_mean_returns(sheet, tmp_path):
    game = make_game("gdl", path=write(tmp_path, sheet))
    agent = PPO(
        PPOConfig(game=game.spec, **(SETTINGS | ALONE)),
        game,
        PPO.make_network(NETWORK, game),
    ).agent()
    results, match = evaluate(game, agent, "random", 4, seed=1)
    assert [result["seat"] for result in results] == list(seat_names(game))
    assert match.returns is not None
    metrics = evaluation_metrics(game, "random", results)
    if game.num_players == 1:
        assert metrics == {MEAN_RETURN: match.returns.mean(), SOLVED: (match.returns == 1).mean()}
        assert results[0]["distinct"] == 1  # the game has no chance, and the agent samples nothing
    else:
        assert set(metrics) == {
            f"random__{seat}{suffix}" for seat in seat_names(game) for suffix in ("", "_return")
        }
        # Game k has the agent in seat -k modulo the number of players.
        first = match.returns[:: game.num_players, 0]
        assert metrics["random__first_return"] == pytest.approx(first.mean())
    arguments = next_command(game, "ac", tmp_path / "run").split()
    assert arguments[1] == ("play" if game.num_players == 2 else "match")


@pytest.mark.slow
@KINDS
def test_the_command_trains_and_reports(sheet, tmp_path, capsys):
    spec, run_dir = f"gdl:path={write(tmp_path, sheet)}", tmp_path / "run"
    settings = ["games=96", "games_per_iteration=16", "network.filters=4", "network.blocks=0"]
    settings += ["final_eval_games=6", "eval_games=3"]
    assert (
        main(["train", spec, "--minutes", "600", "--run-dir", str(run_dir), "--set", *settings])
        == 0
    )
    output = capsys.readouterr().out
    results = json.loads((run_dir / "results.json").read_text())
    report = (run_dir / "report.md").read_text()
    players = make_game(spec).num_players
    if players == 1:
        assert [entry["opponent"] for entry in results["evaluation"]] == ["nobody"]
        assert [entry["agent"] for entry in results["baselines"]] == ["random"]
        assert "a game for one player" in report
        assert re.search(r"^the network\s.*^random\s", output, re.MULTILINE | re.DOTALL)
        assert "| agent | games | mean return | 95 % interval | solved | 95 % interval |" in report
    else:
        assert "trained against itself and an opponent pool" in report
        assert {entry["opponent"] for entry in results["evaluation"]} >= {"random"}
        assert [entry["opponent"] for entry in results["self_play"]] == ["itself"]
        assert f"| itself | {seat_names(make_game(spec))[-1]} |" in report
    command = re.search(r"^next: ludoteca (.*)$", output, re.MULTILINE)
    assert command is not None
    assert (run_dir / "learning_curve.png").stat().st_size > 10_000
    assert (run_dir / "game.png").exists()
    if players != 2:  # `play` needs a person
        assert main([*command[1].split(), "--games", "4"]) == 0
        assert f"ac:{run_dir}" in capsys.readouterr().out
