"""Tests of OpenSpiel's search as an agent: position tracking and action translation."""

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludoteca import make_agent, make_game
from ludoteca.agents.agent import Agent
from ludoteca.agents.external.openspiel import OpenSpielAgent, counterpart
from ludoteca.agents.games.registry import games_with
from ludoteca.envs.rng import below
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

pytest.importorskip("pyspiel")

GAMES = (
    "othello",
    "connect4",
    "connect4:rows=5,columns=8,connect=3",
    "hex:board_size=4",
    "hex:board_size=2,swap=True",
    "tictactoe",
    "tictactoe_large",
    pytest.param("breakthrough", marks=pytest.mark.slow),
    "breakthrough:rows=8,columns=5",
)
OTHELLO_PASS = 64


class CheckingAgent(OpenSpielAgent):
    """Agent that moves at random, and checks that OpenSpiel's state is the expected position."""

    def __init__(self, game):
        super().__init__(game, simulations=2)
        self.seats: set[int] = set()
        self.env_indices: set[int] = set()
        self.actions: set[int] = set()
        self._reached: dict[tuple[int, ...], tuple[Any, Any]] = {}

    def act(self, states, seats, rngs, env_indices):
        records = [states[k : k + 1].view(np.recarray)[0] for k in range(len(states))]
        self._requests = list(zip(records, seats.tolist(), strict=True))
        self.seats |= set(seats.tolist())
        self.env_indices |= set(env_indices.tolist())
        return super().act(states, seats, rngs, env_indices)

    def _search(self, state, rng):
        s, seat = self._requests.pop(0)
        assert state.current_player() == seat
        assert sorted(self._to_ours(state, action) for action in state.legal_actions()) == sorted(
            self.game.legal(s)
        )
        self._check_history(state, s)
        with np.errstate(over="ignore"):
            return state.legal_actions()[below(rng, len(state.legal_actions()))]

    def _check_history(self, state: Any, s: Any) -> None:
        """Check that our rules lead to the same position by OpenSpiel's history."""
        again = self.game.empty(2)
        # Both records in one array, so that the padding between their fields is equal.
        again[0], again[1] = self._position_after(tuple(state.history()))[0], s
        assert again[0].tobytes() == again[1].tobytes()

    def _position_after(self, history: tuple[int, ...]) -> tuple[Any, Any]:
        """Return the position of our rules and OpenSpiel's state after a history."""
        if not history:
            return self.game.new(), self._spiel_game.new_initial_state()
        if history not in self._reached:
            s, theirs = self._position_after(history[:-1])
            s, ours = s.copy(), self._to_ours(theirs, history[-1])
            assert self._to_spiel(theirs, ours) == history[-1]
            self.actions.add(ours)
            with np.errstate(over="ignore"):
                self.game.step(s, ours)
            self._reached[history] = s, theirs.child(history[-1])
        return self._reached[history]


@pytest.mark.parametrize("spec", GAMES)
def test_agent_follows_games_in_both_seats_and_several_games(spec):
    game = make_game(spec)
    agent = CheckingAgent(game)
    play_in_batch(game, agent, lambda i, number: {(i + number) % 2}, games=6)
    assert agent.seats == {0, 1}
    assert agent.env_indices == {0, 1, 2}
    if game.name == "othello":
        assert OTHELLO_PASS in agent.actions
    if game.params.get("swap"):
        assert game.num_actions - 1 in agent.actions  # the stone was swapped


def test_an_agent_may_play_against_itself():
    game = make_game("breakthrough")
    agent = CheckingAgent(game)
    play_in_batch(game, agent, lambda i, number: {0, 1}, games=4)
    assert agent.seats == {0, 1}


def test_new_game_is_detected_without_reset():
    game = make_game("connect4")
    agent = CheckingAgent(game)
    late, fresh = game.new(), game.new()
    for action in (3, 3):
        game.step(late, action)
    for s in (fresh, late, fresh):
        ask(agent, s)  # compares OpenSpiel's state with the position
    assert agent.actions == {3}


@pytest.mark.parametrize("spec", ["connect4", "breakthrough", "hex:board_size=5", "tictactoe"])
def test_agent_takes_an_immediate_win(spec):
    game = make_game(spec)
    agent = make_agent("openspiel:simulations=200,solve=True", game)
    for seed in range(4):
        positions, mover = won_game(game, seed)
        agent.reset(np.zeros(1, np.int64))
        for s in positions[:-1]:
            if game.player(s) == mover:
                ask(agent, s)
        s = positions[-1]
        game.step(s, ask(agent, s))
        assert result_of(game, s)[mover] == 1


def test_random_numbers_come_from_the_random_streams_of_the_call():
    games = [
        [
            replay.actions
            for replay in play_match(
                "connect4",
                ["openspiel:simulations=5", "openspiel:simulations=3"],
                4,
                batch_size=batch,
                seed=seed,
                num_replays=4,
            ).replays
        ]
        for batch, seed in ((1, 7), (4, 7), (4, 8))
    ]
    assert games[0] == games[1]
    assert games[0] != games[2]


def test_agent_plays_matches():
    result = play_match("breakthrough", ["openspiel:simulations=50", "random"], 10, batch_size=4)
    assert result.totals[0].wins >= 8


def test_time_ends_a_search():
    game = make_game("connect4")
    agent = make_agent("openspiel:seconds=0.002", game)
    assert ask(agent, game.new()) in range(7)


def test_too_little_time_for_a_simulation_still_gives_a_move():
    game = make_game("othello")
    assert ask(make_agent("openspiel:seconds=0.0001", game), game.new()) in game.legal(game.new())


def test_position_of_an_unknown_game_raises():
    game = make_game("connect4")
    s = game.new()
    for action in (3, 3, 2):
        game.step(s, action)
    with pytest.raises(ValueError, match="position in game 0 is more than 2 plies from"):
        ask(make_agent("openspiel", game), s)


@pytest.mark.parametrize(
    ("game", "agent", "message"),
    [
        (
            "hungry_geese",
            "openspiel",
            "OpenSpiel has no version of hungry_geese; games with one are othello",
        ),
        ("tron", "openspiel", "with our rules it plays sequential games without chance"),
        ("othello", "openspiel:simulations=0", "simulations must be an integer from 2"),
        ("othello", "openspiel:uct_c=-1", "uct_c must be a number from 0"),
        ("othello", "openspiel:seconds=0", "seconds must be a number from 0.0001"),
        ("othello", "openspiel:rollouts=0", "rollouts must be an integer from 1"),
        ("othello", "openspiel:solve=3", "solve must be one of False, True"),
    ],
)
def test_invalid_parameters_raise(game, agent, message):
    with pytest.raises(ValueError, match=message):
        make_agent(agent, make_game(game))


@pytest.mark.parametrize("spec", ["hex:board_size=2,first=white", "othello:board_size=4"])
def test_games_without_a_counterpart_use_our_rules(spec):
    game = make_game(spec)
    with pytest.raises(ValueError, match="only, not"):
        counterpart(game)
    agent = CheckingAgent(game)
    play_in_batch(game, agent, lambda i, number: {(i + number) % 2}, games=6)
    assert agent.seats == {0, 1}
    s = game.new()  # a position that is more than two plies from the last one, without a reset
    for _ in range(3):
        game.step(s, game.legal(s)[0])
    agent = pickle.loads(pickle.dumps(make_agent("openspiel:simulations=20", game)))
    assert ask(agent, s) in game.legal(s)


def test_missing_openspiel_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(ImportError, match=r"pip install \"ludoteca\[openspiel\]\""):
        make_agent("openspiel", make_game("othello"))


@pytest.mark.parametrize("name", games_with("openspiel"))
def test_every_counterpart_has_equal_actions_or_a_translation_test(name):
    game = make_game(name)
    other = OpenSpielAgent(game)._spiel_game
    assert str(other).startswith(counterpart(game).name.partition("(")[0])
    assert other.num_players() == game.num_players
    if name != "breakthrough":
        assert other.num_distinct_actions() == game.num_actions


def play_in_batch(
    game: Any, agent: Agent, seats_of: Callable[[int, int], set[int]], games: int
) -> None:
    """Play games at three indices; game k at index i has the agent in `seats_of(i, k)`.

    The other seats move at random.
    """
    num_envs, rng = 3, np.random.default_rng(0)
    states, rngs = game.empty(num_envs), np.arange(num_envs, dtype=np.uint64).reshape(-1, 1)
    records = [states[i : i + 1].view(np.recarray)[0] for i in range(num_envs)]
    numbers, over = [-1] * num_envs, [True] * num_envs
    with np.errstate(over="ignore"):
        while games > 0:
            for i in (i for i in range(num_envs) if over[i]):
                states[i] = game.new()
                numbers[i] += 1
                agent.reset(np.array([i]))
            movers = np.array([game.player(s) for s in records])
            indices = np.flatnonzero(
                [movers[i] in seats_of(i, numbers[i]) for i in range(num_envs)]
            )
            actions = [int(rng.choice(game.legal(s))) for s in records]
            chosen = agent.act(states[indices], movers[indices], rngs[indices], indices)
            for i, action in zip(indices, chosen, strict=True):
                actions[i] = int(action)
            for s, action in zip(records, actions, strict=True):
                game.step(s, action)
            over = [bool(game.is_terminal(s)) for s in records]
            games -= sum(over)


def ask(agent: Agent, s: Any) -> int:
    """Return the agent's action for the environment index 0."""
    states = agent.game.empty(1)
    states[0] = s
    seats = np.array([agent.game.player(states.view(np.recarray)[0])])
    return int(agent.act(states, seats, np.ones((1, 1), np.uint64), np.zeros(1, np.int64))[0])


def won_game(game: Any, seed: int) -> tuple[list[Any], int]:
    """Return the positions of a random game before each move, and the winner, who moved last."""
    rng = np.random.default_rng(seed)
    while True:
        s, positions = game.new(), []
        with np.errstate(over="ignore"):
            while not game.is_terminal(s):
                positions.append(s.copy())
                mover = game.player(s)
                game.step(s, int(rng.choice(game.legal(s))))
        if result_of(game, s)[mover] == 1:
            return positions, mover


def result_of(game: Any, s: Any) -> list[float]:
    """Return the returns of both players."""
    out = np.zeros(2)
    game.returns(s, out)
    return out.tolist()
