"""Tests of the encoder of Hungry Geese: planes, reach and safe moves, against plain Python."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from ludoteca.agents.games.hungry_geese import corridors as goose_corridors
from ludoteca.agents.games.hungry_geese import features
from ludoteca.agents.networks.ac_network import ACConfig, load_ac_network, make_ac_network
from ludoteca.agents.networks.layers import Trunk
from ludoteca.agents.networks.pooling import global_pooling
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.networks.torus import pad_circularly
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.registry import make_game
from ludoteca.envs.symmetry import DIRECTIONS
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

SPECS = [
    "hungry_geese",
    "hungry_geese:rows=4,columns=5,hunger_rate=3,num_players=3",
    "hungry_geese:num_players=8,rows=9,columns=6,min_food=12",
    "hungry_geese:num_players=1,rows=3,columns=3",
]


@cache
def positions(spec, games=2, seed=0):
    """Return a game and positions of games between `random_safe` agents."""
    game = make_game(spec)
    agent, rng = make_agent("random_safe", game), np.random.default_rng(seed)
    records = []
    for k in range(games):
        s = game.new(seed + k)
        while not game.is_terminal(s):
            records.append(s.copy())
            joint = np.zeros(game.num_players, np.int64)
            for p in range(game.num_players):
                if game.is_active(s, p):
                    stream = rng.integers(2**63, size=(1, 1)).astype(np.uint64)
                    state = np.asarray(s).reshape(1).astype(game.state)
                    joint[p] = agent.act(state, np.array([p]), stream, np.zeros(1, int))[0]
            with np.errstate(over="ignore"):
                game.step(s, joint)
    return game, records


def encode_one(game, s, p, view="hand_crafted"):
    """Return the planes and the action mask of one position for player `p`."""
    state = np.asarray(s).reshape(1).astype(game.state)
    planes, masks = SeatEncoder(game, view).encode(state, np.array([p]))
    return planes[0], masks[0]


def centered_board(s, p, cells):
    """Return a board with values at cells, shifted so that a goose's head is in the center."""
    rows, columns = s.occupied.shape
    head = geese(s)[p][0]
    board = np.zeros((rows, columns), int)
    for cell, value in cells.items():
        board.flat[cell] = value
    return np.roll(board, (rows // 2 - head // columns, columns // 2 - head % columns), (0, 1))


def bfs_distances(s, heads, steps_occupied):
    """Return the number of moves to each reachable cell, by plain breadth-first search."""
    rows, columns = s.occupied.shape
    distances = dict.fromkeys(heads, 0)
    frontier, n = list(heads), 0
    while frontier:
        n += 1
        frontier = [
            there
            for cell in frontier
            for i, j in DIRECTIONS
            for there in [(cell // columns + i) % rows * columns + (cell % columns + j) % columns]
            if steps_occupied.get(there, 0) <= n
            and there not in distances
            and not distances.update({there: n})
        ]
    return distances


def corridors(s, p, near, steps_occupied):
    """Return the corridor length from each cell beside a goose's head, by plain recursion."""
    rows, columns = s.occupied.shape
    bodies = geese(s)
    rivals = [b[0] for q, b in enumerate(bodies) if q != p and b]
    reach = bfs_distances(s, rivals, steps_occupied) if near else {}

    def longest(path, eaten):
        """Return the maximum length of the path extended, and the number of searched cells."""
        deepest, num_cells, n = len(path), 0, len(path) + 1
        for i, j in DIRECTIONS:
            num_cells += 1
            row, column = (path[-1] // columns + i) % rows, (path[-1] % columns + j) % columns
            cell = row * columns + column
            blocked = (
                cell in steps_occupied and steps_occupied[cell] + eaten * (cell in bodies[p]) > n
            )
            rival_arrives = 0 < reach.get(cell, 0) <= min(near, n)
            if cell not in path and not blocked and not rival_arrives:
                if n == goose_corridors.MAX_LENGTH:
                    return n, num_cells
                depth, cells_searched = longest(
                    [*path, cell], eaten + (s.occupied[row, column] < 0)
                )
                deepest, num_cells = max(deepest, depth), num_cells + cells_searched
                if deepest == goose_corridors.MAX_LENGTH or num_cells > goose_corridors.MAX_CELLS:
                    return goose_corridors.MAX_LENGTH, num_cells
        return deepest, num_cells

    lengths = {}
    head = bodies[p][0]
    for action, (i, j) in enumerate(DIRECTIONS):
        if s.last_action[p] < 0 or action != (s.last_action[p] + 2) % 4:
            row, column = (head // columns + i) % rows, (head % columns + j) % columns
            cell = row * columns + column
            far = 0
            if steps_occupied.get(cell, 0) <= 1:
                far, _ = longest([cell], int(s.occupied[row, column] < 0))
            lengths[cell] = max(lengths.get(cell, 0), 100 * far // goose_corridors.MAX_LENGTH)
    return lengths


@pytest.mark.parametrize("spec", SPECS)
def test_corridors_are_the_longest_paths(spec):
    game, states = positions(spec)
    for s in states[:: max(1, len(states) // 20)]:
        bodies = geese(s)
        steps_occupied = {cell: len(b) - k for b in bodies for k, cell in enumerate(b)}
        for p in (p for p in range(game.num_players) if bodies[p]):
            planes, _ = encode_one(game, s, p)
            for near, own, rival in (
                (0, features.OWN_CORRIDOR, features.RIVAL_CORRIDOR),
                (features.NEAR, features.OWN_ESCAPE, features.RIVAL_ESCAPE),
            ):
                own_lengths, rival_lengths = corridors(s, p, near, steps_occupied), {}
                for q in (q for q in range(game.num_players) if q != p and bodies[q]):
                    for cell, far in corridors(s, q, near, steps_occupied).items():
                        rival_lengths[cell] = max(rival_lengths.get(cell, 0), far)
                assert np.array_equal(planes[own], centered_board(s, p, own_lengths))
                assert np.array_equal(planes[rival], centered_board(s, p, rival_lengths))


@pytest.mark.parametrize("spec", SPECS)
def test_hand_crafted_features_match_plain_python(spec):
    game, states = positions(spec)
    for s in states[:: max(1, len(states) // 20)]:
        bodies = geese(s)
        for p in (p for p in range(game.num_players) if game.is_active(s, p)):
            planes, _ = encode_one(game, s, p)
            rivals = [q for q in range(game.num_players) if q != p and bodies[q]]
            steps_occupied = {cell: len(b) - k for b in bodies for k, cell in enumerate(b)}
            near = bfs_distances(s, [bodies[p][0]], steps_occupied)
            expected = {
                features.OWN_BODY: dict.fromkeys(bodies[p], 100),
                features.RIVAL_STAY: {
                    c: min(4 * steps_occupied[c], 100) for q in rivals for c in bodies[q]
                },
                features.RIVAL_TAIL: {bodies[q][-1]: 100 for q in rivals},
                features.RIVAL_LEAD: {
                    bodies[q][0]: np.clip(10 * (len(bodies[q]) - len(bodies[p])), -100, 100)
                    for q in rivals
                },
                features.FOOD: dict.fromkeys(s.food[: s.num_food].tolist(), 100),
                features.OWN_REACH: {c: max(100 - 6 * n, 4) for c, n in near.items()},
            }
            if rivals:
                far = bfs_distances(s, [bodies[q][0] for q in rivals], steps_occupied)
                expected[features.RIVAL_REACH] = {c: max(100 - 6 * n, 4) for c, n in far.items()}
            for plane, cells in expected.items():
                assert np.array_equal(planes[plane], centered_board(s, p, cells)), plane
            assert (
                planes[features.RIVALS] == 100 * len(rivals) // max(game.num_players - 1, 1)
            ).all()
            assert (
                planes[features.HUNGER] == 100 * (s.steps % s.hunger_rate) // s.hunger_rate
            ).all()


@pytest.mark.parametrize("spec", [pytest.param(SPECS[0], marks=pytest.mark.slow), SPECS[1]])
def test_masked_actions_are_fatal(spec):
    game, states = positions(spec, games=4)
    num_masked = 0
    for s in states[:: max(1, len(states) // 60)]:
        for p in (p for p in range(game.num_players) if game.is_active(s, p)):
            _, mask = encode_one(game, s, p)
            can_survive = np.zeros(4, bool)
            alive = [q for q in range(game.num_players) if game.is_active(s, q)]
            for joint in product(range(4), repeat=len(alive)):
                t, actions = s.copy(), np.zeros(game.num_players, int)
                actions[alive] = joint
                with np.errstate(over="ignore"):
                    game.step(t, actions)
                # A goose that turns back or bites itself frees its cells for others.
                others = all(t.length[q] > 0 for q in alive if q != p)
                can_survive[actions[p]] |= t.length[p] > 0 and (others or bool(mask[actions[p]]))
            if mask.all() and not can_survive.any():
                continue  # all actions are fatal, so none is masked
            assert not (can_survive & (mask == 0)).any()
            num_masked += int((mask == 0).sum())
    assert num_masked > 10


@pytest.mark.parametrize("spec", SPECS)
def test_rows_of_a_batch_are_encoded_independently(spec):
    game, states = positions(spec, games=1)
    players = range(game.num_players)
    pairs = [(s, p) for s in states[::10] for p in players if game.is_active(s, p)]
    order = np.random.default_rng(0).permutation(len(pairs))
    for requests in (pairs, [pairs[k] for k in order], []):
        batch = game.empty(len(requests))
        for i, (s, _) in enumerate(requests):
            batch[i] = s
        seats = np.array([p for _, p in requests], np.int64)
        planes, masks = SeatEncoder(game, "hand_crafted").encode(batch, seats)
        assert (len(planes), len(masks)) == (len(requests), len(requests))
        for i, (s, p) in enumerate(requests):
            alone, mask = encode_one(game, s, p)
            assert np.array_equal(planes[i], alone)
            assert np.array_equal(masks[i], mask)


@pytest.mark.parametrize("spec", SPECS)
def test_symmetries_of_the_encoder_match_the_rules(spec):
    game, states = positions(spec, games=1)
    encoder = SeatEncoder(game, "hand_crafted")
    assert encoder.symmetries[0].name == "identity"
    for symmetry in encoder.symmetries:
        for s in states[::14]:
            t = s.copy()
            t.occupied.flat[symmetry.cells] = s.occupied.flat
            for name in ("body", "food", "last_head"):
                cells = getattr(s, name)
                getattr(t, name)[...] = np.where(cells >= 0, symmetry.cells[cells], cells)
            moved = symmetry.actions[s.last_action]
            t.last_action[...] = np.where(s.last_action >= 0, moved, s.last_action)
            assert game.validate(t) == ""
            for p in (p for p in range(game.num_players) if game.is_active(s, p)):
                (planes, mask), (other, mapped) = encode_one(game, s, p), encode_one(game, t, p)
                assert np.array_equal(symmetry.observation(planes), other)
                assert np.array_equal(symmetry.policy(mask), mapped)


def test_circular_padding_matches_pytorch():
    inputs = torch.randn(3, 5, 7, 11, dtype=torch.float64)
    ours, theirs = (inputs.clone().requires_grad_() for _ in range(2))
    weights = torch.randn(3, 5, 11, 15, dtype=torch.float64)
    expected = nn.functional.pad(theirs, (2, 2, 2, 2), mode="circular")
    padded = pad_circularly(ours, 2)
    assert torch.equal(padded, expected)
    (padded * weights).sum().backward()
    (expected * weights).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad)


def test_convolution_on_a_torus_is_translation_equivariant():
    torch.manual_seed(0)
    trunk = Trunk(3, 8, 2, torus=True).double()
    for parameter in trunk.parameters():
        nn.init.normal_(parameter, std=0.3)
    x = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    moved = trunk(x.roll((2, 3), (2, 3)))
    assert torch.allclose(moved, trunk(x).roll((2, 3), (2, 3)))


@pytest.mark.parametrize(
    ("kind", "view"),
    [
        ("torus", "hand_crafted"),
        ("residual", "plain"),
        ("uib2021", "hand_crafted"),
        ("mlp", "plain"),
        pytest.param("torus", "plain", marks=pytest.mark.slow),
        pytest.param("residual", "hand_crafted", marks=pytest.mark.slow),
        pytest.param("uib2021", "plain", marks=pytest.mark.slow),
        pytest.param("mlp", "hand_crafted", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "spec",
    [
        "hungry_geese:num_players=3,rows=4,columns=5,episode_steps=10",
        pytest.param("hungry_geese", marks=pytest.mark.slow),
    ],
)
def test_saved_networks_play(spec, kind, view, tmp_path):
    game = make_game(spec)
    config = ACConfig(kind=kind, view=view, filters=8, blocks=2)
    network = make_ac_network(config, game)
    path = tmp_path / "net.safetensors"
    metadata = {"game": game.spec, "network": config.as_dict()}
    save_weights(path, network.state_dict(), metadata)
    again, _ = load_ac_network(game, path)
    state = np.asarray(game.new(1)).reshape(1).astype(game.state)
    planes, _ = SeatEncoder(game, view).encode(state, np.array([2]))
    scale = SeatEncoder(game, view).scale
    assert np.array_equal(Runner(network, scale)(planes), Runner(again, scale)(planes))
    fast = Runner(network, scale, precision="bfloat16")(planes)
    assert np.abs(fast - Runner(network, scale)(planes)).max() < 0.05
    agents = [f"ac:{path}", f"cnn:{path},temperature=0.5", "random_safe"]
    match = play_match(game, agents, 3, seed=3)
    assert match.totals[0].games == 3
    again = play_match(game, agents, 3, seed=3)
    assert np.array_equal(match.returns, again.returns)


@pytest.mark.parametrize(
    ("spec", "view", "problem"),
    [
        ("othello", "hand_crafted", "support only view='plain', got view='hand_crafted'"),
        ("tron", "hand_crafted", "no hand-crafted features"),
        ("tron", "deep", "view must be one of"),
    ],
)
def test_invalid_encoders_raise(spec, view, problem):
    with pytest.raises(ValueError, match=problem):
        SeatEncoder(make_game(spec), view)


@pytest.mark.parametrize("cell", [None, 38])
def test_global_pooling_gradients_match_pytorch(cell):
    inputs = torch.randn(3, 4, 7, 11, dtype=torch.float64).to(memory_format=torch.channels_last)
    ours, theirs = (inputs.clone().requires_grad_() for _ in range(2))
    parts = [theirs.mean((2, 3)), theirs.amax((2, 3))]
    if cell is not None:
        parts.append(theirs.flatten(2)[:, :, cell])
    expected = torch.cat(parts, 1)
    pooled = global_pooling(ours, cell)
    assert torch.allclose(pooled, expected)
    assert torch.allclose(global_pooling(inputs, cell), expected)  # without gradients
    weights = torch.randn_like(expected)
    (pooled * weights).sum().backward()
    (expected * weights).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad)
