"""Tests of our games in OpenSpiel: OpenSpiel's own checks, and the same games move for move."""

import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from dots_and_boxes import dots_and_boxes  # noqa: E402
from dots_and_boxes import register as add_dots_and_boxes  # noqa: E402
from openspiel_games import SMALL, game_of  # noqa: E402

from ludoteca import make_game  # noqa: E402
from ludoteca.envs.adapters import openspiel as adapter  # noqa: E402
from ludoteca.envs.adapters.openspiel import (  # noqa: E402
    load_game,
    register,
    register_all,
)
from ludoteca.envs.engine.trajectory import record_trajectory  # noqa: E402
from ludoteca.envs.registry import GAMES  # noqa: E402
from ludoteca.envs.serialization import state_to_json  # noqa: E402

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("spec", [*SMALL, "dots_and_boxes"])
def test_openspiels_own_test_of_games(spec: str) -> None:
    game = game_of(spec)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    if game.game.simultaneous:
        turns = pyspiel.convert_to_turn_based(game)
        pyspiel.random_sim_test(turns, num_sims=2, serialize=False, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_openspiels_own_test_of_every_game(name: str) -> None:
    pyspiel.random_sim_test(load_game(name), num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize("spec", [*SMALL[:4], "dots_and_boxes"])
def test_games_are_ours_move_for_move(spec: str) -> None:
    game = game_of(spec)
    ours = game.game
    trajectory = record_trajectory(ours, 10, seed=1)
    for i, plies in enumerate(trajectory.plies.tolist()):
        state = game.new_initial_state()
        for ply in range(plies + 1):
            assert state.is_terminal() == trajectory.over[i, ply]
            for p in range(ours.num_players):
                planes = np.zeros(ours.observation_shape, np.float32)
                ours.observe(trajectory.positions[i, ply : ply + 1].view(np.recarray)[0], p, planes)
                assert state.observation_tensor(p) == planes.ravel().tolist()
            if ply == plies:
                assert state.returns() == trajectory.returns[i, ply].tolist() == state.rewards()
                break
            assert state.returns() == [0] * ours.num_players
            joint = trajectory.actions[i, ply].tolist()
            if ours.simultaneous:
                for p in range(ours.num_players):
                    assert (
                        state.legal_actions(p)
                        == np.flatnonzero(trajectory.legal[i, ply, p]).tolist()
                    )
                state.apply_actions(joint)
            else:
                assert state.current_player() == trajectory.mover[i, ply]
                assert state.legal_actions() == np.flatnonzero(trajectory.legal[i, ply, 0]).tolist()
                assert state.legal_actions_mask() == trajectory.legal[i, ply, 0].tolist()
                assert state.legal_actions(1 - state.current_player()) == []
                state.apply_action(joint[0])


def test_names_types_and_parameters_are_those_of_our_games() -> None:
    assert register("hex:board_size=5") == "ludoteca_hex(board_size=5,first=black,swap=False)"
    game = pyspiel.load_game("ludoteca_hex(board_size=5,swap=True)")
    assert game.game is make_game("hex", board_size=5, swap=True)
    assert game.num_distinct_actions() == game.game.num_actions
    assert game.max_game_length() == game.game.max_plies
    assert game.observation_tensor_shape() == list(game.game.observation_shape)
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-1, 1, 0)
    state = game.new_initial_state()
    names = [state.action_to_string(0, action) for action in range(25)]
    assert names == list(game.game.action_names[:25])
    assert state.string_to_action("c2") == game.game.action_names.index("c2")
    assert load_game("tictactoe:board_size=4").get_parameters() == {"board_size": 4, "line": 4}
    assert pyspiel.load_game("ludoteca_tictactoe(board_size=4)").game.params["line"] == 4
    game_type = load_game("tron").get_type()
    assert game_type.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    assert load_game("geese").get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS
    assert load_game("gdl:path=tron").get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    dilemma = load_game("gdl:path=prisoners_dilemma")
    assert dilemma.get_type().utility == pyspiel.GameType.Utility.GENERAL_SUM
    assert dilemma.utility_sum() is None


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="board_size must be an integer from 2 to"):
        pyspiel.load_game("ludoteca_hex(board_size=99)")
    with pytest.raises(ValueError, match="has its parameters already"):
        load_game(make_game("tron"), rows=4)
    with pytest.raises(ValueError, match="has no chance"):
        load_game("tron", chance_outcomes=5)
    with pytest.raises(ValueError, match="chance_outcomes must be an integer from 1"):
        load_game("geese", chance_outcomes=0)
    state = load_game("tictactoe").new_initial_state()
    state.apply_action(4)
    with pytest.raises(ValueError, match="action 4 of player 1 is illegal: expected one of"):
        state.apply_action(4)
    assert state.history() == [4]
    with pytest.raises(ValueError, match="expected a chance node, got a node of player 1"):
        state.chance_outcomes()
    tron_state = load_game("tron", rows=3, columns=3).new_initial_state()
    with pytest.raises(ValueError, match="action 7 of player 1 is illegal"):
        tron_state.apply_actions([0, 7])
    with pytest.raises(ValueError, match="flat joint action from 0 to 15"):
        tron_state.apply_action(16)


def play(state: Any, rng: random.Random, steps: int) -> None:
    """Play up to `steps` random actions."""
    for _ in range(steps):
        if state.is_terminal():
            return
        if state.is_simultaneous_node():
            legal = [state.legal_actions(p) for p in range(state.num_players())]
            state.apply_actions([rng.choice(actions) for actions in legal])
        else:
            state.apply_action(rng.choice(state.legal_actions()))


@pytest.mark.parametrize("spec", [*SMALL, "dots_and_boxes"])
def test_copies_and_pickles_have_the_same_future(spec: str) -> None:
    game = game_of(spec)
    for steps in range(6):
        state = game.new_initial_state()
        play(state, random.Random(steps), steps)
        copies = [state.clone(), pickle.loads(pickle.dumps(state))]
        copies.append(
            pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1]
        )
        before = str(state), state.history()
        for copied in copies:
            assert (str(copied), copied.history()) == before
            play(copied, random.Random(7), 9)
        assert (str(state), state.history()) == before
        play(state, random.Random(7), 9)
        for copied in copies:
            assert str(copied) == str(state)
            assert copied.history() == state.history()
            assert copied.returns() == state.returns()
            assert copied.rewards() == state.rewards()
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


def test_states_start_from_given_positions_and_are_written_as_json() -> None:
    game = load_game("tictactoe")
    state = game.new_initial_state()
    for action in (4, 0, 8):
        state.apply_action(action)
    text = state_to_json(game.game, state.position.record)
    for position in (text, state.position.record, state.to_struct()):
        again = game.new_initial_state(position)
        assert str(again) == str(state)
        assert again.legal_actions() == state.legal_actions()
    assert "to_move" in state.to_json()
    with pytest.raises(ValueError, match="not a position in JSON"):
        game.new_initial_state("nonsense")


def test_chance_nodes_are_uniform_distinct_and_only_where_chance_is_needed() -> None:
    game = load_game("hungry_geese:rows=3,columns=4,episode_steps=40", chance_outcomes=50)
    assert game.max_chance_outcomes() == 50
    starts = set()
    for outcome, probability in game.new_initial_state().chance_outcomes():
        assert probability == 1 / 50
        state = game.new_initial_state()
        assert state.is_chance_node()
        state.apply_action(outcome)
        starts.add(str(state))
    assert len(starts) == 50
    rng, chance_follows = random.Random(0), []  # whether each joint action leads to a chance node
    for _ in range(100):
        state = game.new_initial_state()
        while not state.is_terminal():
            was_chance = state.is_chance_node()
            play(state, rng, 1)
            if was_chance:
                assert not state.is_chance_node()
            else:
                chance_follows.append(state.is_chance_node())
        assert sum(state.returns()) == pytest.approx(0)
    assert 0 < sum(chance_follows) < len(chance_follows)


def test_rewards_of_geese_sum_up_to_the_returns_and_dead_geese_have_one_action() -> None:
    game, rng = load_game(SMALL[-1]), random.Random(3)
    num_dead = 0
    for _ in range(30):
        state, total = game.new_initial_state(), np.zeros(4)
        while not state.is_terminal():
            play(state, rng, 1)
            total += state.rewards()
            assert total.tolist() == pytest.approx(state.returns())
            if state.is_simultaneous_node():
                for p in range(4):
                    is_dead = state.position.record.length[p] == 0
                    num_dead += is_dead
                    assert state.legal_actions(p) == ([0] if is_dead else [0, 1, 2, 3])
    assert num_dead > 0


def test_a_game_of_ones_own_is_registered_and_loaded_again() -> None:
    game = load_game(dots_and_boxes(1))
    assert str(game) == "ludoteca_dots_and_boxes(size=1)"
    assert pyspiel.load_game("ludoteca_dots_and_boxes(size=2)").num_distinct_actions() == 12
    # One box: players draw its four lines alternately; player 1 draws the last, and so wins.
    state = game.new_initial_state()
    for action in range(4):
        state.apply_action(action)
    assert state.returns() == [-1, 1]


def test_a_process_with_games_exits_without_error() -> None:
    code = """
import pyspiel
from ludoteca.envs.adapters import openspiel
print(pyspiel.load_game("ludoteca_tictactoe").new_initial_state().legal_actions())
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 1, 2, 3, 4, 5, 6, 7, 8]"


@pytest.mark.filterwarnings("ignore::UserWarning")  # Shimmy's spaces have no bounds
def test_shimmy_makes_pettingzoo_environments_of_our_games() -> None:
    compatibility = pytest.importorskip("shimmy.openspiel_compatibility")
    from pettingzoo.test import api_test

    for spec in ("tictactoe", "hungry_geese:rows=3,columns=4,episode_steps=12"):
        env = compatibility.OpenSpielCompatibilityV0(env=load_game(spec))
        env.reset(seed=1)
        assert env.possible_agents == [f"player_{p}" for p in range(env.num_agents)]
        if spec == "tictactoe":
            api_test(env, num_cycles=10)
        moves = 0
        for _ in env.agent_iter():
            *_, terminated, truncated, info = env.last()
            over = terminated or truncated
            env.step(None if over else int(np.flatnonzero(info["action_mask"])[0]))
            moves += not over
        assert moves > 4


def test_games_of_other_packages_are_registered_or_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    add_dots_and_boxes(monkeypatch)
    register_all()
    assert "ludoteca_dots_and_boxes" in pyspiel.registered_names()
    monkeypatch.setitem(GAMES, "Broken-v0", "no.such:game")
    monkeypatch.setattr(adapter, "game_source", lambda id_: "a package")
    with pytest.warns(UserWarning, match="Broken-v0 is not registered in OpenSpiel"):
        register_all()
