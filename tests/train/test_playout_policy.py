"""Softmax playout policies: features, probabilities, gradients, training and files."""

import json
import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ludoteca.agents.playout_weights import load_playout_weights, save_playout_weights
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.sequential.simulation import make_simulation
from ludoteca.agents.softmax_playouts import find_move_features, make_softmax
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.train.playout_gradient import GradientEstimator
from ludoteca.train.playout_policy import (
    EvaluatedPositions,
    PlayoutPolicyConfig,
    optimize,
    sample_positions,
    train_playout_policy,
)

pytestmark = pytest.mark.interpreted


def random_positions(game: Game, count: int, seed: int = 0) -> list[Any]:
    """Return positions of random games that are not over."""
    rng, positions = np.random.default_rng(seed), list[Any]()
    while len(positions) < count:
        s = game.new(seed)
        for _ in range(rng.integers(game.max_plies)):
            game.step(s, int(rng.choice(game.legal(s))))
            if game.is_terminal(s):
                break
        else:
            positions.append(s)
    return positions


def features_of(game: Game, s: Any, action: int) -> list[int]:
    """Return the active features of an action."""
    features = find_move_features(game)
    out = np.zeros(features.max_active, np.int16)
    with np.errstate(over="ignore"):
        n = features.write(s, action, out)
    return [int(feature) for feature in out[:n]]


def policy(game: Game, s: Any, weights: NDArray[np.float64]) -> dict[int, float]:
    """Return the probabilities of the softmax policy."""
    logits = {a: sum(weights[i] for i in features_of(game, s, a)) for a in game.legal(s)}
    total = sum(math.exp(logit) for logit in logits.values())
    return {a: math.exp(logit) / total for a, logit in logits.items()}


@pytest.mark.parametrize(
    "spec", ["breakthrough:rows=5,columns=4", "hex:board_size=3", "breakthrough_holes"]
)
def test_features_are_in_range_and_probabilities_are_a_softmax(spec: str) -> None:
    game = make_game(spec)
    features, rng = find_move_features(game), np.random.default_rng(3)
    weights = rng.normal(size=features.num_features)
    write_probabilities, sample = make_softmax(game)
    for s in random_positions(game, 5):
        legal, out = np.array(game.legal(s), np.int16), np.zeros(game.num_actions)
        assert all(
            0 <= i < features.num_features for a in legal for i in features_of(game, s, int(a))
        )
        scratch = np.zeros(features.max_active, np.int16)
        with np.errstate(over="ignore"):
            write_probabilities(s, legal, len(legal), weights, scratch, out)
        expected = list(policy(game, s, weights).values())
        np.testing.assert_allclose(out[: len(legal)], expected)
        # The index changes where the cumulative probability exceeds the uniform number.
        for x in rng.random(20):
            k = min(int(np.searchsorted(np.cumsum(expected), x, "right")), len(legal) - 1)
            assert sample(out, len(legal), x) == k


def test_both_players_of_breakthrough_have_the_same_features() -> None:
    game = make_game("breakthrough:rows=6,columns=4")
    half, columns = game.num_actions // 2, 4
    for s in random_positions(game, 10):
        mirrored = s.copy()
        rows = [[(int(p) >> 8 * row) & 0xFF for row in range(6)] for p in s["pieces"]]
        mirrored["pieces"] = [
            sum(bits << 8 * (5 - row) for row, bits in enumerate(rows[1 - p])) for p in range(2)
        ]
        mirrored["to_move"] = 1 - s["to_move"]
        flipped = {path: action for action, path in enumerate(game.layout.moves)}
        for action in game.legal(s):
            ends = game.layout.moves[action]
            image = tuple((5 - cell // columns) * columns + cell % columns for cell in ends)
            assert (action < half) != (flipped[image] < half)
            assert features_of(game, s, action) == features_of(game, mirrored, flipped[image])


def test_both_players_of_hex_have_the_same_patterns() -> None:
    black, white = make_game("hex:board_size=4"), make_game("hex:board_size=4,first=white")
    for seed in range(5):
        rng, s, t = np.random.default_rng(seed), black.new(), white.new()
        while not black.is_terminal(s):
            for action in black.legal(s):
                mirrored = action % 4 * 4 + action // 4
                assert features_of(black, s, action) == features_of(white, t, mirrored)
            action = int(rng.choice(black.legal(s)))
            black.step(s, action)
            white.step(t, action % 4 * 4 + action // 4)


def test_likelihood_gradient_is_that_of_finite_differences() -> None:
    game = make_game("breakthrough:rows=5,columns=4")
    states = game.empty(3)
    states[:] = random_positions(game, 3)
    rng = np.random.default_rng(1)
    actions = np.array([rng.choice(game.legal(s)) for s in view_records(states)], np.int64)
    estimator = GradientEstimator(game, 0)
    weights = rng.normal(size=estimator.num_features)
    gradient, likelihood = estimator.likelihood(states, actions, weights)

    def mean_log(w: NDArray[np.float64]) -> float:
        each = zip(view_records(states), actions, strict=True)
        return float(np.mean([math.log(policy(game, s, w)[int(a)]) for s, a in each]))

    assert likelihood == pytest.approx(mean_log(weights))
    for i in range(estimator.num_features):
        step = np.eye(estimator.num_features)[i] * 1e-5
        slope = (mean_log(weights + step) - mean_log(weights - step)) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-8)


def paths(game: Game, s: Any, weights: NDArray[np.float64]) -> list[tuple[Any, float, float]]:
    """Return the move sequences to the end, their log-probabilities, and player 0's returns."""
    if game.is_terminal(s):
        out = np.zeros(2)
        game.returns(s, out)
        return [((), 0.0, float(out[0]))]
    result = []
    for action, probability in policy(game, s, weights).items():
        t = s.copy()
        game.step(t, action)
        for rest, log_probability, value in paths(game, t, weights):
            result.append(((action, *rest), math.log(probability) + log_probability, value))
    return result


def test_balancing_gradient_is_that_of_all_playouts() -> None:
    game = make_game("hex:board_size=2")
    s = game.new()
    game.step(s, 1)  # White to move, three empty cells
    estimator, rng = GradientEstimator(game, 5), np.random.default_rng(2)
    weights, target = rng.normal(size=estimator.num_features), 0.4
    active = {i for a, b in product(range(4), repeat=2) for i in _patterns(game, a, b)}
    exact = paths(game, s, weights)
    value = -sum(math.exp(log) * z for _, log, z in exact)  # for White, who is player 1
    expected = np.zeros(estimator.num_features)
    for i in active:
        step = np.eye(estimator.num_features)[i] * 1e-5
        above, below = (paths(game, s, weights + sign * step) for sign in (1, -1))
        slopes = [(a[1] - b[1]) / 2e-5 for a, b in zip(above, below, strict=True)]
        expected[i] = sum(
            math.exp(log) * -z * slope / len(moves)
            for (moves, log, z), slope in zip(exact, slopes, strict=True)
        )
    states = game.empty(1)
    states[0] = s
    gradient, values = estimator.balance(states, np.array([target]), weights, (900, 900))
    assert values[0] == pytest.approx(value, abs=0.1)
    np.testing.assert_allclose(gradient, (target - values[0]) * expected, atol=0.04)
    assert np.abs(expected).max() > 0.05


def _patterns(game: Game, first: int, second: int) -> set[int]:
    """Return the features of all moves after two moves, if these are legal."""
    s = game.new()
    for action in (1, first, second):
        if game.is_terminal(s) or action not in game.legal(s):
            return set()
        game.step(s, action)
    t = game.new()
    game.step(t, 1)
    found = {i for a in game.legal(t) for i in features_of(game, t, a)}
    game.step(t, first)
    found |= {i for a in game.legal(t) for i in features_of(game, t, a)}
    return found | {i for a in game.legal(s) for i in features_of(game, s, a)}


def test_training_writes_weights_that_the_search_reads(tmp_path: Any) -> None:
    game = make_game("breakthrough:rows=5,columns=2")
    config = PlayoutPolicyConfig(
        game.spec, tmp_path, ("balancing", "likelihood"), positions=4, test_positions=2,
        self_play_simulations=3, epochs=2, search_simulations=20, batch_size=2, value_playouts=3,
        gradient_playouts=3, test_playouts=5,
    )  # fmt: skip
    content = train_playout_policy(config)
    assert json.loads((tmp_path / "results.json").read_text()) == json.loads(json.dumps(content))
    assert list(content["test"]) == ["uniform", "balancing", "likelihood"]
    for method in config.methods:
        file = tmp_path / f"{method}.safetensors"
        weights = load_playout_weights(file, game)
        assert weights.tolist() == content["weights"][method]
        assert np.abs(weights).max() > 0
        agent: Any = make_agent(
            f"mcts:simulations=30,playout=softmax,playout.weights={file},threads=2,parallel=root",
            game,
        )
        for tree in agent._workspace.trees:
            assert tree.work["playout_weights"][0].tolist() == weights.tolist()
        assert agent.search(game.new()).simulations == 30


def test_games_that_end_in_their_random_plies_are_replaced() -> None:
    game = make_game("breakthrough:rows=4,columns=2")
    rng = np.random.default_rng(0)
    config = PlayoutPolicyConfig(game.spec, self_play_simulations=2, random_plies=4)
    positions = sample_positions(game, config, rng, 8)
    assert all(game.validate(s) == "" and game.legal(s) for s in view_records(positions))
    with pytest.raises(ValueError, match=r"all games of .* end within random_plies=100"):
        sample_positions(game, replace(config, random_plies=100), rng, 2)


@pytest.mark.parametrize("methods", [(), ("likelihood", "likelihood")])
def test_methods_are_different_and_at_least_one(methods: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="methods must be different, and at least one"):
        PlayoutPolicyConfig("hex:board_size=3", methods=methods)


def test_likelihood_training_predicts_the_moves_better() -> None:
    game, rng = make_game("breakthrough:rows=5,columns=4"), np.random.default_rng(0)
    states = game.empty(12)
    states[:] = random_positions(game, 12)
    actions = np.array([game.legal(s)[0] for s in view_records(states)], np.int64)
    data = EvaluatedPositions(states, np.zeros(12), actions)
    config = PlayoutPolicyConfig(game.spec, epochs=20, batch_size=12)
    estimator = GradientEstimator(game, 0)
    weights = optimize(estimator, data, "likelihood", config, rng)
    before, after = (
        estimator.likelihood(states, actions, each)[1] for each in (np.zeros_like(weights), weights)
    )
    assert after > before + 0.1


def test_playouts_follow_the_weights(tmp_path: Any) -> None:
    """With high weights of captures, the first playout move is always a capture."""
    game, file = make_game("breakthrough"), tmp_path / "captures.safetensors"
    weights = np.zeros(find_move_features(game).num_features)
    weights[1:8:2] = 50.0  # all features of captures
    save_playout_weights(file, game, weights)
    agent: Any = make_agent(f"mcts:playout=softmax,playout.weights={file},playout.depth=1", game)
    assert make_simulation(game, agent.config) is not None
    tree = agent._workspace.trees[0]
    for s in random_positions(game, 20, seed=4):
        captures = [a for a in game.legal(s) if features_of(game, s, a)[0] % 2]
        legal = game.legal(s)
        out, scratch = np.zeros(game.num_actions), np.zeros(8, np.int16)
        with np.errstate(over="ignore"):
            make_softmax(game)[0](
                s, np.array(legal, np.int16), len(legal), tree.work["playout_weights"][0], scratch,
                out,
            )  # fmt: skip
        chosen = [a for a, p in zip(legal, out, strict=False) if p > 1e-9]
        assert set(chosen) == set(captures or legal)


def test_invalid_weights_are_refused(tmp_path: Any) -> None:
    game, file = make_game("breakthrough"), tmp_path / "w.safetensors"
    save_playout_weights(file, game, np.zeros(find_move_features(game).num_features))
    for spec, name, message in (
        ("mcts:playout=softmax", "breakthrough", "playout=softmax needs a file of weights"),
        (f"mcts:playout.weights={file}", "breakthrough", "playout.weights needs playout=softmax"),
        (
            f"mcts:playout=softmax,playout.weights={file}",
            "hex",
            "must be a softmax playout policy for hex, got a softmax playout policy for break",
        ),
        (f"mcts:playout=softmax,playout.weights={file}", "connect4", "policy for connect4, got"),
    ):
        with pytest.raises(ValueError, match=message):
            make_agent(spec, make_game(name))
    save_playout_weights(file, game, np.zeros(3))
    with pytest.raises(ValueError, match=r"must have the tensor weights of shape \(30,\)"):
        load_playout_weights(file, game)
    with pytest.raises(ValueError, match="connect4 has no features of moves; games with them are"):
        find_move_features(make_game("connect4"))
