"""N-step transitions from finished games."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled, factory
from ludoteca.train.dqn.config import DQNConfig
from ludoteca.train.dqn.rollout import DQNRollout
from ludoteca.train.outcome_reward import loss_weight


def transitions(rollout: DQNRollout, config: DQNConfig, dtype: np.dtype[Any], plies: int) -> Any:
    """Return the n-step transitions of a rollout, as records of the replay buffer.

    Args:
        rollout: finished games.
        config: settings of experience, TD target, n-step return and rewards.
        dtype: dtype of the records.
        plies: plies of the longest possible game.
    """
    learned = np.arange(rollout.actions.shape[1]) < rollout.lengths[:, None]
    if config.experience == "simple":
        seats = rollout.seats[:, None]
        learned &= (seats < 0) | (rollout.movers == seats)
    # Of each transition: game, ply of the move, ply of the bootstrap state or -1.
    found = np.zeros((int(learned.sum()), 3), np.int64)
    numbers = np.zeros((len(found), 2), np.float32)  # reward, discount
    make_link()(
        rollout.lengths,
        rollout.movers,
        rollout.explored,
        rewards(rollout, config, plies),
        learned,
        (config.td_target == "negamax", config.n_step, config.gamma),
        found,
        numbers,
    )
    game, move, after = found.T
    records = np.zeros(len(found), dtype)
    records["planes"] = rollout.planes[game, move]
    records["action"] = rollout.actions[game, move]
    records["reward"], records["discount"] = numbers.T
    going = after >= 0
    records["next_planes"][going] = rollout.planes[game[going], after[going]]
    records["next_mask"][going] = rollout.masks[game[going], after[going]]
    return records


def rewards(rollout: DQNRollout, config: DQNConfig, plies: int) -> NDArray[np.float32]:
    """Return the final rewards of both players. Shape `[B, 2]`."""
    loss = np.full(len(rollout.lengths), config.loss_reward)
    if config.loss_reward_by_length:
        loss = loss * loss_weight(rollout.lengths, plies)
    gained = np.where(rollout.returns > 0, config.win_reward, 0.0)
    paid: NDArray[np.float32] = np.where(rollout.returns < 0, loss[:, None], gained)
    return paid.astype(np.float32)


@factory()
def make_link() -> Any:
    """Return `link(lengths, movers, explored, rewards, learned, rule, found, numbers)`.

    For each learned move it finds the bootstrap state: `n_step` steps later, the end of the game,
    or the next random move. It writes the ply of that state, the discounted reward until there, and
    the discount of its value. `rule` is `(negamax, n_step, gamma)`.
    """

    @compiled
    def link(
        lengths: Any,
        movers: Any,
        explored: Any,
        rewards: Any,
        learned: Any,
        rule: Any,
        found: Any,
        numbers: Any,
    ) -> None:
        negamax, n_step, gamma = rule
        count = 0
        for game in range(len(lengths)):
            for move in range(lengths[game]):
                if not learned[game, move]:
                    continue
                mover = movers[game, move]
                after, steps, factor = move, 0, 1.0
                while True:
                    after += 1
                    while not negamax and after < lengths[game] and movers[game, after] != mover:
                        after += 1
                    steps += 1
                    if after >= lengths[game]:
                        after = -1
                        numbers[count, 0] = factor * rewards[game, mover]
                        numbers[count, 1] = 0
                        break
                    factor *= gamma
                    if steps == n_step or explored[game, after]:
                        numbers[count, 0] = 0
                        same = movers[game, after] == mover
                        numbers[count, 1] = factor if same else -factor
                        break
                found[count, 0], found[count, 1], found[count, 2] = game, move, after
                count += 1

    return link
