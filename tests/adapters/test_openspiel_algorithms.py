"""Tests of OpenSpiel's algorithms on our games, of our agents as its policies, and the reverse."""

import copy
import pickle
import random
from typing import NamedTuple

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

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
from openspiel_games import SMALL, game_of  # noqa: E402

from ludoteca import make_agent, make_game  # noqa: E402
from ludoteca.agents.external.openspiel_player import as_agent  # noqa: E402
from ludoteca.agents.external.openspiel_policy import as_policy  # noqa: E402
from ludoteca.envs.adapters.openspiel import (  # noqa: E402
    LudotecaGame,
    MCTSBot,
    load_game,
)
from ludoteca.envs.adapters.openspiel_vector import VectorEnvironment  # noqa: E402
from ludoteca.evaluate.exploit import exploitability as find_exploitability  # noqa: E402
from ludoteca.evaluate.match import play_match  # noqa: E402
from ludoteca.evaluate.solve import solve  # noqa: E402

pytestmark = pytest.mark.interpreted


# Algorithms


def solved_value(game: LudotecaGame) -> float:
    """Return the value of the game for player 0 by our own solver."""
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
    assert value == solved_value(game)


def test_cfr_and_best_responses_reach_the_value_of_the_game() -> None:
    game = load_game("hex:board_size=2")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    assert exploitability.exploitability(game, average) < 0.02
    assert exploitability.nash_conv(game, average) < 0.04
    answer = best_response.BestResponsePolicy(game, 0, average)
    value = answer.value(game.new_initial_state())
    assert value == pytest.approx(solved_value(game), abs=0.02)


def test_cfr_lowers_the_exploitability_of_a_simultaneous_game() -> None:
    turns = pyspiel.convert_to_turn_based(load_game("tron", rows=2, columns=3))
    solver = cfr.CFRSolver(turns)
    before = exploitability.exploitability(turns, spiel_policy.UniformRandomPolicy(turns))
    for _ in range(20):
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


def test_tabular_q_learning_solves_a_game_in_rl_environment() -> None:
    env = rl_environment.Environment(load_game("hex:board_size=2"))
    np.random.seed(0)  # noqa: NPY002  OpenSpiel draws from it
    agents = [tabular_qlearner.QLearner(player_id=p, num_actions=4) for p in range(2)]
    for _ in range(400):
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
    assert step.rewards == [solved_value(load_game("hex:board_size=2")), -1]


def test_rl_environment_of_four_geese_observes_each_and_pays_zero_in_sum() -> None:
    env = rl_environment.Environment(load_game(SMALL[-1]))
    env.seed(1)
    rng, step = random.Random(1), env.reset()
    total = np.zeros(4)
    while not step.last():
        step = env.step([rng.choice(legal) for legal in step.observations["legal_actions"]])
        total += step.rewards
        # 17 planes of 3 x 4 cells for each of four geese.
        assert [len(tensor) for tensor in step.observations["info_state"]] == [17 * 12] * 4
    assert total.sum() == pytest.approx(0)


# Our agents as policies


def test_agents_as_policies_have_probabilities_and_an_exploitability() -> None:
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


def test_random_agent_is_as_exploitable_as_uniform_policy_in_a_simultaneous_game() -> None:
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
    """What an agent of OpenSpiel returns, as far as the vector environment reads it."""

    action: int


def test_the_vector_environment_has_the_interface_of_openspiels() -> None:
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
