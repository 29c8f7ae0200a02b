"""Tests of the random, greedy and one-ply agents."""

import gymnasium
import numpy as np
import pytest
from scipy.stats import chisquare

import ludoteca  # noqa: F401 (registers the games)
from ludoteca.agents import AGENTS, make_agent
from ludoteca.agents.baselines import OnePlyAgent
from ludoteca.agents.games.registry import KNOWLEDGE
from ludoteca.agents.registry import agent_params, find_maker
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # north, east, south, west


def choose(agent, s, seat=0, times=1, seed=0):
    """Return the agent's actions in one position, for `times` different random streams."""
    states = agent.game.empty(times)
    states[:] = np.array(s, agent.game.state)
    before = states.copy()
    rngs = np.random.default_rng(seed).integers(2**63, size=(times, 1), dtype=np.uint64)
    actions = agent.act(states, np.full(times, seat), rngs, np.arange(times))
    assert (states == before).all()
    return actions


def position(game, *actions):
    """Return the position of a game after actions."""
    s = make_game(game).new()
    with np.errstate(over="ignore"):
        for action in actions:
            make_game(game).step(s, action)
    return s


def agent_of(spec, game):
    """Return an agent of a game, both by spec string."""
    return make_agent(spec, make_game(game))


def is_uniform(actions, expected):
    """Return whether actions are uniform over the expected ones, by a chi-squared test."""
    counts = [np.sum(actions == action) for action in expected]
    assert sum(counts) == len(actions)
    return chisquare(counts).pvalue > 0.001


# Agents are compiled for each game: some games run by default, the others in `make test-slow`.
SOME_GAMES = ("HungryGeese-v0", "Othello-v0", "Connect4-v0", "Tron-v0", "Breakthrough-v0")


@pytest.mark.parametrize(
    "name",
    [name if name in SOME_GAMES else pytest.param(name, marks=pytest.mark.slow) for name in GAMES],
)
@pytest.mark.parametrize("spec", ["random", "greedy"])
def test_actions_are_reproducible_from_random_streams(name, spec):
    game = make_game(name)
    s = game.new(3)
    first = choose(agent_of(spec, name), s, times=50, seed=1)
    np.testing.assert_array_equal(first, choose(agent_of(spec, name), s, times=50, seed=1))
    alone = [choose(agent_of(spec, name), s, seed=k)[0] for k in range(5)]
    assert alone == [choose(agent_of(spec, name), s, seed=k)[0] for k in range(5)]
    if spec == "random":
        assert not np.array_equal(first, choose(agent_of(spec, name), s, times=50, seed=2))


def test_random_is_uniform():
    s = position("hex:board_size=5", 0, 24, 12)
    free = sorted(set(range(25)) - {0, 24, 12})
    actions = choose(agent_of("random", "hex:board_size=5"), s, seat=1, times=4_400)
    assert is_uniform(actions, free)
    assert is_uniform(choose(agent_of("random", "tron"), make_game("tron").new(), 1, 800), range(4))


def flipped_discs(board, mover):
    """Return the number of discs that each legal placement flips, by action.

    The board holds 0 (empty), 1 (black) and 2 (white).
    """
    size, own, other = len(board), 1 + mover, 2 - mover
    flips = {}
    for row, column in np.argwhere(board == 0):
        count = 0
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                run, r, c = 0, row + down, column + right
                while 0 <= r < size and 0 <= c < size and board[r, c] == other and (down or right):
                    run, r, c = run + 1, r + down, c + right
                if 0 <= r < size and 0 <= c < size and board[r, c] == own:
                    count += run
        if count:
            flips[int(row * size + column)] = count
    return flips


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize("spec", ["othello", "othello:board_size=6"])
def test_greedy_othello_takes_the_most_discs(spec):
    game, agent = make_game(spec), agent_of("greedy", spec)
    trajectory, tied = record_trajectory(game, 12, seed=1), 0
    for positions, plies in zip(trajectory.positions, trajectory.plies, strict=True):
        for s in positions[:plies].view(np.recarray):
            flips = flipped_discs(game.layout.cells(s), int(s.to_move))
            best = {a for a, count in flips.items() if count == max(flips.values())}
            chosen = choose(agent, s, int(s.to_move), times=40)
            assert set(chosen) <= (best or {game.num_actions - 1})
            tied += len(best) > 1
    assert tied > 50
    # In the starting position all four moves flip one disc.
    assert is_uniform(
        choose(agent, game.new(), times=4000), flipped_discs(game.layout.cells(game.new()), 0)
    )


def greedy_goose(s, player):
    """Return the action of kaggle-environments' GreedyAgent, or None if it samples one."""
    rows, columns = s.occupied.shape
    bodies = geese(s)

    def neighbors(cell):
        row, column = divmod(int(cell), columns)
        return [(row + i) % rows * columns + (column + j) % columns for i, j in DIRECTIONS]

    avoid = {cell for goose in bodies for cell in goose}
    for p, goose in enumerate(bodies):
        if p != player and goose:
            avoid |= set(neighbors(goose[0]))
    distances = {}
    for action, cell in enumerate(neighbors(bodies[player][0])):
        turns_back = s.last_action[player] >= 0 and action == (s.last_action[player] + 2) % 4
        if cell not in avoid and not turns_back:
            distances[action] = min(
                abs(cell // columns - food // columns) + abs(cell % columns - food % columns)
                for food in s.food[: s.num_food].tolist()
            )
    return min(distances, key=distances.get) if distances else None


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("hungry_geese", marks=pytest.mark.slow),
        "hungry_geese:rows=4,columns=5,num_players=3",
    ],
)
def test_greedy_goose_matches_kaggle(spec):
    game, agent = make_game(spec), agent_of("greedy", spec)
    replays = play_match(game, ("greedy", "greedy"), 8, seed=2, num_replays=8).replays
    determined, sampled = 0, 0
    for replay in replays:
        *positions, _ = replay.positions()
        for s in positions:
            for p in np.flatnonzero(s.length):
                expected = greedy_goose(s, p)
                if expected is None:
                    actions = choose(agent, s, p, times=100)
                    assert set(actions) == {0, 1, 2, 3}
                    sampled += 1
                else:
                    assert (choose(agent, s, p, times=3) == expected).all()
                    determined += 1
    assert determined > 200
    assert sampled > 5


@pytest.mark.parametrize(
    ("game", "actions", "winning"),
    [
        ("tictactoe", (0, 3, 1, 4), {2}),  # completes its line instead of blocking with 5
        ("tictactoe", (0, 3, 1, 4, 8), {5}),
        ("tictactoe", (0, 1, 4, 2, 6, 5), {3, 8}),
        ("connect4", (0, 1, 0, 1, 0, 1), {0}),
        ("connect4", (1, 1, 2, 2, 3, 3), {0, 4}),
        ("connect4", (0, 1, 6, 2, 6, 3, 5), {4}),  # a win of the second player
        ("hex:board_size=3", (0, 1, 3, 4), {6}),  # a column joins north and south
        ("hex:board_size=3", (1, 0, 4, 8), {6, 7}),
        ("hex:board_size=3", (1, 3, 7, 4), set()),
    ],
)
def test_one_ply_finds_wins(game, actions, winning):
    rules, s = make_game(game), position(game, *actions)
    seat, legal = rules.player(s), np.zeros(rules.num_actions, np.int16)
    free = set(legal[: rules.legal_actions(s, legal)].tolist())
    wins = {a for a in free if rules.is_terminal(position(game, *actions, a))}
    assert wins == winning  # none of these boards is full
    agent = agent_of("greedy", game)
    assert isinstance(agent, OnePlyAgent)
    assert set(choose(agent, s, seat, times=100)) == (winning or free)


def test_one_ply_is_uniform_without_a_win():
    actions = choose(agent_of("greedy", "connect4"), make_game("connect4").new(), times=1400)
    assert is_uniform(actions, range(7))


def test_one_ply_avoids_crashes_where_possible():
    game = make_game("tron")
    s = game.new()
    for _ in range(2):
        game.step(s, np.array([0, 2]))  # both ride to their borders
    agent = agent_of("greedy", "tron")
    assert set(choose(agent, s, 0, times=500)) == {
        1,
        3,
    }  # north is the border, south the player's own wall
    assert set(choose(agent, s, 1, times=500)) == {1, 3}


def test_one_ply_goose_does_not_turn_back():
    game = make_game("hungry_geese")
    s = game.new(1)
    with np.errstate(over="ignore"):
        game.step(s, np.zeros(4, np.int64))
    agent = OnePlyAgent(game)
    for p in np.flatnonzero(s.length):
        assert 2 not in choose(agent, s, int(p), times=60)


@pytest.mark.parametrize(
    ("name", "games"),
    [
        ("hungry_geese:num_players=2,rows=5,columns=5", 40),
        ("othello:board_size=6", 200),
        ("hex:board_size=4", 100),
        ("connect4", 64),
        ("tictactoe", 100),
        ("tron", 40),
        *(
            pytest.param(name, 400, marks=pytest.mark.slow)
            for name in ("hungry_geese", "othello", "hex")
        ),
    ],
)
def test_greedy_beats_random(name, games):
    result = play_match(name, ("greedy", "random"), games, seed=1)
    # The score of equal agents is 0.5, with a standard error of at most 0.5 / sqrt(games).
    assert result.totals[0].score > 0.5 + 2 * 0.5 / games**0.5


def test_only_registered_games_have_knowledge():
    assert set(KNOWLEDGE) <= {make_game(name).name for name in GAMES}


def test_greedy_is_an_opponent_in_environments():
    env = gymnasium.make("ludoteca/Connect4-v0", opponent="greedy", agent_seat=1)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        action = np.flatnonzero(info["action_mask"])[0]
        _, reward, over, _, info = env.step(action)
    assert reward in (-1, 0, 1)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zzz", r"unknown agent 'zzz'; there are random, greedy, sb3"),
        ("", "unknown agent ''"),
        ("random:depth=3", "agent random has no parameter 'depth'; it has no parameters"),
        ("greedy:ply=1,x=2", "agent greedy has no parameter 'ply'; it has no parameters"),
        ("sb3:file=x", "agent sb3 has no parameter 'file'; it has path"),
        ("sb3", r"agent sb3 needs path=\.\.\., got 'sb3'"),
        ("random:depth", r"expected key=value after the colon of 'random:depth', got 'depth'"),
        ("sb3:path=a,path=b", "'path' comes twice"),
    ],
)
def test_invalid_spec_strings_raise(spec, message):
    with pytest.raises(ValueError, match=message):
        agent_of(spec, "hex")


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_has_a_docstring(name):
    assert find_maker(name).__doc__
    assert all(key.isidentifier() for key in agent_params(name))
