"""From finished games to transitions: what each move led to, some steps later."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled, factory
from ludoteca.train.dqn.config import DQNConfig
from ludoteca.train.dqn.rollout import DQNRollout
from ludoteca.train.outcome_reward import loss_weight


def transitions(round_: DQNRollout, config: DQNConfig, dtype: np.dtype[Any], plies: int) -> Any:
    """Return what is to be learned from a round, as records for the replay buffer.

    Args:
        round_: finished games.
        config: tells which moves, which target, how many steps and which rewards.
        dtype: of the records.
        plies: of the longest possible game.
    """
    learned = np.arange(round_.actions.shape[1]) < round_.lengths[:, None]
    if config.experience == "simple":
        seats = round_.seats[:, None]
        learned &= (seats < 0) | (round_.movers == seats)
    # Of each transition: its game, the ply of the move, the ply of what follows or -1.
    found = np.zeros((int(learned.sum()), 3), np.int64)
    numbers = np.zeros((len(found), 2), np.float32)  # reward, discount
    make_link()(
        round_.lengths,
        round_.movers,
        round_.explored,
        rewards(round_, config, plies),
        learned,
        (config.td_target == "negamax", config.n_step, config.gamma),
        found,
        numbers,
    )
    game, move, after = found.T
    records = np.zeros(len(found), dtype)
    records["planes"] = round_.planes[game, move]
    records["action"] = round_.actions[game, move]
    records["reward"], records["discount"] = numbers.T
    going = after >= 0
    records["next_planes"][going] = round_.planes[game[going], after[going]]
    records["next_mask"][going] = round_.masks[game[going], after[going]]
    return records


def rewards(round_: DQNRollout, config: DQNConfig, plies: int) -> NDArray[np.float32]:
    """Return what the end of each game is worth to both players. Shape `[B, 2]`."""
    loss = np.full(len(round_.lengths), config.loss_reward)
    if config.loss_reward_by_length:
        loss = loss * loss_weight(round_.lengths, plies)
    gained = np.where(round_.returns > 0, config.win_reward, 0.0)
    paid: NDArray[np.float32] = np.where(round_.returns < 0, loss[:, None], gained)
    return paid.astype(np.float32)


@factory()
def make_link() -> Any:
    """Return `link(lengths, movers, explored, rewards, learned, rule, found, numbers)`.

    It goes from each learned move `n_step` steps ahead, or to the end, or to where a random move
    was made, and writes where that is, what was gained until there and what the value there is
    multiplied with. `rule` is `(negamax, n_step, gamma)`.
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
