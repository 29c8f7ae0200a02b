"""Tests of forfeits: in simultaneous games a player may forfeit instead of acting."""

import json

import gymnasium as gym
import numpy as np
import pytest

import ludoteca  # noqa: F401  registers the environments
from ludoteca.agents.agent import Agent
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.goose_positions import FOOD, geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_table import match_json, match_summary
from ludoteca.evaluate.replay_rendering import replay_text

pytestmark = pytest.mark.interpreted

NORTH, EAST, SOUTH, WEST = range(4)
SIMULTANEOUS = [name for name in GAMES if make_game(name).simultaneous]


def position(bodies, food=(), **params):
    """Return a 5 x 6 game and a position after moves north; each body is a list of cells."""
    game = hungry_geese(len(bodies), 5, 6, min_food=1, **params)
    s = game.new()
    s.occupied[:], s.num_food, s.steps = 0, len(food), 1
    s.food[:] = [*food, -1][:1]
    s.occupied.ravel()[list(food)] = FOOD
    for p, body in enumerate(bodies):
        s.body[p, : len(body)], s.length[p], s.start[p] = body, len(body), 0
        s.occupied.ravel()[body] = 1
    s.last_action[:] = NORTH
    s.score[:] = 2 * (s.max_length + 1) + s.length
    assert game.validate(s) == ""
    return game, s


def step(game, s, *actions):
    """Step with one action per goose or rider; return the returns."""
    with np.errstate(over="ignore"):
        game.step(s, np.array(actions))
    assert game.validate(s) == ""
    out = np.zeros(game.num_players)
    game.returns(s, out)
    return out.tolist()


def test_a_forfeiting_goose_is_removed_before_heads_meet_and_eats_nothing():
    # Goose 0 moves to the former head of goose 1; the food north of goose 1 stays.
    game, s = position([[12], [13, 19, 25], [29]], food=[7])
    step(game, s, EAST, FORFEIT, NORTH)
    assert geese(s) == [[13], [], [23]]
    assert s.food.tolist() == [7]


def test_a_forfeiting_goose_ranks_below_geese_that_died_before():
    game, s = position([[12, 18], [14, 20], [16, 22], [28]])
    assert step(game, s, NORTH, SOUTH, NORTH, NORTH) == pytest.approx([0, -1, 0, 0])
    assert step(game, s, NORTH, NORTH, FORFEIT, NORTH)[2] == -1
    assert geese(s)[2] == []
    *_, last, fourth = s.score
    assert last == -1 < s.score[1] < fourth
    assert step(game, s, SOUTH, NORTH, NORTH, NORTH) == pytest.approx([1 / 3, -1 / 3, -1, 1])


@pytest.mark.parametrize("actions", [(FORFEIT, FORFEIT), (FORFEIT, NORTH)])
def test_the_game_ends_when_too_few_are_left(actions):
    game, s = position([[12], [14]])
    returns = step(game, s, *actions)
    assert game.is_terminal(s)
    assert returns == ([0, 0] if actions[1] == FORFEIT else [-1, 1])


@pytest.mark.parametrize(
    ("actions", "returns"), [((FORFEIT, NORTH), [-1, 1]), ((FORFEIT, FORFEIT), [0, 0])]
)
def test_a_rider_of_tron_forfeits(actions, returns):
    game = make_game("tron")
    s = game.new()
    before = s.head.copy()
    assert step(game, s, *actions) == returns
    assert (s.head[0] == before[0]).all()
    assert game.is_terminal(s)


class Leaver(Agent):
    """Agent that plays at random and forfeits with the probability `chance`."""

    def __init__(self, game, chance):
        super().__init__(game)
        self.chance = chance

    def forfeit_reason(self, env_index, seat):
        return "bored", f"game {env_index}, seat {seat}"

    def act(self, states, seats, rngs, env_indices):
        rng = np.random.default_rng(rngs.sum())
        rngs += np.uint64(1)
        actions = rng.integers(0, 4, len(states))
        return np.where(rng.random(len(states)) < self.chance, FORFEIT, actions)


@pytest.mark.parametrize("name", SIMULTANEOUS)
@pytest.mark.parametrize("chance", [0.1, 1.0])
def test_matches_continue_and_report_forfeits(name, chance):
    game = make_game(name)
    agents = (Leaver(game, chance), Leaver(game, 0.05))
    result = play_match(game, agents, 30, seed=2, num_replays=30)
    reported = {
        (forfeit.game, forfeit.ply, forfeit.seat): forfeit.agent for forfeit in result.forfeits
    }
    seen = {
        (k, t, seat): (k + seat) % 2
        for k, replay in enumerate(result.replays)
        for t, joint in enumerate(replay.actions)
        for seat, action in enumerate(joint)
        if action == FORFEIT
    }
    assert reported == seen
    assert len(seen) > 10
    assert {forfeit.kind for forfeit in result.forfeits} == {"bored"}
    for replay in result.replays:
        assert Replay.from_json(replay.to_json()) == replay
    content = json.loads(json.dumps(match_json(result)))
    counts = [sum(forfeit.agent == a for forfeit in result.forfeits) for a in range(2)]
    assert [agent["forfeits"] for agent in content["agents"]] == [
        {"bored": count} if count else {} for count in counts
    ]
    assert len(content["forfeits"]) == sum(counts)
    assert f"Leaver #1 forfeited {counts[0]} times ({counts[0]} bored); first in game " in (
        match_summary(game, result)
    )


def test_replays_show_forfeits():
    game = make_game("tron")
    result = play_match(game, (Leaver(game, 1.0), "random"), 1, num_replays=1)
    text = "\n".join(replay_text(result.replays[0]))
    assert "ply 1: 0 forfeits, 1 " in text


def test_a_match_without_forfeits_reports_none():
    result = play_match("tron", ("random", "random"), 2)
    assert result.forfeits == ()
    assert "forfeit" not in match_summary(make_game("tron"), result)


def test_batch_is_no_larger_than_an_agent_can_play():
    class Narrow(Leaver):
        max_games = 3

        def __init__(self, game, chance):
            super().__init__(game, chance)
            self.seen_indices = []

        def act(self, states, seats, rngs, env_indices):
            self.seen_indices += env_indices.tolist()
            return super().act(states, seats, rngs, env_indices)

    game = make_game("tron")
    agent = Narrow(game, 0.0)
    assert play_match(game, (agent, "random"), 20).games == 20
    assert set(agent.seen_indices) == {0, 1, 2}


def test_opponents_in_environments_may_forfeit():
    game = make_game("tron")
    env = gym.make("ludoteca/Tron-v0", opponent=Leaver(game, 1.0))
    env.reset(seed=0)
    _, reward, terminated, _, _ = env.step(0)
    assert (reward, terminated) == (1, True)


def test_forfeiting_is_not_an_action_of_the_learning_agent():
    env = gym.make("ludoteca/Tron-v0", illegal_action="raise")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"-1.*is illegal"):
        env.unwrapped.step(FORFEIT)


class Constant(Agent):
    """Agent that always plays the same action."""

    def __init__(self, game, action):
        super().__init__(game)
        self.action = action

    def act(self, states, seats, rngs, env_indices):
        return np.full(len(states), self.action)


def test_the_opponent_of_a_forfeiting_player_wins_a_sequential_game():
    game = make_game("tictactoe")
    result = play_match(game, (Constant(game, FORFEIT), "random"), 2)
    assert [total.wins for total in result.totals] == [0, 2]
    assert len(result.forfeits) == 2


def test_negative_actions_other_than_forfeit_are_illegal():
    game = make_game("tictactoe")
    with pytest.raises(
        ValueError, match=r"'Constant' in seat 0 of game 0 chose the illegal action -2 at ply 0"
    ):
        play_match(game, (Constant(game, -2), "random"), 2)
