"""Training of softmax playout policies, for `mcts:playout=softmax,playout.weights=FILE`.

`python -m ludoteca.train.playout_policy GAME` generates positions by self-play of tree search with
uniform playouts, and values and moves of these positions by deeper searches. Then it trains the
weights of the features of moves by one or both of two methods:

    balancing    simulation balancing: the mean return of playouts from a position approaches its
                 value (Silver and Tesauro, "Monte-Carlo simulation balancing", ICML 2009; in
                 practice: Huang, Coulom and Lin, "Monte-Carlo simulation balancing in practice",
                 2010)
    likelihood   maximum likelihood of the moves of the searches

`ludoteca tune GAME --tune playout.weights --optimizer simulation_balancing` runs this command and
plays matches with the weights.
"""

import json
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.playout_weights import save_playout_weights
from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.report import OUTCOME_SCORES
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.files import write_atomically
from ludoteca.progress import progress_bar
from ludoteca.provenance import run_provenance
from ludoteca.train.command import run_command
from ludoteca.train.playout_gradient import GradientEstimator

NAME = "ludoteca.train.playout_policy"
DESCRIPTION = (
    "Train the weights of softmax playouts, for mcts:playout=softmax,playout.weights=FILE, by "
    "simulation balancing (Silver and Tesauro 2009) or maximum likelihood. ludoteca tune runs this "
    "command and plays matches with the weights; see docs/tuning.md."
)
METHODS = ("balancing", "likelihood")
SEARCH_POLICY = "ucb_alpha2"  # of self-play and of the searches that evaluate positions
BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam


@dataclass(frozen=True)
class PlayoutPolicyConfig:
    """Settings of the training of a softmax playout policy."""

    game: tyro.conf.Positional[str]
    """Game, as a spec string; it needs features of moves."""
    run_dir: Path = Path("runs/playout_policy")
    """Folder of the weights, `METHOD.safetensors`, and of settings and errors, `results.json`."""
    methods: tuple[Literal["balancing", "likelihood"], ...] = ("balancing",)
    """Simulation balancing, maximum likelihood of the searches' moves, or both."""
    seed: int = 0
    """Seed of self-play, searches and playouts."""

    positions: int = 300
    """Training positions."""
    test_positions: int = 100
    """Further positions, by which the errors are measured."""
    random_plies: int = 4
    """Random plies at the start of each game of self-play."""
    self_play_simulations: int = 50
    """Simulations per move of self-play."""
    search_simulations: int = 1500
    """Simulations of the search that evaluates a position."""

    epochs: int = 10
    """Passes over the training positions."""
    batch_size: int = 16
    """Positions per step of the optimizer (Adam)."""
    learning_rate: float = 0.05
    """Learning rate at the start; it decays linearly to 0."""
    value_playouts: int = 32
    """Balancing: playouts for the mean return of a position, in each step."""
    gradient_playouts: int = 32
    """Balancing: playouts for its gradient."""
    test_playouts: int = 200
    """Playouts for the mean return of a test position."""

    def __post_init__(self) -> None:
        for method in self.methods:
            check_choice("methods", method, METHODS)
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"methods must be different, and at least one, got {self.methods}")
        check_integer("seed", self.seed, 0, 2**63 - 1)
        check_integer("random_plies", self.random_plies, 0, 10**6)
        for name in (
            "positions", "test_positions", "self_play_simulations", "search_simulations", "epochs",
            "batch_size", "value_playouts", "gradient_playouts", "test_playouts",
        ):  # fmt: skip
            check_integer(name, getattr(self, name), 1, 10**9)
        check_real("learning_rate", self.learning_rate, 0, 10)


class EvaluatedPositions(NamedTuple):
    """Positions with results of searches.

    Attributes:
        positions: records of the positions. Shape `[K]`.
        values: mean return of the chosen move, or the proven one, for the player to move. Shape
            `[K]`.
        actions: the moves that the searches chose. Shape `[K]`.
    """

    positions: NDArray[np.void]
    values: NDArray[np.float64]
    actions: NDArray[np.int64]

    def split(self, count: int) -> tuple["EvaluatedPositions", "EvaluatedPositions"]:
        """Return the first `count` positions, and the others."""
        first = self.positions[:count], self.values[:count], self.actions[:count]
        rest = self.positions[count:], self.values[count:], self.actions[count:]
        return EvaluatedPositions(*first), EvaluatedPositions(*rest)


def train_playout_policy(config: PlayoutPolicyConfig) -> dict[str, Any]:
    """Train softmax playout policies; write their weights and the results, and return the results.

    Raises:
        ValueError: if the game has no features of moves, or not two players who take turns.
    """
    game = make_game(config.game)
    if game.simultaneous or game.num_players != 2:
        raise ValueError(f"expected a sequential game for two players, got {game.spec}")
    estimator, rng = GradientEstimator(game, config.seed), np.random.default_rng(config.seed)
    count = config.positions + config.test_positions
    data = evaluate_positions(game, sample_positions(game, config, rng, count), config)
    training, test = data.split(config.positions)
    weights = {"uniform": np.zeros(estimator.num_features)}
    for method in config.methods:
        weights[method] = optimize(estimator, training, method, config, rng)
        save_playout_weights(config.run_dir / f"{method}.safetensors", game, weights[method])
    content: dict[str, Any] = {"settings": {**asdict(config), "run_dir": config.run_dir.name}}
    content["test"] = {
        name: measure_errors(estimator, test, each, config) for name, each in weights.items()
    }
    content["weights"] = {name: each.tolist() for name, each in weights.items()}
    content |= run_provenance("torch", "safetensors")
    write_atomically(config.run_dir / "results.json", json.dumps(content, indent=1) + "\n")
    return content


def sample_positions(
    game: Game, config: PlayoutPolicyConfig, rng: np.random.Generator, count: int
) -> NDArray[np.void]:
    """Return positions, one of each of `count` games of self-play, at a random ply.

    Games that end in their random plies are replaced by positions of the others.

    Raises:
        ValueError: if all games end in their random plies.
    """
    agent = MCTSAgent(game, SEARCH_POLICY, config.self_play_simulations, solver=True)
    states = game.empty(count)
    records = view_records(states)  # the same memory, as kernels need it
    for k in range(count):
        states[k] = game.new(int(rng.integers(2**31)))
    positions, seen = game.empty(count), np.zeros(count, np.int64)
    streams = rng.integers(2**63, size=(count, 1)).astype(np.uint64)
    for ply in range(game.max_plies):
        running = np.array([k for k in range(count) if not game.is_terminal(records[k])], np.int64)
        if len(running) == 0:
            break
        for k in running if ply >= config.random_plies else ():
            seen[k] += 1
            if rng.integers(seen[k]) == 0:  # reservoir sampling
                positions[k] = states[k]
        if ply < config.random_plies:
            actions = np.array([rng.choice(game.legal(records[k])) for k in running], np.int64)
        else:
            players = np.array([game.player(records[k]) for k in running], np.int64)  # type: ignore[misc]
            own = streams[running]
            actions = agent.act(states[running], players, own, running)
            streams[running] = own
        for k, action in zip(running, actions, strict=True):
            game.step(records[k], int(action))
    if not seen.any():
        raise ValueError(f"all games of {game.spec} end within random_plies={config.random_plies}")
    empty = np.flatnonzero(seen == 0)
    positions[empty] = positions[rng.choice(np.flatnonzero(seen), len(empty))]
    return positions


def evaluate_positions(
    game: Game, positions: NDArray[np.void], config: PlayoutPolicyConfig
) -> EvaluatedPositions:
    """Return the positions with the values and moves of searches."""
    agent = MCTSAgent(game, SEARCH_POLICY, config.search_simulations, solver=True)
    values, actions = np.zeros(len(positions)), np.zeros(len(positions), np.int64)
    rng = np.array([config.seed], np.uint64)
    with progress_bar(len(positions), sys.stderr.isatty(), "positions") as advance:
        for k in range(len(positions)):
            report = agent.search(positions[k], rng)
            best = next(each for each in report.candidates if each.action == report.action)
            score = OUTCOME_SCORES[report.proven] if report.proven else best.mean
            values[k], actions[k] = 2 * score - 1, report.action
            advance(1)
    return EvaluatedPositions(positions, values, actions)


def optimize(
    estimator: GradientEstimator,
    data: EvaluatedPositions,
    method: str,
    config: PlayoutPolicyConfig,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the weights after stochastic gradient ascent by Adam, from weights 0."""
    weights = np.zeros(estimator.num_features)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    playouts = config.value_playouts, config.gradient_playouts
    batches = -(-len(data.positions) // config.batch_size)
    steps = config.epochs * batches
    for step in range(steps):
        if step % batches == 0:
            order = rng.permutation(len(data.positions))
        batch = order[step % batches :: batches]
        positions = data.positions[batch]
        if method == "balancing":
            gradient = estimator.balance(positions, data.values[batch], weights, playouts)[0]
        else:
            gradient = estimator.likelihood(positions, data.actions[batch], weights)[0]
        first = BETAS[0] * first + (1 - BETAS[0]) * gradient
        second = BETAS[1] * second + (1 - BETAS[1]) * gradient**2
        mean = first / (1 - BETAS[0] ** (step + 1))
        deviation = np.sqrt(second / (1 - BETAS[1] ** (step + 1))) + EPSILON
        weights += config.learning_rate * (1 - step / steps) * mean / deviation
    return weights


def measure_errors(
    estimator: GradientEstimator,
    data: EvaluatedPositions,
    weights: NDArray[np.float64],
    config: PlayoutPolicyConfig,
) -> dict[str, float]:
    """Return the mean squared error of mean returns, and the mean log-likelihood of the moves."""
    playouts = config.test_playouts, 0
    values = estimator.balance(data.positions, data.values, weights, playouts)[1]
    log_likelihood = estimator.likelihood(data.positions, data.actions, weights)[1]
    return {
        "squared_error": float(np.mean((values - data.values) ** 2)),
        "log_likelihood": log_likelihood,
    }


def main(config: PlayoutPolicyConfig) -> None:
    """Train softmax playout policies and print their errors."""
    for name, errors in train_playout_policy(config)["test"].items():
        print(
            f"{name}: squared error {errors['squared_error']:.4f}, "
            f"log-likelihood {errors['log_likelihood']:.4f}"
        )
    for method in config.methods:
        print(f"weights: {config.run_dir / method}.safetensors")


if __name__ == "__main__":
    parse = partial(
        tyro.cli, PlayoutPolicyConfig, prog=f"python -m {NAME}", description=DESCRIPTION
    )
    run_command(NAME, lambda: main(parse()))
