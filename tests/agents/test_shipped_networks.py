"""Tests of the shipped networks: files, strength against their cards, use as opponents."""

import shutil

import gymnasium as gym
import numpy as np
import pytest

import ludoteca  # noqa: F401 (registers the games)
from ludoteca.agents.dqn import DQNAgent
from ludoteca.agents.networks import cards
from ludoteca.agents.networks.cards import load_card, trained_against
from ludoteca.agents.networks.weights import load_weights, save_weights, shipped_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cards import main, play_card_match, rates_agree
from ludoteca.evaluate.exploit import best_response, move_accuracy
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.statistics.intervals import wilson

SHIPPED = shipped_weights("dqn")
SEARCHED = shipped_weights("az")
SEATED = shipped_weights("ac")
CLONED = shipped_weights("cnn")


def test_shipped_networks_are_listed():
    assert {"hex5", "hex7", "hex11", "hex13"} <= SHIPPED.keys()
    assert {"hex5", "connect4", "othello"} <= SEARCHED.keys()
    assert {"geese"} <= SEATED.keys()
    assert {"geese"} <= CLONED.keys()


CARDS = [
    (kind, name)
    for kind, names in (("ac", SEATED), ("az", SEARCHED), ("cnn", CLONED), ("dqn", SHIPPED))
    for name in names
]
MODULES = {"ac": "actor_critic", "az": "alphazero", "cnn": "imitation", "dqn": "dqn"}
# By kind of network: the opponent of the one match of each card that the fast tests replay (the
# first against it), and its number of games.
FAST_MATCHES = {
    "ac": ("deterministic", 40),
    "az": ("random", 4),
    "cnn": ("greedy", 100),
    "dqn": ("mixed:epsilon=0.2", 24),
}
# The slow tests replay all matches of a card, each with at most this number of games (or 200).
MAX_GAMES = {"az": 40}


@pytest.mark.parametrize(("kind", "name"), CARDS)
def test_card_has_training_and_strength(kind, name):
    metadata = load_weights(shipped_weights(kind)[name])[1]
    made, card = metadata["card"], load_card(kind, name)
    assert card["agent"] == f"{kind}:{name}"
    assert make_game(card["game"]).spec == make_game(metadata["game"]).spec
    assert f"ludoteca.train.{MODULES[kind]}" in card["command"]
    assert card["command"] == made["about"]["command"]
    assert card["seed"] == made["config"]["seed"]
    assert (card["date"], card["versions"]) == (made["about"]["date"], made["versions"])
    assert {"python", "torch", "ludoteca"} <= card["versions"].keys()
    assert {"date", "cpu"} <= made["about"].keys()
    assert made["config"]["run_dir"].startswith("runs/")
    if kind == "cnn":
        assert made["training"]["best"]["accuracy"] > 0.75
    assert card["trained_by"].endswith(".")
    assert all(isinstance(spec, str) for spec in card["trained_against"])
    # Opponents that the file names are among those of the card.
    known = (
        [made["config"]["opponent"]] if kind == "dqn" else made["config"].get("opponent_pool", ())
    )
    assert set(known) <= set(card["trained_against"])
    assert card["strength"]
    for match in card["strength"]:
        assert {"command", "date", "versions", "seed"} <= match.keys()
        assert match["agents"][0].partition(",")[0] == card["agent"]
        for seat in match["seats"]:
            assert seat["wins"] + seat["draws"] + seat["losses"] == seat["games"]
            identical = seat.get("distinct") == 1  # all games of this seat, which count as one
            assert identical or kind != "dqn" or seat["games"] >= 1000
            wins, games = (seat["wins"] > 0, 1) if identical else (seat["wins"], seat["games"])
            interval = wilson(wins, games)
            assert (seat["low"], seat["high"]) == pytest.approx(interval)


def play_again(match, games):
    """Assert that a card's match, replayed with so many games, agrees with the card."""
    played = play_card_match(match["game"], match["agents"], games, seed=77)
    for recorded, replayed in zip(match["seats"], played, strict=True):
        assert rates_agree(recorded, replayed), (match["agents"], recorded, replayed)


# Each board is compiled, which takes seconds: these networks play only in the slow tests.
SLOW = (
    *("ac-geese", "cnn-geese", "az-othello", "az-hex5"),
    *("dqn-hex5", "dqn-hex7", "dqn-hex11", "dqn-hex13"),
)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(
            kind,
            name,
            id=f"{kind}-{name}",
            marks=pytest.mark.interpreted
            if (kind, name) == ("az", "connect4")
            else pytest.mark.slow
            if f"{kind}-{name}" in SLOW
            else (),
        )
        for kind, name in CARDS
    ],
)
def test_network_plays_as_well_as_its_card(kind, name):
    opponent, games = FAST_MATCHES[kind]
    matches = load_card(kind, name)["strength"]
    play_again(next(match for match in matches if match["agents"][1] == opponent), games)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), CARDS)
def test_all_matches_of_a_card_are_played_again(kind, name):
    for match in load_card(kind, name)["strength"]:
        play_again(match, min(match["games"], MAX_GAMES.get(kind, 200)))


def test_exaggerated_cards_are_detected():
    on_card = {"wins": 1997, "games": 2000}
    assert rates_agree(on_card, {"wins": 11, "games": 12, "distinct": 12})
    assert not rates_agree(on_card, {"wins": 6, "games": 12, "distinct": 12})
    assert not rates_agree(
        {"wins": 200, "games": 400}, {"wins": 300, "games": 400, "distinct": 400}
    )
    assert rates_agree({"wins": 200, "games": 400}, {"wins": 60, "games": 100, "distinct": 100})
    # Equal games count as one, which is won or not.
    assert rates_agree(on_card, {"wins": 10, "games": 10, "distinct": 1})
    assert not rates_agree(on_card, {"wins": 0, "games": 10, "distinct": 1})
    assert not rates_agree({"wins": 0, "games": 10}, {"wins": 10, "games": 10, "distinct": 1})


def test_card_names_training_opponents():
    card = load_card("ac", "geese")
    assert trained_against(card, "deterministic") == "yes"
    assert trained_against(card, "flat:simulations=1000,playout_depth=6") == "its kind"
    assert trained_against(card, "cnn:geese") == "its kind"
    assert trained_against(card, "mcts:simulations=500") == "no"
    outside = [
        match for match in card["strength"]
        if all(trained_against(card, rival) == "no" for rival in match["agents"][1:])
    ]  # fmt: skip
    assert any(match["agents"][1].startswith("mcts") for match in outside)
    with pytest.raises(FileNotFoundError, match="there is no network 'chess'"):
        load_card("ac", "chess")


@pytest.mark.interpreted
def test_commands_write_and_measure_cards(tmp_path, monkeypatch, capsys):
    for name in ("hex5.safetensors", "hex5.json"):
        shutil.copy(shipped_weights("dqn")["hex5"].with_name(name), tmp_path)
    file = tmp_path / "hex5.safetensors"
    monkeypatch.setattr(cards, "shipped_weights", lambda kind: {"hex5": file})
    before = load_card("dqn", "hex5")
    arguments = ["dqn:hex5", "--rivals", "heuristic", "--games", "4", "--seed", "3"]
    assert main(["measure", *arguments]) == 0
    match = load_card("dqn", "hex5")["strength"][-1]
    assert (match["agents"], match["games"]) == (["dqn:hex5", "heuristic"], 4)
    # Both agents are deterministic: the two games per seat are identical and count as one.
    assert [(seat["games"], seat["distinct"]) for seat in match["seats"]] == [(2, 1), (2, 1)]
    assert match["seats"][0]["low"] < 0.3
    assert len(load_card("dqn", "hex5")["strength"]) == len(before["strength"])
    arguments = ["--trained-by", before["trained_by"], "--trained-against", "mixed:epsilon=0.2"]
    assert main(["new", "dqn:hex5", *arguments]) == 0
    made = load_card("dqn", "hex5")
    assert made | {"strength": 0} == before | {"strength": 0}
    assert made["strength"][0] == before["strength"][0]
    assert main(["measure", "dqn:chess", "--rivals", "random"]) == 2
    assert "there is no network 'chess'" in capsys.readouterr().err
    weights, metadata = load_weights(file)
    del metadata["card"]
    save_weights(file, weights, metadata)
    assert main(["new", f"dqn:{file}", *arguments]) == 2
    assert f"{file} has no record of its training" in capsys.readouterr().err


@pytest.mark.slow
def test_shipped_network_is_an_opponent_in_environments():
    env = gym.make("ludoteca/Hex-v0", board_size=5, opponent="dqn:hex5", agent_seat=1)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    terminated = False
    while not terminated:
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        _, reward, terminated, _, info = env.step(action)
    assert reward == -1
    agent = DQNAgent(make_game("hex:board_size=5"), "hex5")
    assert agent.metadata["game"].startswith("hex:board_size=5")


@pytest.mark.slow
def test_the_first_player_of_hex_wins():
    match = play_match("hex:board_size=5", ["az:hex5,simulations=4", "mcts:simulations=500"], 40)
    assert match.seats[0][0].wins == 20


@pytest.mark.slow
def test_the_first_player_of_hex_wins_against_all_lines_of_play():
    game = make_game("hex:board_size=5")
    response = best_response(game, make_agent("az:hex5,simulations=4", game), 0)
    assert response.draws == response.losses == 0
    assert response.decisions > 100_000


@pytest.mark.slow
def test_solved_positions_of_connect_four_are_played_perfectly():
    game = make_game("connect4")
    agent = make_agent("az:connect4,simulations=3200,precision=auto", game)
    # On one machine it played 500 such positions perfectly. One error in 200 is allowed because
    # other processors round differently.
    assert move_accuracy(game, agent, 200, 19, 30, seed=1).perfect >= 199
