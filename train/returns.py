"""Returns of finished games: n-step returns, generalized advantage estimates, final rewards."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.jit import compiled, compiled_without_allocation, factory


class NStepReturns(NamedTuple):
    """N-step returns of N moves.

    Attributes:
        games: game of each move. Shape `[N]`.
        plies: ply of each move. Shape `[N]`.
        bootstraps: ply of the bootstrap state, or -1 if the game ends before. Shape `[N]`.
        rewards: discounted reward before the bootstrap state: 0 unless the game ends. Shape `[N]`.
        discounts: discount of the bootstrap state's value: 0 if the game ends before, negative if
            the opponent is to move. Shape `[N]`.
    """

    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    bootstraps: NDArray[np.int64]
    rewards: NDArray[np.float32]
    discounts: NDArray[np.float32]


def n_step_returns(
    lengths: NDArray[np.int64],
    movers: NDArray[np.int8],
    explored: NDArray[np.bool_],
    rewards: NDArray[np.float32],
    learned: NDArray[np.bool_],
    negamax: bool,
    n_step: int,
    gamma: float,
) -> NStepReturns:
    """Compute the n-step returns of moves in B games of at most T plies.

    Sutton and Barto, "Reinforcement learning" (2018), section 7.1; cut short before exploratory
    moves as in Watkins' Q(lambda), section 12.10.

    Args:
        lengths: plies of each game. Shape `[B]`.
        movers: player to move. Shape `[B, T]`.
        explored: whether the move was exploratory. Shape `[B, T]`.
        rewards: final rewards of both players. Shape `[B, 2]`.
        learned: moves to learn from. Shape `[B, T]`.
        negamax: whether a step leads to the next position; else, to the player's next turn.
        n_step: number of steps.
        gamma: discount factor per step.
    """
    indices = np.zeros((int(learned.sum()), 3), np.int64)
    numbers = np.zeros((len(indices), 2), np.float32)
    make_fill()(
        lengths, movers, explored, rewards, learned, (negamax, n_step, gamma), indices, numbers
    )
    return NStepReturns(*indices.T, *numbers.T)


@factory()
def make_fill() -> Any:
    """Return `fill(lengths, movers, explored, rewards, learned, settings, indices, numbers)`.

    For each move to learn from it finds the bootstrap state: `n_step` steps later, or earlier,
    before the next exploratory move. It writes game, ply and the ply of that state (or -1) to
    `indices`, int64 `[N, 3]`, reward and discount to `numbers`, float32 `[N, 2]`. `settings` is
    `(negamax, n_step, gamma)`. The other arguments are those of `n_step_returns`.
    """

    @compiled
    def fill(
        lengths: Any,
        movers: Any,
        explored: Any,
        rewards: Any,
        learned: Any,
        settings: Any,
        indices: Any,
        numbers: Any,
    ) -> None:
        negamax, n_step, gamma = settings
        count = 0
        for game in range(len(lengths)):
            for ply in range(lengths[game]):
                if not learned[game, ply]:
                    continue
                mover = movers[game, ply]
                end, steps, factor = ply, 0, 1.0
                while True:
                    end += 1
                    while not negamax and end < lengths[game] and movers[game, end] != mover:
                        end += 1
                    steps += 1
                    if end >= lengths[game]:
                        end = -1
                        numbers[count, 0] = factor * rewards[game, mover]
                        numbers[count, 1] = 0
                        break
                    factor *= gamma
                    if steps == n_step or explored[game, end]:
                        numbers[count, 0] = 0
                        same_player = movers[game, end] == mover
                        numbers[count, 1] = factor if same_player else -factor
                        break
                indices[count, 0], indices[count, 1], indices[count, 2] = game, ply, end
                count += 1

    return fill


def advantages(
    games: NDArray[np.int32],
    players: NDArray[np.int8],
    values: NDArray[np.float32],
    returns: NDArray[np.float32],
    gamma: float,
    gae_lambda: float,
) -> NDArray[np.float32]:
    """Compute generalized advantage estimates (GAE) of N decisions. Shape `[N]`.

    Schulman et al., "High-dimensional continuous control using generalized advantage estimation"
    (2016), equation 16. Each player's only reward is its return of the game, at its last decision.

    Args:
        games: game of each decision, in order of play. Shape `[N]`.
        players: player of each decision. Shape `[N]`.
        values: value estimates for that player. Shape `[N]`.
        returns: returns of all players. Shape `[B, P]`.
        gamma: discount factor per decision.
        gae_lambda: lambda; 1: return minus value.
    """
    out = np.zeros(len(values), np.float32)
    next_decision = np.zeros((2, *returns.shape), np.float32)
    has_next = np.zeros(returns.shape, np.bool_)
    make_gae()(games, players, values, returns, gamma, gae_lambda, next_decision, has_next, out)
    return out


@factory()
def make_gae() -> Any:
    """Return `gae`, which fills `out` with the advantages.

    It visits the decisions from the last to the first. `next_decision` `[2, B, P]` holds the value
    and advantage of each player's next decision, if there is one (`has_next`, `[B, P]`). The other
    arguments are those of `advantages`.
    """

    @compiled_without_allocation
    def gae(
        games: Any,
        players: Any,
        values: Any,
        returns: Any,
        gamma: float,
        gae_lambda: float,
        next_decision: Any,
        has_next: Any,
        out: Any,
    ) -> None:
        for i in range(len(values) - 1, -1, -1):
            b, p = games[i], players[i]
            if has_next[b, p]:
                bootstrap = gamma * (next_decision[0, b, p] + gae_lambda * next_decision[1, b, p])
                out[i] = bootstrap - values[i]
            else:
                out[i] = returns[b, p] - values[i]
            has_next[b, p] = True
            next_decision[0, b, p] = values[i]
            next_decision[1, b, p] = out[i]

    return gae


def final_rewards(
    returns: NDArray[np.float32],
    lengths: NDArray[np.int64],
    win_reward: float,
    loss_reward: float,
    max_plies: int | None,
) -> NDArray[np.float32]:
    """Return the final rewards of both players in B games; a draw has reward 0. Shape `[B, 2]`.

    Args:
        returns: returns of both players. Shape `[B, 2]`.
        lengths: plies of each game. Shape `[B]`.
        win_reward: reward of a win.
        loss_reward: reward of a loss.
        max_plies: plies of the longest possible game, to multiply rewards of losses by
            `loss_weight`; None: losses of all lengths have the same reward.
    """
    loss = np.full(len(lengths), loss_reward)
    if max_plies is not None:
        loss = loss * loss_weight(lengths, max_plies)
    win_or_draw = np.where(returns > 0, win_reward, 0.0)
    final: NDArray[np.float32] = np.where(returns < 0, loss[:, None], win_or_draw)
    return final.astype(np.float32)


def loss_weight(plies: ArrayLike, max_plies: int) -> NDArray[np.float64]:
    """Return `1 - plies / (max_plies + 1)`: less for later losses, and never 0.

    Args:
        plies: plies of the game.
        max_plies: plies of the longest possible game.
    """
    return 1 - np.asarray(plies, np.float64) / (max_plies + 1)
