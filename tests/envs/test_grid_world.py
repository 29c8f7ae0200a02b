"""The grid world: moves, masks, rewards, chance, and Gymnasium's contract."""

import xml.etree.ElementTree as ET
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ludoteca.envs.grid_world import ACTIONS, FREE, GOAL, TRAP, GridWorld, Transition
from ludoteca.envs.registry import GAMES

NORTH, EAST, SOUTH, WEST = range(4)

# Numbers of the cells: `#` is a wall, `+` the goal, `-` the trap, and the agent starts in cell 8.
#  0  1  2  +3
#  4  #  6  -7
#  8  9 10  11
LEGAL = {
    0: "east south",
    1: "east west",
    2: "east south west",
    4: "north south",
    6: "north east south",
    8: "north east",
    9: "east west",
    10: "north east west",
    11: "north west",
}


def make(**options: Any) -> GridWorld:
    """Make a grid world."""
    return GridWorld(**options)


def walk(env: GridWorld, *actions: int) -> list[tuple[int, float, bool]]:
    """Return the cell, the reward and whether the episode terminated, after each action."""
    env.reset(seed=0)
    steps = [env.step(action) for action in actions]
    return [(cell, reward, terminated) for cell, reward, terminated, _, _ in steps]


@pytest.mark.parametrize("options", [{}, {"slip": 0.2, "random_start": True}], ids=str)
def test_gymnasium_check_env(options: dict[str, Any]) -> None:
    env = gym.make("ludoteca/GridWorld-v0", disable_env_checker=True, **options)
    check_env(env.unwrapped)


def test_the_grid_world_is_registered_but_is_not_a_game() -> None:
    env = gym.make("ludoteca/GridWorld-v0")
    assert isinstance(env.unwrapped, GridWorld)
    assert env.observation_space == gym.spaces.Discrete(12)
    assert env.action_space == gym.spaces.Discrete(4)
    assert "GridWorld-v0" not in GAMES
    envs = gym.make_vec("ludoteca/GridWorld-v0", num_envs=3)
    observations, info = envs.reset(seed=0)
    assert observations.tolist() == [8, 8, 8]
    assert info["action_mask"].shape == (3, 4)


def test_an_episode_is_truncated_after_a_hundred_moves() -> None:
    env = gym.make("ludoteca/GridWorld-v0")
    env.reset(seed=0)
    ends = [env.step(WEST)[2:4] for _ in range(100)]
    assert ends == [(False, False)] * 99 + [(False, True)]


def test_moves_lead_to_neighbors_and_the_goal_ends_the_episode() -> None:
    # The way along the west and north walls, 8 4 0 1 2 3.
    assert walk(make(), NORTH, NORTH, EAST, EAST, EAST) == [
        (4, 0.0, False), (0, 0.0, False), (1, 0.0, False), (2, 0.0, False), (GOAL, 1.0, True),
    ]  # fmt: skip


def test_the_trap_ends_the_episode() -> None:
    assert walk(make(), EAST, EAST, EAST, NORTH)[-1] == (TRAP, -1.0, True)
    assert walk(make(), EAST, EAST, NORTH, EAST)[-1] == (TRAP, -1.0, True)


def test_masks_allow_moves_to_free_cells() -> None:
    env = make(random_start=True)
    legal = {}
    for seed in range(200):
        cell, info = env.reset(seed=seed)
        assert info["action_mask"].dtype == np.int8
        legal[cell] = " ".join(ACTIONS[a] for a in np.flatnonzero(info["action_mask"]))
    assert legal == LEGAL


def test_no_action_is_legal_after_the_end() -> None:
    env = make()
    walk(env, EAST, EAST, NORTH)
    cell, _, terminated, _, info = env.step(EAST)
    assert (cell, terminated) == (TRAP, True)
    assert info["action_mask"].tolist() == [0, 0, 0, 0]


def test_walls_stop_illegal_moves() -> None:
    assert walk(make(living_reward=-0.1), WEST, SOUTH, NORTH, EAST) == [
        (8, -0.1, False), (8, -0.1, False), (4, -0.1, False), (4, -0.1, False),
    ]  # fmt: skip


def test_illegal_moves_may_be_refused() -> None:
    env = make(illegal_action="raise")
    env.reset(seed=0)
    with pytest.raises(
        ValueError, match=r"action 3 is illegal in cell 8: the legal actions are \[0 1\]"
    ):
        env.step(WEST)
    assert env.step(NORTH)[0] == 4  # nothing had changed


def test_rewards_are_parameters() -> None:
    env = make(goal_reward=5, trap_reward=-7, living_reward=-0.5)
    assert [reward for _, reward, _ in walk(env, NORTH, NORTH, EAST, EAST, EAST)] == [
        -0.5, -0.5, -0.5, -0.5, 5.0,
    ]  # fmt: skip
    assert walk(env, EAST, EAST, EAST, NORTH)[-1] == (TRAP, -7.0, True)


def test_slipping_moves_at_right_angles() -> None:
    env = make(slip=0.2, living_reward=-0.04)
    # From the start, cell 8, to the north; a slip to the west ends at the wall.
    assert env.transitions(8, NORTH) == [
        Transition(0.8, 4, -0.04, False),
        Transition(0.1, 8, -0.04, False),
        Transition(0.1, 9, -0.04, False),
    ]
    # Beside the goal, to the east; a slip to the north ends at the wall.
    assert env.transitions(2, EAST) == [
        Transition(0.8, 3, 1.0, True),
        Transition(0.1, 2, -0.04, False),
        Transition(0.1, 6, -0.04, False),
    ]
    assert make().transitions(2, EAST) == [Transition(1.0, 3, 1.0, True)]


def test_probabilities_add_up_to_one() -> None:
    for slip in (0.0, 0.2, 1.0):
        for cell in FREE:
            for action in range(4):
                transitions = make(slip=slip).transitions(cell, action)
                assert sum(next_.probability for next_ in transitions) == pytest.approx(1)
                assert all(next_.cell in FREE or next_.terminated for next_ in transitions)


def test_steps_are_sampled_with_the_probabilities_of_the_model() -> None:
    env = make(slip=0.2)
    env.reset(seed=1)
    ends = []
    for _ in range(2000):
        env.reset()
        ends.append(env.step(NORTH)[0])
    shares = {cell: ends.count(cell) / len(ends) for cell in (4, 8, 9)}
    assert shares[4] == pytest.approx(0.8, abs=0.03)  # more than three standard deviations
    assert shares[8] == pytest.approx(0.1, abs=0.03)
    assert shares[9] == pytest.approx(0.1, abs=0.03)


def test_the_seed_determines_the_episode() -> None:
    def cells(seed: int) -> list[int]:
        env = gym.make("ludoteca/GridWorld-v0", slip=0.5, random_start=True)
        seen = [env.reset(seed=seed)[0]]
        for action in (0, 1, 2, 3) * 10:
            cell, _, terminated, _, _ = env.step(action)
            seen.append(env.reset()[0] if terminated else cell)
        return seen

    assert cells(3) == cells(3)
    assert cells(3) != cells(4)


def test_random_starts_are_uniform_over_free_cells() -> None:
    env = make(random_start=True)
    env.reset(seed=0)
    starts = [env.reset()[0] for _ in range(1800)]
    counts = [starts.count(cell) for cell in FREE]
    assert sum(counts) == 1800
    assert min(counts) > 140  # 200 expected, standard deviation 13
    assert max(counts) < 260


def test_render_modes_return_text_pixels_and_svg() -> None:
    env = make(render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == ". . . +\n. # . -\nA . . .\n"
    walk(env, NORTH, NORTH, EAST, EAST, EAST)
    assert env.render() == ". . . A\n. # . -\n. . . .\n"
    env = make(render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (182, 242, 3)
    env = make(render_mode="svg")
    env.reset(seed=0)
    assert ET.fromstring(env.render()).tag.endswith("svg")
    env = make()
    env.reset(seed=0)
    assert env.render() is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"slip": 1.5}, "slip must be a number from 0 to 1, got 1.5"),
        ({"goal_reward": "one"}, "goal_reward must be a number"),
        ({"living_reward": float("nan")}, "living_reward must be a number"),
        ({"random_start": 1}, "random_start must be one of False, True, got 1"),
        ({"illegal_action": "lose"}, "illegal_action must be one of 'stay', 'raise', got 'lose'"),
        ({"render_mode": "human"}, "render_mode must be one of None, 'ansi'"),
    ],
)
def test_parameters_out_of_range_are_errors(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        make(**options)


def test_misuse_is_an_error() -> None:
    env = make(render_mode="ansi")
    with pytest.raises(ValueError, match="call reset before step"):
        env.step(NORTH)
    with pytest.raises(ValueError, match="call reset before render"):
        env.render()
    env.reset(seed=0)
    for action in (4, -1, 1.0, None):
        with pytest.raises(ValueError, match="action must be an integer from 0 to 3, got"):
            env.step(action)  # type: ignore[arg-type]
    assert walk(env, EAST, EAST, EAST, NORTH)[-1][2]
    with pytest.raises(ValueError, match="the episode is over in cell 7: call reset before step"):
        env.step(NORTH)
    with pytest.raises(ValueError, match="cell must be one of 0, 1, 2, 4, 6, 8, 9, 10, 11, got 3"):
        env.transitions(3, NORTH)
