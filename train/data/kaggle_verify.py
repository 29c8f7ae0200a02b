"""Verification of Kaggle's episodes of Hungry Geese against the rules, step by step."""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.games.hungry_geese import init, is_terminal, step
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.train.data.chance import INVALID, count_drawn, redraw, set_initial
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.kaggle import EpisodeRecord

# Result codes of an episode: valid, or its first error, which `_describe` explains.
VALID, INITIAL, OVER, NOT_OVER, GOOSE, FOOD = range(6)


def verify_episode(game: Game, record: EpisodeRecord, name: str) -> GameDataset:
    """Return the game of an episode, after comparing it with the rules.

    Args:
        game: the game.
        record: the episode.
        name: id of the game if the record has none.

    Raises:
        ValueError: if a goose, food or the ranking by rewards differs from the rules; the message
            names the state.
    """
    players = game.num_players
    states, result = game.empty(1), np.zeros(4, np.int64)
    cells = np.zeros(players + len(record.food), np.int16)
    make_verify()(
        states, record.actions, record.geese, record.lengths, record.food, record.food_counts,
        cells, result,
    )  # fmt: skip
    s = states.view(np.recarray)[0]
    code, t, p, count = result.tolist()
    if code != VALID:
        raise ValueError(_describe(record, s, code, t, p, count))
    rewards, scores = record.rewards, s.score.astype(np.int64)
    ranking = np.sign(rewards[:, None] - rewards)
    if ((ranking != np.sign(scores[:, None] - scores)) & ~np.isnan(ranking)).any():
        raise ValueError(
            f"the rewards {rewards.tolist()} rank the geese differently from the rules, by which "
            f"the scores are {scores.tolist()}"
        )
    returns = np.zeros(players)
    game.returns(s, returns)
    names = tuple(dict.fromkeys(record.names or ("",)))
    return GameDataset.create(
        game,
        record.actions,
        np.array([len(record.actions)]),
        returns[None],
        chance_outcomes=cells[:count].copy(),
        chance_lengths=np.array([count]),
        agents=np.array([[names.index(agent) for agent in record.names or [""] * players]]),
        ids=np.array([record.id or name]),
        agent_names=names,
    )


def _describe(record: EpisodeRecord, s: Any, code: int, t: int, p: int, count: int) -> str:
    """Return a description of the first error of an episode.

    Args:
        record: the episode.
        s: the state by the rules, up to the error.
        code: error code.
        t: number of the state with the error.
        p: the goose; for `FOOD`, the number of foods that were there before.
        count: for `FOOD`, the number of foods that appear in this state.
    """
    if code == INITIAL:
        return "state 0: geese of length 1 and food must lie on distinct cells"
    if code == OVER:
        return f"state {t}: the game had already ended"
    if code == NOT_OVER:
        return f"state {t} is the last, but the game is not over"
    if code == FOOD:
        ends = np.cumsum(record.food_counts)
        recorded = record.food[ends[t] - record.food_counts[t] : ends[t]].tolist()
        return (
            f"state {t}: food lies on {recorded}, by the rules on {s.food[:p].tolist()} "
            f"and on {count} more free cells"
        )
    end = int(record.lengths.ravel()[: t * record.lengths.shape[1] + p + 1].sum())
    recorded = record.geese[end - int(record.lengths[t, p]) : end].tolist()
    return f"state {t}: goose {p} lies on {recorded}, by the rules on {geese(s)[p]}"


@factory()
def make_verify() -> Any:
    """Return the kernel that compares an episode with the rules.

    The kernel is `verify(states, actions, geese, lengths, food, food_counts, cells, result)`. It
    plays the episode, see `EpisodeRecord`, in `states[0]` up to the first error, and writes the
    chance outcomes to `cells`, see `ludoteca.train.data.chance`. It writes four integers to
    `result`: the error code or `VALID`; the number of the state; the goose (`FOOD`: number of foods
    that were there before); and the number of chance outcomes (`FOOD`: of this state).
    """

    @compiled_without_allocation
    def verify(
        states: Any,
        actions: Any,
        geese: Any,
        lengths: Any,
        food: Any,
        food_counts: Any,
        cells: Any,
        result: Any,
    ) -> None:
        s = states[0]
        players, capacity = s.body.shape
        body, next_food = players, food_counts[0]  # first entries of the next state
        result[0] = INITIAL
        for p in range(players):
            if lengths[0, p] != 1:
                return
            cells[p] = geese[p]
        for i in range(food_counts[0]):
            cells[players + i] = food[i]
        init(s, 0)  # any seed: `set_initial` replaces what it samples
        # `at` is the number of chance outcomes so far.
        at = set_initial(s, cells, 0, players + food_counts[0])
        if at != players + food_counts[0]:
            return
        for t in range(1, len(lengths)):
            result[1] = t
            if is_terminal(s):
                result[0] = OVER
                return
            rng_state = s.rng[0]
            step(s, actions[t - 1])
            for p in range(players):
                same = s.length[p] == lengths[t, p]
                for k in range(lengths[t, p]):
                    same = same and s.body[p, (s.start[p] + k) % capacity] == geese[body + k]
                body += lengths[t, p]
                if not same:
                    result[0], result[2] = GOOSE, p
                    return
            drawn = count_drawn(s, rng_state)
            remaining = s.num_food - drawn
            same = s.num_food == food_counts[t]
            for i in range(min(remaining, food_counts[t])):
                same = same and s.food[i] == food[next_food + i]
            if same:
                for i in range(remaining, food_counts[t]):
                    cells[at + i - remaining] = food[next_food + i]
                end = at + food_counts[t] - remaining
                at = redraw(s, rng_state, cells, at, end)
                same = at != INVALID
            next_food += food_counts[t]
            if not same:
                result[0], result[2], result[3] = FOOD, remaining, drawn
                return
        result[0] = VALID if is_terminal(s) else NOT_OVER
        result[3] = at

    return verify
