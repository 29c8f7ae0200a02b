"""Playouts in which a value network chooses the moves of both players, for a batch of leaves.

Sancho Cebrero and Fernández Limárquez, a report on Othello (University of Seville, 2019), section
III-C: the network "will replace the random choice of moves" of the playouts. The network evaluates
the position after each legal move (a successor), and the player to move plays the best move, or one
sampled from the softmax of the values. In each ply the successors of all unfinished playouts are
evaluated together.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.agents.search.network.search import Evaluate, NetworkGuidedSearch, PositionEncoder
from ludoteca.agents.search.network.selection import NetworkSearchConfig
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below, next_u64

# A legal move in a playout.
MOVE = np.dtype(
    [
        ("value", np.float64),  # value of the successor for player 0, in [-1, 1]
        ("parent", np.int64),  # index of the playout in which the move is legal
        ("mover", np.int64),  # player who makes the move
        ("next_mover", np.int64),  # player to move in the successor, if the game is not over
        ("over", np.bool_),  # whether the game is over in the successor
    ],
    align=True,
)


class ValuePlayouts:
    """Playouts whose moves are chosen by the values of the positions after them."""

    def __init__(self, encoder: PositionEncoder, temperature: float):
        """Make the playouts.

        Args:
            encoder: encoder of the network's observations.
            temperature: temperature of the softmax over the values, which are in [-1, 1]; 0: the
                best move, with ties broken at random.
        """
        self._encoder, self._temperature = encoder, temperature
        game = encoder.game
        self._compiled = make_value_playouts(game)
        self._work = np.zeros(  # scratch space: returns by player, and legal actions
            1,
            np.dtype(
                [
                    ("scores", np.float64, (game.num_players,)),
                    ("legal", game.action_dtype, (game.num_actions,)),
                ],
                align=True,
            ),
        )
        self._successors, self._moves = np.zeros(0, game.state), np.zeros(0, MOVE)

    def __call__(
        self, states: NDArray[np.void], streams: NDArray[np.uint64], evaluate: Evaluate
    ) -> NDArray[np.float32]:
        """Play positions out; return the results for player 0. Shape `[K]`.

        Args:
            states: the positions; in the end they are the terminal positions of their playouts.
                Shape `[K]`.
            streams: one random stream per position, advanced in place. Shape `[K, 1]`.
            evaluate: the network; only its values are used.
        """
        max_moves = len(states) * self._encoder.game.num_actions
        if len(self._moves) < max_moves:
            self._successors = np.zeros(max_moves, self._successors.dtype)
            self._moves = np.zeros(max_moves, MOVE)
        successors, moves = self._successors, self._moves
        while count := self._compiled.write_successors(states, self._work, successors, moves):
            unfinished = np.flatnonzero(~moves["over"][:count])
            if len(unfinished) > 0:
                movers = moves["next_mover"][unfinished]
                planes, _ = self._encoder.encode(successors[unfinished], movers)
                values = evaluate(planes)[1]
                moves["value"][unfinished] = np.where(movers == 0, values, -values)
            self._compiled.advance(states, successors, moves[:count], streams, self._temperature)
        results = np.zeros(len(states), np.float32)
        self._compiled.write_results(states, self._work, results)
        return results


class PlayoutSearch(NetworkGuidedSearch):
    """Network-guided search whose leaves are evaluated by playouts of a value network."""

    def __init__(
        self,
        encoder: PositionEncoder,
        count: int,
        simulations: int,
        config: NetworkSearchConfig,
        leaf_batch: int,
        temperature: float,
    ):
        """Allocate the workspace; see `NetworkGuidedSearch` and `ValuePlayouts`."""
        super().__init__(encoder, count, simulations, config, leaf_batch=leaf_batch)
        self._playouts = ValuePlayouts(encoder, temperature)

    def _evaluate_seats(
        self, states: NDArray[np.void], seats: NDArray[np.int64], evaluate: Evaluate
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return uniform priors, and the result of one playout from each position.

        Args:
            states: positions of the pending leaves of all searches, in the order of the searches.
                Shape `[K]`.
            seats: player to move in each position. Shape `[K]`.
            evaluate: the network; only its values are used.

        Returns:
            Priors `[K, A]`, and results in [-1, 1] for the player to move, `[K]`.
        """
        priors = np.empty((len(states), self.game.num_actions), np.float32)
        self._compiled.write_priors(states, np.zeros_like(priors), self.trees.work, priors)
        # The search of each of the `states`: these are the leaves of the pending simulations.
        searches = self.trees.simulations["pending"].nonzero()[0]
        # A playout has a random stream of its own, seeded from that of its search, so that results
        # do not depend on the other searches of the batch.
        streams = np.zeros((len(states), 1), np.uint64)
        make_value_playouts(self.game).seed(self.trees.streams, searches, streams)
        results = self._playouts(states.copy(), streams, evaluate)
        return priors, np.where(seats == 0, results, -results)


class CompiledPlayouts(NamedTuple):
    """Compiled functions over playouts.

    Attributes:
        seed: `seed(streams, searches, out)` seeds the random streams of K playouts, `out` uint64
            `[K, 1]`, from the `streams` `[B, 1]` of their searches, whose indices are `searches`,
            int64 `[K]`.
        write_successors: `write_successors(states, work, successors, moves) -> count` writes the
            legal moves of all unfinished `states`, records of `MOVE`, and their successors; it
            returns the number of moves. The moves of a playout follow one another. Only moves that
            end the game get their `value`.
        advance: `advance(states, successors, moves, streams, temperature)` replaces each unfinished
            position by one of its successors, chosen by the values of the moves. `moves` must be in
            the order of `write_successors`.
        write_results: `write_results(states, work, results)` writes player 0's returns, float32
            `[K]`.
    """

    seed: Any
    write_successors: Any
    advance: Any
    write_results: Any


@factory("search")
def make_value_playouts(game: Game) -> CompiledPlayouts:
    """Return the compiled functions for a sequential game of two players."""
    step, is_terminal, returns = game.step, game.is_terminal, game.returns
    legal_actions: Any = game.legal_actions
    player: Any = game.player

    @compiled_without_allocation
    def seed(streams: Any, searches: Any, out: Any) -> None:
        for k in range(len(searches)):
            out[k, 0] = next_u64(streams[searches[k]])

    @compiled_without_allocation
    def write_successors(states: Any, work: Any, successors: Any, moves: Any) -> int:
        count, legal, scores = 0, work[0].legal, work[0].scores
        for k in range(len(states)):
            if is_terminal(states[k]):
                continue
            mover = player(states[k])
            for i in range(legal_actions(states[k], legal)):
                s, move = successors[count], moves[count]
                successors[count] = states[k]
                step(s, legal[i])
                move.parent, move.mover = k, mover
                move.over = is_terminal(s)
                if move.over:
                    returns(s, scores)
                    move.value = scores[0]
                else:
                    move.next_mover = player(s)
                count += 1
        return count

    @compiled_without_allocation
    def advance(states: Any, successors: Any, moves: Any, streams: Any, temperature: float) -> None:
        first = 0
        while first < len(moves):
            parent, end = moves[first].parent, first
            while end < len(moves) and moves[end].parent == parent:
                end += 1
            stream = streams[parent]
            if temperature > 0:
                chosen = sample_move(moves, first, end, temperature, stream)
            else:
                chosen = best_move(moves, first, end, stream)
            states[parent] = successors[chosen]
            first = end

    @compiled_without_allocation
    def write_results(states: Any, work: Any, results: Any) -> None:
        for k in range(len(states)):
            returns(states[k], work[0].scores)
            results[k] = work[0].scores[0]

    return CompiledPlayouts(seed, write_successors, advance, write_results)


@kernel
def best_move(moves: Any, first: int, end: int, stream: Any) -> int:
    """Return the index of the best of `moves[first:end]` (`MOVE`), with ties broken at random."""
    chosen, best, ties = first, -np.inf, 0
    for k in range(first, end):
        value = value_of(moves[k])
        if value > best:
            chosen, best, ties = k, value, 1
        elif value == best:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


@kernel
def sample_move(moves: Any, first: int, end: int, temperature: float, stream: Any) -> int:
    """Return the index of one of `moves[first:end]`, sampled from the softmax of their values."""
    best, total = -np.inf, 0.0
    for k in range(first, end):
        best = max(best, value_of(moves[k]))
    for k in range(first, end):
        total += math.exp((value_of(moves[k]) - best) / temperature)
    remaining = sample_uniform(stream) * total
    for k in range(first, end):
        remaining -= math.exp((value_of(moves[k]) - best) / temperature)
        if remaining <= 0:
            return k
    return end - 1  # rounding left a remainder


@kernel
def value_of(move: Any) -> float:
    """Return the value of a move for the player who makes it."""
    return float(move.value if move.mover == 0 else -move.value)
