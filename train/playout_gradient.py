"""Gradients of softmax playout policies: simulation balancing and maximum likelihood.

For a softmax policy with binary features phi, the gradient of log pi(s, a) by the weights is
psi(s, a) = phi(s, a) - sum over b of pi(s, b) phi(s, b). F is the number of features.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.agents.softmax_playouts import find_move_features, make_softmax
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel


def work_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record dtype of the kernels' scratch space."""
    features = find_move_features(game)
    return np.dtype(
        [
            ("probabilities", np.float64, (game.num_actions,)),
            (
                "score_sum",
                np.float64,
                (features.num_features,),
            ),  # sum of psi over the moves of a playout
            ("returns", np.float64, (game.num_players,)),
            ("legal", game.action_dtype, (game.num_actions,)),
            ("features", np.int16, (features.max_active,)),
        ],
        align=True,
    )


@factory()
def make_balance(game: Game) -> Any:
    """Return the kernel of simulation balancing.

    `balance(positions, targets, weights, rng, counts, scratch, work, gradient, values)` adds to
    `gradient`, float64 `[F]`, for each of K `positions` the product of two independent estimates:
    the difference of `targets`, float64 `[K]`, and the mean return of `counts[0]` playouts, and the
    gradient of the mean return by `counts[1]` other playouts. It writes the first mean returns to
    `values`, float64 `[K]`. Returns and targets are those of the player to move in the position.
    `scratch` is one position record, `[1]`, `work` a record of `work_dtype`, `[1]`.

    Silver and Tesauro, "Monte-Carlo simulation balancing" (ICML 2009), algorithm 1; as there, the
    policy plays both sides, and the gradient of a playout is divided by its number of moves.
    """
    is_terminal, returns, step = game.is_terminal, game.returns, game.step
    player: Any = game.player
    legal_actions, max_plies = game.legal_actions, game.max_plies
    write_probabilities, sample = make_softmax(game)
    add_score = score_kernel(game)

    @kernel
    def play_out(s: Any, weights: Any, rng: Any, traced: bool, work: Any) -> int:
        """Play to the end, write `work.returns`, and return the number of plies.

        If `traced`, add psi of every move to `work.score_sum`.
        """
        plies = 0
        while plies < max_plies and not is_terminal(s):
            n = legal_actions(s, work.legal)
            write_probabilities(s, work.legal, n, weights, work.features, work.probabilities)
            k = sample(work.probabilities, n, sample_uniform(rng))
            if traced:
                add_score(s, n, k, 1.0, work, work.score_sum)
            step(s, work.legal[k])
            plies += 1
        returns(s, work.returns)
        return plies

    @compiled_without_allocation
    def balance(
        positions: Any,
        targets: Any,
        weights: Any,
        rng: Any,
        counts: Any,
        scratch: Any,
        work_array: Any,
        gradient: Any,
        values: Any,
    ) -> None:
        work, s = work_array[0], scratch[0]
        for k in range(len(positions)):
            scratch[0] = positions[k]
            mover = player(s)
            values[k] = 0.0
            for _ in range(counts[0]):
                scratch[0] = positions[k]
                play_out(s, weights, rng, False, work)
                values[k] += work.returns[mover] / counts[0]
            for _ in range(counts[1]):
                scratch[0] = positions[k]
                work.score_sum[:] = 0.0
                plies = play_out(s, weights, rng, True, work)
                scale = (targets[k] - values[k]) * work.returns[mover] / (counts[1] * max(plies, 1))
                for i in range(len(gradient)):
                    gradient[i] += scale * work.score_sum[i]

    return balance


@factory()
def make_likelihood(game: Game) -> Any:
    """Return the kernel of maximum likelihood.

    `likelihood(positions, actions, weights, scratch, work, gradient) -> float` adds the gradient
    of the log-likelihood of an action in each of K `positions` to `gradient`, float64 `[F]`, and
    returns the log-likelihood. `actions` is int64 `[K]`, the others are those of `make_balance`.
    """
    legal_actions = game.legal_actions
    write_probabilities, _ = make_softmax(game)
    add_score = score_kernel(game)

    @compiled_without_allocation
    def likelihood(
        positions: Any, actions: Any, weights: Any, scratch: Any, work_array: Any, gradient: Any
    ) -> float:
        work, s, total = work_array[0], scratch[0], 0.0
        for k in range(len(positions)):
            scratch[0] = positions[k]
            n = legal_actions(s, work.legal)
            write_probabilities(s, work.legal, n, weights, work.features, work.probabilities)
            for i in range(n):
                if work.legal[i] == actions[k]:
                    add_score(s, n, i, 1.0, work, gradient)
                    total += np.log(work.probabilities[i])
        return total

    return likelihood


@factory()
def score_kernel(game: Game) -> Any:
    """Return the kernel `add_score(s, n, k, scale, work, out)`.

    It adds `scale * psi(s, a)` to `out` for the action `a = work.legal[k]` of the legal actions
    `work.legal[:n]`, whose probabilities are in `work.probabilities`.
    """
    write_features = find_move_features(game).write

    @kernel
    def add_score(s: Any, n: int, k: int, scale: float, work: Any, out: Any) -> None:
        for i in range(n):
            factor = scale * ((1.0 if i == k else 0.0) - work.probabilities[i])
            for j in range(write_features(s, work.legal[i], work.features)):
                out[work.features[j]] += factor

    return add_score


class GradientEstimator:
    """Gradients of a game's softmax playout policy over positions, for both training methods."""

    def __init__(self, game: Game, seed: int):
        """Make the estimator; `seed` is that of the playouts."""
        self.game = game
        self.num_features = find_move_features(game).num_features
        self._scratch, self._work = game.empty(1), np.zeros(1, work_dtype(game))
        self._rng = np.array([seed], np.uint64)

    def balance(
        self,
        positions: NDArray[np.void],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
        playouts: tuple[int, int],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean gradient of simulation balancing and the mean return of each position.

        Args:
            positions: positions. Shape `[K]`.
            targets: their values, in [-1, 1], for the player to move. Shape `[K]`.
            weights: weights of the policy. Shape `[F]`.
            playouts: numbers of playouts for the mean returns, and for their gradient.
        """
        gradient, values = np.zeros(self.num_features), np.zeros(len(positions))
        counts = np.array(playouts, np.int64)
        make_balance(self.game)(
            positions, targets, weights, self._rng, counts, self._scratch, self._work, gradient,
            values,
        )  # fmt: skip
        return gradient / len(positions), values

    def likelihood(
        self,
        positions: NDArray[np.void],
        actions: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], float]:
        """Return the gradient of the mean log-likelihood of actions, and that mean.

        Args:
            positions: positions. Shape `[K]`.
            actions: one legal action in each. Shape `[K]`.
            weights: weights of the policy. Shape `[F]`.
        """
        gradient = np.zeros(self.num_features)
        total = make_likelihood(self.game)(
            positions, actions, weights, self._scratch, self._work, gradient
        )
        return gradient / len(positions), total / len(positions)
