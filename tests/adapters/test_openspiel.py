"""Our games in OpenSpiel: its own tests, its algorithms, and policies both ways."""

import copy
import pickle
import random
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from dots_and_boxes import dots_and_boxes  # noqa: E402
from dots_and_boxes import register as add_dots_and_boxes  # noqa: E402
from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    best_response,
    cfr,
    exploitability,
    get_all_states,
    mcts,
    minimax,
    tabular_qlearner,
)

from ludoteca import make_agent, make_game  # noqa: E402
from ludoteca.agents.external.openspiel_player import as_agent  # noqa: E402
from ludoteca.agents.external.openspiel_policy import as_policy  # noqa: E402
from ludoteca.envs.adapters import openspiel as adapter  # noqa: E402
from ludoteca.envs.adapters.openspiel import (  # noqa: E402
    LudotecaGame,
    MCTSBot,
    load_game,
    register,
    register_all,
)
from ludoteca.envs.adapters.openspiel_vector import VectorEnvironment  # noqa: E402
from ludoteca.envs.engine.trajectory import record_trajectory  # noqa: E402
from ludoteca.envs.registry import GAMES  # noqa: E402
from ludoteca.envs.serialization import state_to_json  # noqa: E402
from ludoteca.evaluate.exploit import exploitability as find_exploitability  # noqa: E402
from ludoteca.evaluate.match import play_match  # noqa: E402
from ludoteca.evaluate.solve import solve  # noqa: E402

pytestmark = pytest.mark.interpreted

# Of both dynamics, with passes and with chance; small, as each is compiled.
SMALL = (
    "tictactoe",
    "hex:board_size=2,swap=True",
    "othello:board_size=4",
    "tron:rows=3,columns=3",
    "hungry_geese:rows=3,columns=4,episode_steps=12",
)


def game_of(spec: Any) -> LudotecaGame:
    return load_game(dots_and_boxes(1) if spec == "dots_and_boxes" else spec)


@pytest.mark.parametrize("spec", [*SMALL, "dots_and_boxes"])
def test_openspiels_own_test_of_games(spec: str) -> None:
    game = game_of(spec)
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    if game.game.simultaneous:
        turns = pyspiel.convert_to_turn_based(game)
        pyspiel.random_sim_test(turns, num_sims=5, serialize=False, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_openspiels_own_test_of_every_game(name: str) -> None:
    pyspiel.random_sim_test(load_game(name), num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize("spec", [*SMALL[:4], "dots_and_boxes"])
def test_games_are_ours_move_for_move(spec: str) -> None:
    game = game_of(spec)
    ours = game.game
    trajectory = record_trajectory(ours, 20, seed=1)
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


def test_names_types_and_parameters() -> None:
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
    kind = load_game("tron").get_type()
    assert kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    assert load_game("geese").get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS


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
    riders = load_game("tron", rows=3, columns=3).new_initial_state()
    with pytest.raises(ValueError, match="action 7 of player 1 is illegal"):
        riders.apply_actions([0, 7])
    with pytest.raises(ValueError, match="flat joint action from 0 to 15"):
        riders.apply_action(16)


def play(state: Any, rng: random.Random, steps: int) -> None:
    """Play random actions."""
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


def test_states_begin_at_positions_and_become_text() -> None:
    game = load_game("tictactoe")
    state = game.new_initial_state()
    for action in (4, 0, 8):
        state.apply_action(action)
    text = state_to_json(game.game, state.position.record)
    for given in (text, state.position.record, state.to_struct()):
        again = game.new_initial_state(given)
        assert str(again) == str(state)
        assert again.legal_actions() == state.legal_actions()
    assert "to_move" in state.to_json()
    with pytest.raises(ValueError, match="not a position in JSON"):
        game.new_initial_state("nonsense")


def test_chance_follows_from_its_outcomes_and_comes_where_it_is_needed() -> None:
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
    rng, later = random.Random(0), []
    for _ in range(100):
        state = game.new_initial_state()
        while not state.is_terminal():
            was_chance = state.is_chance_node()
            play(state, rng, 1)
            if was_chance:
                assert not state.is_chance_node()
            else:
                later.append(state.is_chance_node())
        assert sum(state.returns()) == pytest.approx(0)
    assert 0 < sum(later) < len(later)


def test_rewards_of_geese_sum_up_to_the_returns_and_who_is_out_has_one_action() -> None:
    game, rng = load_game(SMALL[-1]), random.Random(3)
    seen_out = 0
    for _ in range(30):
        state, total = game.new_initial_state(), np.zeros(4)
        while not state.is_terminal():
            play(state, rng, 1)
            total += state.rewards()
            assert total.tolist() == pytest.approx(state.returns())
            if state.is_simultaneous_node():
                for p in range(4):
                    out = state.position.record.length[p] == 0
                    seen_out += out
                    assert state.legal_actions(p) == ([0] if out else [0, 1, 2, 3])
    assert seen_out > 0


def test_a_game_of_ones_own_is_registered_and_loaded_again() -> None:
    game = load_game(dots_and_boxes(1))
    assert str(game) == "ludoteca_dots_and_boxes(size=1)"
    assert pyspiel.load_game("ludoteca_dots_and_boxes(size=2)").num_distinct_actions() == 12
    # Who closes the box moves again: four lines, the last by player 1, who wins.
    state = game.new_initial_state()
    for action in range(4):
        state.apply_action(action)
    assert state.returns() == [-1, 1]


def test_a_process_with_games_ends_well() -> None:
    code = """
import pyspiel
from ludoteca.envs.adapters import openspiel
print(pyspiel.load_game("ludoteca_tictactoe").new_initial_state().legal_actions())
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 1, 2, 3, 4, 5, 6, 7, 8]"


# Algorithms


def best(game: LudotecaGame) -> float:
    return solve(game.game).returns[0]


@pytest.mark.parametrize(
    "spec", ["hex:board_size=2", "connect4:rows=2,columns=4,connect=3", "dots_and_boxes"]
)
def test_minimax_finds_what_our_solver_finds(spec: str) -> None:
    game = game_of(spec)
    if spec == "dots_and_boxes":
        value = minimax.expectiminimax(game.new_initial_state(), 99, None, 0)[0]
    else:
        value, _ = minimax.alpha_beta_search(game)
    assert value == best(game)


def test_cfr_and_best_responses_reach_the_value_of_the_game() -> None:
    game = load_game("hex:board_size=2")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    assert exploitability.exploitability(game, average) < 0.02
    assert exploitability.nash_conv(game, average) < 0.04
    answer = best_response.BestResponsePolicy(game, 0, average)
    assert answer.value(game.new_initial_state()) == pytest.approx(best(game), abs=0.02)


def test_cfr_on_a_simultaneous_game() -> None:
    turns = pyspiel.convert_to_turn_based(load_game("tron", rows=2, columns=3))
    solver = cfr.CFRSolver(turns)
    before = exploitability.exploitability(turns, spiel_policy.UniformRandomPolicy(turns))
    for _ in range(30):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(turns, solver.average_policy()) < before / 4


def test_mcts_bots_play_well() -> None:
    game = load_game("tictactoe")
    python = mcts.MCTSBot(game, 2, 50, mcts.RandomRolloutEvaluator(1, np.random.RandomState(1)))
    cpp = MCTSBot(
        game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 200, 10, True, 1, False,
        pyspiel.ChildSelectionPolicy.UCT, -1.0,  # no limit of time
    )  # fmt: skip
    state = game.new_initial_state()
    for action in (0, 3, 1):  # player 0 threatens 2
        state.apply_action(action)
    assert cpp.step(state) == 2
    results = []
    rng = random.Random(1)
    for bot in (cpp, python):
        for seat in (0, 1):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.current_player() == seat:
                    state.apply_action(bot.step(state))
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
            results.append(state.returns()[seat])
    assert sum(results) >= 2


def test_tabular_q_learning_in_rl_environment() -> None:
    env = rl_environment.Environment(load_game("hex:board_size=2"))
    np.random.seed(0)  # noqa: NPY002  OpenSpiel draws from it
    agents = [tabular_qlearner.QLearner(player_id=p, num_actions=4) for p in range(2)]
    for _ in range(600):
        step = env.reset()
        while not step.last():
            output = agents[step.observations["current_player"]].step(step)
            step = env.step([output.action])
        for agent in agents:
            agent.step(step)
    step = env.reset()
    while not step.last():
        output = agents[step.observations["current_player"]].step(step, is_evaluation=True)
        step = env.step([output.action])
    assert step.rewards == [best(load_game("hex:board_size=2")), -1]


def test_rl_environment_of_four_geese() -> None:
    env = rl_environment.Environment(load_game(SMALL[-1]))
    env.seed(1)
    rng, step = random.Random(1), env.reset()
    total = np.zeros(4)
    while not step.last():
        step = env.step([rng.choice(legal) for legal in step.observations["legal_actions"]])
        total += step.rewards
        assert [len(tensor) for tensor in step.observations["info_state"]] == [17 * 12] * 4
    assert total.sum() == pytest.approx(0)


# Our agents as policies


def test_exploitability_of_agents() -> None:
    game = make_game("hex:board_size=2")
    uniform = as_policy(make_agent("random", game))
    reference = spiel_policy.UniformRandomPolicy(uniform.game)
    assert exploitability.exploitability(uniform.game, uniform) == exploitability.exploitability(
        uniform.game, reference
    )
    sampled = as_policy(make_agent("greedy", game), samples=40, seed=3)
    state = sampled.game.new_initial_state()
    shares = sampled.action_probabilities(state)
    assert sum(shares.values()) == pytest.approx(1)
    assert len([share for share in shares.values() if share > 0]) > 1
    assert set(as_policy(make_agent("greedy", game)).action_probabilities(state).values()) == {0, 1}
    tabular = sampled.to_tabular()
    states = get_all_states.get_all_states(sampled.game)
    assert len(states) > 20
    assert 0 <= exploitability.exploitability(sampled.game, tabular) <= 1


def test_exploitability_of_an_agent_in_a_simultaneous_game() -> None:
    game = make_game("tron:rows=2,columns=3")
    turns = pyspiel.convert_to_turn_based(load_game(game))
    uniform = as_policy(make_agent("random", game), turns)
    reference = spiel_policy.UniformRandomPolicy(turns)
    assert exploitability.exploitability(turns, uniform) == pytest.approx(
        exploitability.exploitability(turns, reference)
    )


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize("spec", ["hex:board_size=2", "tron:rows=3,columns=3"])
def test_openspiel_finds_the_exploitability_that_we_find(spec: str) -> None:
    game = load_game(spec)
    if game.game.simultaneous:
        turns = pyspiel.convert_to_turn_based(game)
    for name, samples in (("random", 1), ("greedy", 1), ("greedy", 5)):
        agent = make_agent(name, game.game)
        played = turns if game.game.simultaneous else game
        policy = as_policy(agent, played, samples=samples, seed=2)
        result = find_exploitability(game.game, agent, samples=samples, seed=2)
        assert result.exploitability == pytest.approx(exploitability.exploitability(played, policy))
        for seat in (0, 1):
            answer = exploitability.best_response(played, policy, 1 - seat)
            assert result.best_response_values[seat] == pytest.approx(answer["best_response_value"])


# Players of OpenSpiel as agents


def test_a_policy_of_cfr_plays_as_an_agent() -> None:
    game = make_game("hex:board_size=2")
    solver = cfr.CFRPlusSolver(load_game(game))
    for _ in range(10):
        solver.evaluate_and_update_policy()
    agent = as_agent(game, solver.average_policy())
    result = play_match(game, [agent, "random"], 40, batch_size=5)
    by_seat = result.seats[0]
    assert by_seat[0].wins == by_seat[0].games == 20  # the first player wins
    again = play_match(game, [pickle.loads(pickle.dumps(agent)), "random"], 40, batch_size=5)
    assert again.totals == result.totals


def test_tabular_learners_play_as_agents() -> None:
    game = make_game("hex:board_size=2")
    learners = [tabular_qlearner.QLearner(player_id=p, num_actions=4) for p in range(2)]
    result = play_match(game, [as_agent(game, learners), "random"], 4)
    assert result.totals[0].games == 4
    with pytest.raises(ValueError, match="needs 2 agents, got 1"):
        as_agent(game, learners[:1])
    with pytest.raises(TypeError, match="expected a policy or an agent with the method step"):
        as_agent(game, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="policies need a sequential game without chance"):
        as_agent(make_game("tron"), spiel_policy.UniformRandomPolicy(load_game("tron")))


class Move(NamedTuple):
    action: int


def test_the_vector_environment_is_that_of_openspiel() -> None:
    envs = VectorEnvironment("hex:board_size=2", 5, opponent="random", agent_seat=1, seed=3)
    steps = envs.reset()
    assert len(envs) == len(steps) == 5
    assert envs.num_players == 1
    ended = 0
    for _ in range(30):
        for step in steps:
            (planes,), (legal,) = (
                step.observations["info_state"],
                step.observations["legal_actions"],
            )
            assert planes.shape == envs.observation_spec()["info_state"]
            assert planes.dtype == np.float32
            assert set(legal) <= set(range(envs.action_spec()["num_actions"]))
        moves = [Move(step.observations["legal_actions"][0][0]) for step in steps]
        steps, rewards, done, before = envs.step(moves, reset_if_done=True)
        for i in range(5):
            assert before[i].last() == done[i]
            assert before[i].rewards == rewards[i]
            assert steps[i].first() == done[i]
            assert (rewards[i][0] != 0) == done[i]
            assert before[i].discounts == [0.0 if done[i] else 1.0]
        ended += sum(done)
    assert ended > 20
    done = [False]
    while not any(done):
        moves = [Move(step.observations["legal_actions"][0][0]) for step in steps]
        steps, _, done, _ = envs.step(moves)
    over = [Move((step.observations["legal_actions"][0] or [0])[0]) for step in steps]
    with pytest.raises(ValueError, match="games that are over"):
        envs.step(over)
    steps = envs.reset(done)
    assert [step.first() for step in steps] == done
    with pytest.raises(ValueError, match="envs_to_reset must be 5 booleans"):
        envs.reset([True])
    with pytest.raises(ValueError, match="illegal"):
        envs.step([Move(9)] * 5)
    envs.set_opponent("greedy")


@pytest.mark.slow
def test_ppo_learns_in_the_vector_environment() -> None:
    ppo_module = pytest.importorskip("open_spiel.python.pytorch.ppo")
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    game = make_game("hex:board_size=2")
    envs = VectorEnvironment(game, 8, seed=0)
    size = envs.observation_spec()["info_state"]
    ppo = ppo_module.PPO(size, 4, 1, 0, 8, 16, learning_rate=3e-3, agent_fn=ppo_module.PPOAgent)
    steps = envs.reset()
    for update in range(12):
        if update == 10:
            envs.set_opponent(as_agent(game, copy.deepcopy(ppo)))
        for _ in range(16):
            steps, reward, done, _ = envs.step(ppo.step(steps), reset_if_done=True)
            ppo.post_step(reward, done)
        ppo.learn(steps)
    result = play_match(game, [as_agent(game, ppo), "random"], 200)
    assert result.totals[0].wins > 120  # random: 100


def test_dqn_learns_in_rl_environment() -> None:
    pytest.importorskip("tree")
    pytest.importorskip("torch")
    from open_spiel.python.pytorch import dqn

    game = load_game("hex:board_size=2")
    env = rl_environment.Environment(game)
    size = env.observation_spec()["info_state"][0]
    agents = [
        dqn.DQN(p, size, 4, hidden_layers_sizes=[16], batch_size=8, min_buffer_size_to_learn=20)
        for p in range(2)
    ]
    for _ in range(30):
        step = env.reset()
        while not step.last():
            output = agents[step.observations["current_player"]].step(step)
            step = env.step([output.action])
        for agent in agents:
            agent.step(step)
    assert agents[0].loss is not None
    assert play_match(game.game, [as_agent(game.game, agents), "random"], 4).totals[0].games == 4


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
    with pytest.warns(UserWarning, match="Broken-v0 is not a game of OpenSpiel"):
        register_all()
