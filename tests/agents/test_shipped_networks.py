"""The networks of the package load, play as well as their cards say, and are opponents."""

import gymnasium as gym
import numpy as np
import pytest

import ludoteca  # noqa: F401 (registers the games)
from ludoteca.agents.dqn import DQNAgent
from ludoteca.agents.networks.weights import load_weights, shipped_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.perfect import all_lines, solved_positions

SHIPPED = shipped_weights("dqn")
SEARCHED = shipped_weights("az")
SEATED = shipped_weights("ac")
TAUGHT = shipped_weights("cnn")


def test_they_are_there():
    assert {"hex5", "hex7", "hex11"} <= SHIPPED.keys()
    assert {"hex5", "connect4", "othello"} <= SEARCHED.keys()
    assert {"geese"} <= SEATED.keys()
    assert {"geese"} <= TAUGHT.keys()


def read_card(file, module):
    """Return what a file tells, after checking what every card tells: who made it, where."""
    about = load_weights(file)[1]
    card = about["card"]
    assert module in card["about"]["command"]
    assert {"date", "cpu"} <= card["about"].keys()
    assert {"torch", "ludoteca"} <= card["versions"].keys()
    assert isinstance(card["config"]["seed"], int)
    assert card["config"]["folder"].startswith("runs/")
    return about, card


@pytest.mark.parametrize("name", SHIPPED)
def test_the_card_says_how_it_was_made(name):
    about, card = read_card(SHIPPED[name], "ludoteca.train.dqn")
    assert "/" not in card["config"]["folder"].removeprefix("runs/reproduce/hex/")
    assert card["config"]["game"].removeprefix("hex:") in about["game"]
    for part in card["evaluation"]:
        assert all(seat["games"] >= 1000 for seat in part["seats"])


@pytest.mark.parametrize("name", SHIPPED)
def test_it_plays_as_well_as_its_card_says(name):
    about = load_weights(SHIPPED[name])[1]
    match = play_match(make_game(about["game"]), [f"dqn:{name}", "mixed:0.2"], 24, seed=77)
    for seat, tally in zip(about["card"]["evaluation"][0]["seats"], match.seats[0], strict=True):
        # Four standard deviations below, and a game.
        spread = 4 * np.sqrt(12 * seat["win_rate"] * (1 - seat["win_rate"]))
        assert tally.wins >= 12 * seat["win_rate"] - spread - 1


def test_it_is_an_opponent_anywhere():
    env = gym.make("ludoteca/Hex-v0", board_size=5, opponent="dqn:hex5", agent_seat=1)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    terminated = False
    while not terminated:
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        _, reward, terminated, _, info = env.step(action)
    assert reward == -1
    agent = DQNAgent(make_game("hex:board_size=5"), "hex5")
    assert agent.about["game"].startswith("hex:board_size=5")


@pytest.mark.parametrize("name", SEARCHED)
def test_the_card_of_a_searched_one_says_how_it_was_made(name):
    about, _ = read_card(SEARCHED[name], "ludoteca.train.alphazero")
    game = make_game(about["game"])
    match = play_match(game, [f"az:{name},simulations=8", "random"], 8, seed=3)
    assert match.totals[0].wins >= (8 if name == "othello" else 6)


@pytest.mark.parametrize("name", SEATED)
def test_a_network_for_one_seat_plays_as_well_as_its_card_says(name):
    about, card = read_card(SEATED[name], "ludoteca.train.actor_critic")
    rates = {part["opponent"]: part["seats"][0]["win_rate"] for part in card["evaluation"]}
    agents = [f"ac:{name},precision=auto", *["deterministic"] * 3]
    match = play_match(make_game(about["game"]), agents, 60, seed=5)
    rate = rates["deterministic"]
    assert match.totals[0].wins >= 60 * rate - 4 * np.sqrt(60 * rate * (1 - rate))


@pytest.mark.parametrize("name", TAUGHT)
def test_the_card_of_a_taught_one_says_how_it_was_made(name):
    _, card = read_card(TAUGHT[name], "ludoteca.train.supervised")
    assert card["training"]["best"]["accuracy"] > 0.75


def test_the_taught_goose_plays_as_well_as_the_documents_say():
    match = play_match("hungry_geese", ["cnn:geese,precision=auto", *["greedy"] * 3], 100, seed=5)
    # It wins 53 % of 1,000 games; four standard deviations below.
    assert match.totals[0].wins >= 53 - 4 * np.sqrt(100 * 0.53 * 0.47)


def test_the_first_player_of_hex_wins():
    match = play_match("hex:board_size=5", ["az:hex5,simulations=4", "mcts:simulations=500"], 40)
    assert match.seats[0][0].wins == 20


@pytest.mark.slow
def test_the_first_player_of_hex_wins_against_everything():
    game = make_game("hex:board_size=5")
    found = all_lines(game, make_agent("az:hex5,simulations=4", game), 0)
    assert found.draws == found.losses == 0
    assert found.decisions > 100_000


@pytest.mark.slow
def test_solved_positions_of_connect_four_are_played_perfectly():
    game = make_game("connect4")
    agent = make_agent("az:connect4,simulations=3200,precision=auto", game)
    # Of 500 such positions it plays all perfectly here; elsewhere numbers are rounded otherwise.
    assert solved_positions(game, agent, 200, 19, 30, seed=1).perfect >= 199
