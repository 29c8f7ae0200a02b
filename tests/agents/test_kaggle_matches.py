"""Tests of submissions in matches and environments, and of agents as functions."""

import gymnasium as gym
import numpy as np
import pytest
from submissions import BOARDS, ask, positions_of

import ludoteca
from ludoteca.agents.agent import Agent
from ludoteca.agents.external.kaggle import KaggleFunctionAgent, kaggle_function
from ludoteca.agents.external.kaggle.observation import configuration, observation
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

GAME = hungry_geese()
NORTH, EAST, SOUTH, WEST = range(4)
ENV_INDEX = np.zeros(1, np.int64)
SMALL_GEESE = "hungry_geese:num_players=2,rows=5,columns=6,episode_steps=40"


# A submission that plays at random, by two modules.
RANDOM = """
    import random
    import numpy as np
    def agent(obs):
        return ["NORTH", "EAST", "SOUTH", "WEST"][(random.randrange(4) + np.random.randint(4)) % 4]
"""


@pytest.mark.slow
@pytest.mark.interpreted
def test_matches_can_be_repeated_and_do_not_depend_on_the_batch(write):
    path = write(RANDOM)
    runs = [
        play_match(SMALL_GEESE, [f"kaggle:{path},games={games}", "random_safe"], 6, seed=3,
                   num_replays=6, num_threads=threads)
        for games, threads in ((1, 1), (1, 1), (4, 1), (1, 2))
    ]  # fmt: skip
    actions = [[replay.actions for replay in run.replays] for run in runs]
    assert all(one == actions[0] for one in actions)
    assert runs[0].forfeits == ()
    other = play_match(SMALL_GEESE, [f"kaggle:{path}", "random_safe"], 6, seed=4, num_replays=6)
    assert [replay.actions for replay in other.replays] != actions[0]


@pytest.mark.interpreted
def test_submissions_are_opponents_in_environments(write):
    path = write("def a(obs):\n    return 'EAST' if obs.step < 2 else 1 / 0")
    env = gym.make("ludoteca/HungryGeese-v0", opponent=f"kaggle:{path}", illegal_action="raise")
    assert ludoteca.__version__
    for _ in range(2):
        env.reset(seed=1)
        total, steps, over = 0.0, 0, False
        while not over:
            _, reward, over, _, _ = env.step(NORTH)
            total, steps = total + reward, steps + 1
        assert (total, steps) == (1, 3)


@pytest.mark.interpreted
def test_function_in_this_process_is_an_agent():
    def agent(obs, conf):
        return "SOUTH" if obs.step < 3 and conf.rows == 7 else "EAST"

    made = []
    result = play_match(
        "hungry_geese",
        [KaggleFunctionAgent(GAME, lambda: made.append(1) or agent), "random"],
        2,
        num_replays=2,
    )
    assert len(made) == 4
    assert [joint[0] for joint in result.replays[0].actions[:4]] == [SOUTH] * 3 + [EAST]
    for wrong in ("UP", 3):
        with pytest.raises(
            ValueError, match="an agent must return one of NORTH, EAST, SOUTH, WEST"
        ):
            ask(KaggleFunctionAgent(GAME, lambda wrong=wrong: lambda obs: wrong))
    with pytest.raises(ZeroDivisionError):
        ask(KaggleFunctionAgent(GAME, lambda: lambda obs: 1 / 0))
    assert ask(KaggleFunctionAgent(GAME, lambda: lambda: None)) == NORTH
    with pytest.raises(ValueError, match="need the game hungry_geese, got hex"):
        KaggleFunctionAgent(make_game("hex"), lambda: agent)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, marks=pytest.mark.slow if spec in BOARDS[::2] else ())
        for spec in BOARDS[:4]
    ],
)
@pytest.mark.interpreted
def test_agent_as_a_function_plays_the_same_game(spec):
    """The function converts observations to positions, in which the agent acts."""
    game = make_game(spec)
    for seat in range(game.num_players):
        play = kaggle_function("flat:simulations=4,playout_depth=3", seed=5)
        own, rng = (
            make_agent("flat:simulations=4,playout_depth=3", game),
            np.full((1, 1), 5, np.uint64),
        )
        for s in positions_of(game, seed=seat):
            if s.length[seat] == 0 or game.is_terminal(s):
                break
            states = game.empty(1)
            states[0] = s
            (expected,) = own.act(states, np.array([seat]), rng, ENV_INDEX)
            answer = play(observation(s, seat), configuration(game))
            assert answer == ("NORTH", "EAST", "SOUTH", "WEST")[expected]


class Recorder(Agent):
    """Agent that always plays `action` and counts the calls of `reset`."""

    num_resets = 0

    def reset(self, env_indices):
        Recorder.num_resets += 1

    def act(self, states, seats, rngs, env_indices):
        return np.full(len(states), self.action)

    action = EAST


def test_agent_as_a_function_is_reset_at_each_new_game(monkeypatch):
    monkeypatch.setattr(
        "ludoteca.agents.external.kaggle.function.make_agent", lambda spec, game: Recorder(game)
    )
    play = kaggle_function("recorder")
    for _ in range(2):
        for s in positions_of(GAME)[:3]:
            assert play(observation(s, 1), configuration(GAME)) == "EAST"
    assert Recorder.num_resets == 2
    monkeypatch.setattr(Recorder, "action", FORFEIT)
    with pytest.raises(RuntimeError, match="forfeit"):
        play(observation(GAME.new(), 1), configuration(GAME))


@pytest.mark.interpreted
def test_submissions_play_by_the_clock_of_the_match(write):
    path = write("""
        def agent(obs, conf):
            if (conf.actTimeout, obs.remainingOverageTime) != (5.5, 77):
                raise ValueError(f"{conf.actTimeout} {obs.remainingOverageTime}")
            return "NORTH" if obs.step % 2 else "EAST"
    """)
    result = play_match(
        SMALL_GEESE,
        [f"kaggle:{path}", "random_safe"],
        2,
        seed=3,
        time_control=TimeControl(5.5, 30, 77),
    )
    assert result.forfeits == ()
    assert result.times[0].moves > 2
