"""Electric-resistance heuristic for Hex, and Mixed, which sometimes plays at random.

Circuits are compared with hand computations, and with another solver of linear equations.
"""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ludoteca.agents import make_agent
from ludoteca.agents.games.hex.cell_values import make_act
from ludoteca.agents.games.hex.resistance import HeuristicAgent, MixedAgent, write_values
from ludoteca.envs.games.hex import BLACK, WHITE, hex
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

INF = np.inf


def interpreted(game):
    """Return an agent whose circuits are solved by the plain Python code."""
    agent = HeuristicAgent(game)

    def act(positions, seats, rngs, work, x, actions):
        states, memory = view_records(positions), view_records(work)
        make_act(write_values).py_func(states, seats, rngs, memory, x, actions)

    agent._act = act
    return agent


def after(game, actions):
    """Return the position after actions."""
    s = game.new()
    for action in actions:
        game.step(s, int(action))
    return s


def random_position(game, rng, plies):
    """Play at random, and stop before a move that ends the game."""
    actions = rng.permutation(game.params["board_size"] ** 2)[:plies]
    s = game.new()
    for action in actions:
        before = s.copy()
        game.step(s, int(action))
        if game.is_terminal(s):
            return before
    return s


def choose(agent, s, seed=0):
    """Return the action of an agent in a position."""
    position = agent.game.empty(1)
    position[0] = s
    rngs = np.array([[seed]], np.uint64)
    return int(agent.act(position, np.array([s.to_move]), rngs, np.zeros(1, np.int64))[0])


def stones_of(s, player):
    """Return the stones of a player and of the opponent, turned so that the player goes south."""
    cells = s.cells[1:-1, 1:-1]
    black, white = (cells & BLACK) != 0, (cells & WHITE) != 0
    return (black, white) if player == s.white_first else (white.T, black.T)


@cache
def neighbors(n):
    """Return the pairs of neighboring cells of a board, each a tuple of row and column."""
    pairs = []
    for a in np.ndindex(n, n):
        for b in np.ndindex(n, n):
            down, right = b[0] - a[0], b[1] - a[1]
            if a < b and max(abs(down), abs(right), abs(down + right)) == 1:
                pairs.append((a, b))
    return pairs


def reference(own, enemy):
    """Return the resistance from north to south, by the pseudoinverse of the full Laplacian."""
    n = len(own)
    north, south = n * n, n * n + 1
    resistance = np.where(enemy, INF, np.where(own, 0.0, 1.0))
    pairs = [
        (a[0] * n + a[1], b[0] * n + b[1], resistance[a] + resistance[b]) for a, b in neighbors(n)
    ]
    for column in range(n):
        pairs.append((column, north, resistance[0, column]))
        pairs.append(((n - 1) * n + column, south, resistance[n - 1, column]))

    def components(is_linked):
        linked = np.array([pair[:2] for pair in pairs if is_linked(pair[2])]).reshape(-1, 2)
        graph = coo_array((np.ones(len(linked)), linked.T), shape=(n * n + 2, n * n + 2))
        return connected_components(graph, directed=False)

    _, part = components(lambda r: r < INF)
    if part[north] != part[south]:
        return INF
    count, node = components(lambda r: r == 0)
    if node[north] == node[south]:
        return 0.0
    laplacian = np.zeros((count, count))
    for a, b, r in pairs:
        if 0 < r < INF:
            i, j = node[a], node[b]
            laplacian[[i, j], [i, j]] += 1 / r
            laplacian[[i, j], [j, i]] -= 1 / r
    current = np.zeros(count)
    current[node[north]], current[node[south]] = 1, -1
    return current @ np.linalg.pinv(laplacian, hermitian=True) @ current


def reference_changes(s, player):
    """Return `changes` by the reference: `[2, n, n]`, a cell joined and blocked."""
    own, enemy = stones_of(s, player)
    resistances = np.full((2, *own.shape), np.nan)
    for cell in np.argwhere(~own & ~enemy):
        placed = np.zeros_like(own)
        placed[tuple(cell)] = True
        resistances[0][tuple(cell)] = reference(own | placed, enemy)
        resistances[1][tuple(cell)] = reference(own, enemy | placed)
    return resistances if player == s.white_first else resistances.transpose(0, 2, 1)


@pytest.mark.parametrize(
    ("n", "make", "positions"),
    [(2, interpreted, 6), (3, interpreted, 5), (4, interpreted, 4), (5, HeuristicAgent, 5)],
)
@pytest.mark.parametrize("first", ["black", "white"])
def test_circuits_agree_with_another_solver(n, make, positions, first):
    game = hex(n, first)
    agent, rng = make(game), np.random.default_rng(n)
    for i in range(positions):
        s = random_position(game, rng, i * n * n // positions)
        for player in range(2):
            assert agent.resistance(s, player) == pytest.approx(reference(*stones_of(s, player)))
            expected = reference_changes(s, player)
            np.testing.assert_allclose(agent.changes(s, player), expected, rtol=1e-9, atol=1e-12)


def test_resistances_match_hand_computation():
    agent = interpreted(hex(2))
    # Cells a b over c d. Half of the voltage lies between north and the middle, so that a is at
    # 3/4 and b at 2/3: the current is 1/4 + 1/3.
    s = after(agent.game, [])
    assert agent.resistance(s, 0) == pytest.approx(12 / 7)
    assert agent.resistance(s, 1) == pytest.approx(12 / 7)
    # A stone on b has no resistance to north, and 1 to each of a, c and d. So c has 1 from b, 2
    # from a (which has 1/2 from north), and 1 to south; d has 1 from b, and 1 to south; c and d
    # have 2 between them.
    joined, blocked = agent.changes(s, 0)
    to_c = 1 + 1 / (2 + 1 / 2)  # conductance from north to c
    c, d = np.linalg.solve([[to_c + 1 + 0.5, -0.5], [-0.5, 1 + 1 + 0.5]], [to_c, 1])
    assert joined[0, 1] == pytest.approx(1 / (c + d))
    # Without b: 1 to a, 2 from a to c, and from c to south 1 in parallel with 2 + 1 by d.
    assert blocked[0, 1] == pytest.approx(1 + 2 + 1 / (1 + 1 / 3))
    # Without c: from north to b 1 in parallel with 1 + 2 by a, then 2 to d, and 1 to south.
    assert blocked[1, 0] == pytest.approx(1 / (1 + 1 / 3) + 2 + 1)
    # With c white and b black: b has no resistance to north; d has 1 from b, and 1 to south.
    s = after(agent.game, [1, 2])
    assert agent.resistance(s, 0) == pytest.approx(2)
    joined, blocked = agent.changes(s, 0)
    assert joined[1, 1] == 0
    assert blocked[1, 1] == INF
    assert joined[0, 0] == blocked[0, 0] == pytest.approx(2)  # no current flows through a
    assert np.isnan(joined[0, 1])
    assert agent.values(s)[1, 1] == 1


def test_a_single_row_is_a_chain_of_resistances():
    # White has all columns but the last, which is empty: black's circuit is a chain.
    game = hex(4)
    s = game.new()
    for cell in range(16):
        if cell % 4 < 3:
            s.to_move = 1
            game.step(s, cell)
    agent = interpreted(game)
    assert agent.resistance(s, 0) == pytest.approx(1 + 2 + 2 + 2 + 1)
    joined, blocked = agent.changes(s, 0)
    # The stone takes 1 from its link to the edge and 1 from each link to a cell.
    np.testing.assert_allclose(joined[:, 3], [6, 6, 6, 6])
    assert (blocked[:, 3] == INF).all()


@pytest.mark.parametrize("first", ["black", "white"])
def test_the_winner_has_no_resistance_and_the_loser_infinite(first):
    game = hex(3, first)
    down, right = (0, 3, 6), (1, 2, 5)
    moves = (down, right) if first == "black" else ((0, 1, 2), (3, 4, 6))
    s = after(game, [moves[i % 2][i // 2] for i in range(5)])
    assert s.winner == 0
    agent = interpreted(game)
    assert (agent.resistance(s, 0), agent.resistance(s, 1)) == (0, INF)
    values = agent.values(s)
    stones = s.cells[1:-1, 1:-1] != 0
    assert (values[stones] == -1).all()
    assert (values[~stones] == 0).all()


def test_half_turn_keeps_resistances():
    agent, rng = HeuristicAgent(hex(5)), np.random.default_rng(1)
    for plies in range(0, 16, 3):
        actions = rng.permutation(25)[:plies]
        s, rotated = after(agent.game, actions), after(agent.game, 24 - actions)
        np.testing.assert_allclose(agent.values(rotated), agent.values(s)[::-1, ::-1], atol=1e-12)


def test_mirroring_the_board_exchanges_the_colors():
    black, white = HeuristicAgent(hex(5, "black")), HeuristicAgent(hex(5, "white"))
    rng = np.random.default_rng(2)
    for plies in range(0, 16, 3):
        actions = rng.permutation(25)[:plies]
        s = after(black.game, actions)
        mirrored = after(white.game, actions % 5 * 5 + actions // 5)
        for player in range(2):
            expected = pytest.approx(black.resistance(s, player))
            assert white.resistance(mirrored, player) == expected
        np.testing.assert_allclose(white.values(mirrored), black.values(s).T, atol=1e-12)


@pytest.mark.parametrize("first", ["black", "white"])
def test_values_and_moves_follow_from_the_resistances(first):
    game = hex(5, first)
    agent, rng = HeuristicAgent(game), np.random.default_rng(3)
    for plies in range(0, 24, 3):
        s = random_position(game, rng, plies)
        player, values = s.to_move, agent.values(s)
        stones = s.cells[1:-1, 1:-1] != 0
        q = agent.resistance(s, 1 - player) / agent.resistance(s, player)
        with np.errstate(divide="ignore"):
            log_ratio = np.log(agent.changes(s, 1 - player)[1] / agent.changes(s, player)[0] / q)
        np.testing.assert_allclose(values[~stones], np.tanh(log_ratio / 2)[~stones], atol=1e-9)
        assert (values[stones] == -1).all()
        assert ((values[~stones] >= -1e-12) & (values[~stones] <= 1)).all()
        # The first cell whose value equals the maximum up to rounding is chosen.
        assert choose(agent, s) == np.flatnonzero(values.ravel() >= values.max() - 1e-9)[0]
        wins = [after_move(game, s, a).winner == player for a in game.legal(s)]
        np.testing.assert_array_equal(values[~stones] == 1, wins)


def after_move(game, s, action):
    """Return the position after an action."""
    t = s.copy()
    game.step(t, action)
    return t


def test_the_first_of_equal_cells_is_played():
    agent = HeuristicAgent(hex(5))
    s = agent.game.new()
    best = np.flatnonzero(np.isclose(agent.values(s), agent.values(s).max()))
    assert len(best) == 2
    assert {choose(agent, s, seed) for seed in range(20)} == {best[0]}


def test_the_same_positions_get_the_same_moves_in_any_order():
    game, rng = hex(5), np.random.default_rng(4)
    agent, states = HeuristicAgent(game), game.empty(20)
    for i in range(20):
        states[i] = random_position(game, rng, i)
    seats, env_indices = states["to_move"].astype(np.int64), np.arange(20)
    rngs = np.arange(20, dtype=np.uint64).reshape(20, 1)
    before = rngs.copy()
    actions = agent.act(states, seats, rngs, env_indices)
    back = HeuristicAgent(game).act(states[::-1].copy(), seats[::-1].copy(), rngs, env_indices)
    np.testing.assert_array_equal(actions, back[::-1])
    np.testing.assert_array_equal(rngs, before)  # the agent uses no random numbers


@pytest.mark.slow
def test_agent_swaps_if_that_is_better_than_any_move():
    game = hex(5, swap=True)
    agent = HeuristicAgent(game)
    swapped = []
    for first in range(25):
        s = after(game, [first])

        def advantage(action, s=s):
            t = after_move(game, s, action)
            return np.log(agent.resistance(t, 0) / agent.resistance(t, 1))

        moves = [advantage(action) for action in range(25) if action != first]
        swap = advantage(25) > max(moves) + 1e-8
        assert (choose(agent, s) == 25) == swap
        swapped.append(swap)
        assert choose(agent, after(hex(5), [first])) < 25
    assert 0 < sum(swapped) < 25


@pytest.mark.slow
def test_compiled_and_interpreted_are_equal():
    game, rng = hex(5, "white", swap=True), np.random.default_rng(5)
    for plies in (1, 8, 15):
        s = random_position(game, rng, plies)
        compiled, interpreted_agent = HeuristicAgent(game), interpreted(game)
        assert choose(compiled, s) == choose(interpreted_agent, s)
        np.testing.assert_allclose(compiled.values(s), interpreted_agent.values(s), atol=1e-12)


@pytest.mark.parametrize("first", ["black", "white"])
@pytest.mark.slow
def test_heuristic_beats_random(first):
    result = play_match(hex(5, first), ("heuristic", "random"), 200, seed=1)
    for record in result.seats[0]:
        assert record.games == 100
        assert record.score >= 0.97


def test_heuristic_blocks_an_immediate_win():
    # Black has b1 and b3 to b5, which touch north and south; only b2 is missing between them.
    game = hex(5)
    agent = HeuristicAgent(game)
    s = after(game, [1, 0, 11, 4, 16, 24, 21])
    assert after_move(game, after_move(game, s, 2), 6).winner == 0
    assert choose(agent, s) == 6
    # The formula does not guarantee a block, but mostly chooses the only cell that prevents a loss.
    rng = np.random.default_rng(8)
    blocked = []
    for plies in np.tile(np.arange(11, 21), 50):
        s = random_position(game, rng, plies)
        if any(after_move(game, s, a).winner == s.to_move for a in game.legal(s)):
            continue
        other = s.copy()
        other.to_move = 1 - s.to_move
        threats = [a for a in game.legal(s) if after_move(game, other, a).winner == other.to_move]
        if len(threats) == 1:
            blocked.append(choose(agent, s) == threats[0])
    assert len(blocked) > 50
    assert np.mean(blocked) > 0.97


@pytest.mark.parametrize(
    ("size", "moves", "count"),
    [(3, [4, 1, 3], 150), pytest.param(5, [12, 7, 3], 4000, marks=pytest.mark.slow)],
)
def test_mixed_plays_at_random_with_the_given_probability(size, moves, count):
    game, cells = hex(size), size * size
    s = after(game, moves)
    states = game.empty(count)
    states[:] = s
    rngs = np.random.default_rng(6).integers(0, 2**64, (count, 1), np.uint64)
    seats, env_indices = np.full(count, s.to_move), np.arange(count)
    best, legal = choose(HeuristicAgent(game), s), game.legal(s)
    for epsilon in (0.0, 0.2, 1.0):
        actions = MixedAgent(game, epsilon).act(states, seats, rngs.copy(), env_indices)
        counts = np.bincount(actions, minlength=cells)
        assert set(np.flatnonzero(counts)) == (set(legal) if epsilon else {best})
        expected = np.where(np.isin(np.arange(cells), legal), epsilon / len(legal), 0)
        expected[best] += 1 - epsilon
        # 4.5 times the largest standard error, that of a probability of 1/2.
        assert np.abs(counts / count - expected).max() < 4.5 * 0.5 / count**0.5
        some = slice(0, count // 10)
        again = MixedAgent(game, epsilon).act(
            states[some], seats[some], rngs[some].copy(), env_indices[some]
        )
        np.testing.assert_array_equal(actions[some], again)
    assert make_agent("mixed", game).epsilon == 0.2
    assert make_agent("mixed:epsilon=0.5", game).epsilon == 0.5


def test_values_of_mixed_are_those_of_the_heuristic():
    game = hex(5)
    s = after(game, [12, 7, 3])
    values = HeuristicAgent(game).values(s)
    np.testing.assert_array_equal(MixedAgent(game, 1.0).values(s), values)


@pytest.mark.parametrize("name", [name for name in GAMES if name != "Hex-v0"])
@pytest.mark.parametrize("agent", ["heuristic", "mixed"])
def test_other_games_are_refused(name, agent):
    game = make_game(name)
    with pytest.raises(ValueError, match=f"heuristic needs the game hex, got {game.name}"):
        make_agent(agent, game)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, "often"])
def test_epsilon_outside_the_unit_interval_is_an_error(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a number from 0 to 1"):
        make_agent(f"mixed:epsilon={epsilon}", hex(5))
