"""Tests of tabular Q-learning: update by hand, exact values, learning."""

import json
import re
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import tyro

from ludoteca.envs.grid_world import FREE, GridWorld, action_mask
from ludoteca.train.q_learning import (
    QLearningConfig,
    choose,
    learn,
    legal_actions,
    main,
    make_env,
    update,
)
from ludoteca.train.q_learning_report import board, describe, greedy_actions, mask_illegal
from ludoteca.train.value_iteration import optimal_q

NORTH, EAST, SOUTH, WEST = range(4)
TUTORIAL = Path(__file__).parents[2] / "docs/tutorial/1_q_learning.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Yield the folder and the results of a run."""
    folder = tmp_path_factory.mktemp("runs") / "q_learning"
    arguments, sys.argv = sys.argv, ["q_learning", "--seed", "0"]
    yield folder, main(QLearningConfig(run_dir=folder))
    sys.argv = arguments


def test_update_matches_hand_computation():
    q = np.zeros((3, 2))
    q[0, 1], q[1] = 2.0, (4.0, 10.0)
    # 0.5 * 2 + 0.5 * (1 + 0.9 * 10)
    update(q, 0, 1, 1.0, 1, np.array([0, 1]), 0.5, 0.9)
    assert q.tolist() == [[0.0, 6.0], [4.0, 10.0], [0.0, 0.0]]
    # Only the first action is legal in the next state: 0.75 * 6 + 0.25 * (-2 + 0.5 * 4).
    update(q, 0, 1, -2.0, 1, np.array([0]), 0.25, 0.5)
    assert q[0].tolist() == [0.0, 4.5]
    # The episode ends: 0.75 * 4.5 + 0.25 * 1.
    update(q, 0, 1, 1.0, 1, np.array([], np.int64), 0.25, 0.5)
    assert q[0].tolist() == [0.0, 3.625]


def test_actions_are_epsilon_greedy():
    rng = np.random.default_rng(0)
    values, legal = np.array([5.0, 1.0, 3.0, 3.0]), np.array([1, 2, 3])

    def share(epsilon):
        chosen = [choose(values, legal, epsilon, rng) for _ in range(3000)]
        return np.bincount(chosen, minlength=4) / 3000

    # Standard deviations are below 0.01.
    np.testing.assert_allclose(share(0.0), [0, 0, 0.5, 0.5], atol=0.04)
    np.testing.assert_allclose(share(1.0), [0, 1 / 3, 1 / 3, 1 / 3], atol=0.04)
    np.testing.assert_allclose(share(0.3), [0, 0.1, 0.45, 0.45], atol=0.04)


def test_exact_values_without_chance():
    exact = optimal_q(GridWorld(), 0.9)
    # A cell's value is 0.9 ** (moves - 1), by its number of moves to the goal.
    moves = {0: 3, 1: 2, 2: 1, 4: 4, 6: 2, 8: 5, 9: 4, 10: 3, 11: 4}
    values = {cell: np.nanmax(exact[cell]) for cell in FREE}
    assert values == pytest.approx({cell: 0.9 ** (n - 1) for cell, n in moves.items()})
    assert exact[11, NORTH] == exact[6, EAST] == -1
    assert exact[8, NORTH] == pytest.approx(exact[8, EAST])
    for cell in range(12):
        assert np.isnan(exact[cell]).tolist() == (action_mask(cell) == 0).tolist()


def test_exact_values_match_the_textbook():
    # Russell and Norvig, 3rd edition, figure 17.3. Their reward of -0.04 counts for every cell
    # that the agent leaves, so here it is added to the reward of the goal and of the trap.
    world = GridWorld(goal_reward=0.96, trap_reward=-1.04, living_reward=-0.04, slip=0.2)
    values = np.nanmax(optimal_q(world, 1.0)[list(FREE)], axis=1)
    figure = [0.812, 0.868, 0.918, 0.762, 0.660, 0.705, 0.655, 0.611, 0.388]
    np.testing.assert_allclose(values, figure, atol=0.0006)


def test_divergent_values_are_refused(monkeypatch):
    monkeypatch.setattr("ludoteca.train.value_iteration.MAX_SWEEPS", 1000)
    with pytest.raises(ValueError, match=r"have not converged .* with gamma=1;"):
        optimal_q(GridWorld(living_reward=0.1), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_episodes_are_enough(seed):
    env = gym.make("ludoteca/GridWorld-v0")
    learned, exact = learn(env, QLearningConfig(seed=seed)), optimal_q(env.unwrapped, 0.9)
    q = mask_illegal(learned.q, exact)
    greedy, optimal = greedy_actions(q), greedy_actions(exact)
    for cell in FREE:
        assert learned.updates[cell].sum() > 0
        assert not (greedy[cell] & ~optimal[cell]).any()
    is_frequent = learned.updates >= 30
    assert is_frequent.sum() >= 16
    np.testing.assert_allclose(q[is_frequent], exact[is_frequent], atol=1e-3)
    # Illegal actions are never tried.
    assert not learned.updates[np.isnan(exact)].any()
    assert not learned.q[np.isnan(exact)].any()


def test_values_converge_with_full_exploration():
    env = make_env("ludoteca/GridWorld-v0:random_start=True")
    learned, exact = learn(env, QLearningConfig(epsilon=1.0)), optimal_q(env.unwrapped, 0.9)
    np.testing.assert_allclose(learned.q, np.nan_to_num(exact), atol=1e-6)


def test_slippery_grid_world_is_learned():
    env = make_env("ludoteca/GridWorld-v0:slip=0.2,living_reward=-0.04,random_start=True")
    config = QLearningConfig(gamma=1.0, learning_rate=0.03, epsilon=0.5, episodes=3000)
    learned, exact = learn(env, config), optimal_q(env.unwrapped, 1.0)
    legal = ~np.isnan(exact)
    assert np.abs(learned.q - exact)[legal].mean() < 0.05
    for cell in (0, 1, 2, 4, 6, 8):  # the way along the walls
        assert learned.q[cell].argmax() == np.nanargmax(exact[cell])


def test_environments_without_masks_are_supported():
    env = make_env("FrozenLake-v1:is_slippery=False")
    learned = learn(env, QLearningConfig(epsilon=0.5, episodes=1500))
    # Six moves lead to the goal, the last one is rewarded.
    assert learned.q[0].max() == pytest.approx(0.9**5, abs=1e-3)
    assert learned.q.shape == (16, 4)


def test_truncated_episodes_bootstrap():
    # Episodes are truncated after each move, and updates use the value of the next state.
    env = gym.make("ludoteca/GridWorld-v0", random_start=True, max_episode_steps=1)
    learned = learn(env, QLearningConfig(epsilon=1.0, episodes=3000))
    exact = optimal_q(env.unwrapped, 0.9)
    np.testing.assert_allclose(learned.q, np.nan_to_num(exact), atol=1e-3)


def test_seed_determines_the_run():
    env = make_env("ludoteca/GridWorld-v0:slip=0.2")
    first, same, other = (learn(env, QLearningConfig(seed=seed, episodes=50)) for seed in (3, 3, 4))
    assert first.q.tolist() == same.q.tolist()
    assert first.returns.tolist() == same.returns.tolist()
    assert first.q.tolist() != other.q.tolist()


def test_run_writes_all_files(run):
    folder, results = run
    assert sorted(path.name for path in folder.iterdir()) == [
        "results.json",
        "values.png",
        "values.txt",
    ]
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(results))
    assert (folder / "values.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert results["command"] == "python -m ludoteca.train.q_learning --seed 0"
    assert results["mean_return_greedy"] == 1.0
    assert np.sum(results["updates"]) == results["moves"]
    exact = np.array(results["exact"], float)
    text = describe(np.array(results["q"]), exact, np.array(results["updates"]))
    assert (folder / "values.txt").read_text() == text
    assert "the greedy action is optimal in 9 of 9 visited cells" in text


def test_values_are_drawn_toward_the_action():
    table = np.full((12, 4), np.nan)
    table[10] = (0.25, -0.125, np.nan, -0.0001)
    assert (
        board(table, "{:+.3f}")
        == """\
+---------------+---------------+---------------+---------------+
|               |               |               |               |
|               |               |               |      goal     |
|               |               |               |               |
+---------------+---------------+---------------+---------------+
|               |               |               |               |
|               |       #       |               |      trap     |
|               |               |               |               |
+---------------+---------------+---------------+---------------+
|               |               |     +0.250    |               |
|               |               | 0.000  -0.125 |               |
|               |               |               |               |
+---------------+---------------+---------------+---------------+
"""
    )


def test_policy_shows_ties_and_unvisited_cells():
    exact = optimal_q(GridWorld(), 0.9)
    updates = np.where(np.isnan(exact), 0, 1)
    updates[11] = 0
    text = describe(np.nan_to_num(exact), exact, updates)
    assert (
        "greedy policy, learned          optimal policy\n"
        "→    →    →    goal             →    →    →    goal\n"
        "↑    #    ↑    trap             ↑    #    ↑    trap\n"
        "↑→   →    ↑    ?                ↑→   →    ↑    ←\n"
        "\n"
        "the greedy action is optimal in 8 of 8 visited cells\n"
        "largest error of an updated value: 0\n"
    ) in text


@pytest.mark.slow
def test_tutorial_output_matches_its_text(tmp_path, monkeypatch, capsys):
    """Run the Python blocks and commands in order; they must print every output of the text."""
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall(TUTORIAL.read_text(encoding="utf-8"))
    names = {"__name__": "__main__"}
    for language, code in blocks:
        if language == "python":
            exec(compile(code, str(TUTORIAL), "exec"), names)
        if language == "bash":
            prefix = "python -m ludoteca.train.q_learning"
            for line in code.splitlines():
                assert line.startswith(prefix)
                main(tyro.cli(QLearningConfig, args=line.removeprefix(prefix).split()))
    printed = capsys.readouterr().out
    outputs = [text for language, text in blocks if language == "text"]
    assert outputs
    for text in outputs:
        assert text in printed


def test_settings_are_command_line_options():
    arguments = ["--env", "Taxi-v4", "--epsilon", "0.2", "--run-dir", "x/y"]
    config = tyro.cli(QLearningConfig, args=arguments)
    assert config == QLearningConfig(env="Taxi-v4", epsilon=0.2, run_dir=Path("x/y"))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"episodes": 0}, "episodes must be an integer from 1"),
        ({"n_eval_episodes": 0}, "n_eval_episodes must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"gamma": 1.1}, "gamma must be a number from 0 to 1, got 1.1"),
        ({"epsilon": -0.1}, "epsilon must be a number from 0 to 1, got -0.1"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        QLearningConfig(**settings)


@pytest.mark.parametrize(
    ("env", "problem"),
    [
        ("ludoteca/Nothing-v0", "env 'ludoteca/Nothing-v0' cannot be made: .*doesn't exist"),
        ("ludoteca/GridWorld-v0:size=5", "cannot be made: .*unexpected keyword argument 'size'"),
        ("ludoteca/GridWorld-v0:slip=2", "slip must be a number from 0 to 1, got 2"),
        ("CartPole-v1", "the observation space must be Discrete and start at 0, got Box"),
        ("ludoteca/TicTacToe-v0", "the observation space must be Discrete and start at 0, got Box"),
    ],
)
def test_environments_without_a_table_are_refused(env, problem, tmp_path):
    with pytest.raises(ValueError, match=problem):
        main(QLearningConfig(env=env, run_dir=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_invalid_masks_raise():
    assert legal_actions({}, 3).tolist() == [0, 1, 2]
    assert legal_actions({"action_mask": np.array([0, 1, 1], np.int8)}, 3).tolist() == [1, 2]
    for mask in ([0, 0, 0], [1, 1]):
        with pytest.raises(ValueError, match=r"action_mask must have shape \(3,\) and allow an"):
            legal_actions({"action_mask": mask}, 3)
