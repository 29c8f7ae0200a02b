"""Comparing recorded games of Hungry Geese with the rules, step by step."""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.games.hungry_geese import geese, init, is_terminal, step
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.train.data.chance import NOT_SO, begin, count_drawn, redraw
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.kaggle import EpisodeRecord

GOOD, START, OVER, GOES_ON, GOOSE, FOOD = range(6)


def verify(game: Game, record: EpisodeRecord, name: str) -> GameDataset:
    """Return the game that a record tells of, after playing it by the rules.

    Args:
        game: what was played.
        record: what the file says.
        name: what the game is called if the file does not tell.

    Raises:
        ValueError: if geese or food are anywhere else than the rules say, or the rewards rank the
            geese otherwise; the message names the state.
    """
    players = game.num_players
    states, found = game.empty(1), np.zeros(4, np.int64)
    cells = np.zeros(players + len(record.food), np.int16)
    make_follow()(
        states, record.actions, record.geese, record.lengths, record.food, record.food_counts,
        cells, found,
    )  # fmt: skip
    s = states.view(np.recarray)[0]
    what, t, p, count = found.tolist()
    if what != GOOD:
        raise ValueError(_complaint(record, s, what, t, p, count))
    rewards, scores = record.rewards, s.score.astype(np.int64)
    told = np.sign(rewards[:, None] - rewards)
    if ((told != np.sign(scores[:, None] - scores)) & ~np.isnan(told)).any():
        raise ValueError(
            f"its rewards {rewards.tolist()} rank the geese otherwise than the rules, "
            f"by which they score {scores.tolist()}"
        )
    returns = np.zeros(players)
    game.returns(s, returns)
    names = tuple(dict.fromkeys(record.names or ("",)))
    return GameDataset(
        game,
        record.actions,
        np.array([len(record.actions)], np.int32),
        np.zeros(1, np.uint64),
        cells[:count].copy(),
        np.array([count], np.int32),
        returns.astype(np.float32)[None],
        names,
        np.array([[names.index(one) for one in record.names or [""] * players]], np.int32),
        np.full((1, players), np.nan, np.float32),
        np.ones((1, players), np.bool_),
        np.array([record.id or name]),
    )


def _complaint(record: EpisodeRecord, s: Any, what: int, t: int, p: int, count: int) -> str:
    """Tell what is wrong with state `t`, from what `make_follow` has found."""
    if what == START:
        return "state 0: geese of length 1 and food must lie on distinct cells"
    if what == OVER:
        return f"state {t}: the game was over before"
    if what == GOES_ON:
        return f"state {t} is the last, but the game goes on"
    if what == FOOD:
        ends = np.cumsum(record.food_counts)
        there = record.food[ends[t] - record.food_counts[t] : ends[t]].tolist()
        return (
            f"state {t}: food lies on {there}, by the rules on {s.food[:p].tolist()} "
            f"and on {count} free cells more"
        )
    end = int(record.lengths.ravel()[: t * record.lengths.shape[1] + p + 1].sum())
    there = record.geese[end - int(record.lengths[t, p]) : end].tolist()
    return f"state {t}: goose {p} lies on {there}, by the rules on {geese(s)[p]}"


@factory()
def make_follow() -> Any:
    """Return `follow(states, actions, geese, lengths, food, food_counts, cells, found)`.

    Plays a record, see `EpisodeRecord`, in `states[0]` as far as it is right, and writes what
    chance chose to `cells`, see `ludoteca.train.data.chance`. Writes to `found` what is wrong, in
    which state, with which goose (food: how many stay), and how many cells chance chose (food: in
    this state).
    """

    @compiled_without_allocation
    def follow(
        states: Any,
        actions: Any,
        geese: Any,
        lengths: Any,
        food: Any,
        food_counts: Any,
        cells: Any,
        found: Any,
    ) -> None:
        s = states[0]
        players, room = s.body.shape
        body, meal = players, food_counts[0]
        found[0] = START
        for p in range(players):
            if lengths[0, p] != 1:
                return
            cells[p] = geese[p]
        for i in range(food_counts[0]):
            cells[players + i] = food[i]
        init(s, 0)
        at = begin(s, cells, 0, players + food_counts[0])
        if at != players + food_counts[0]:
            return
        for t in range(1, len(lengths)):
            found[1] = t
            if is_terminal(s):
                found[0] = OVER
                return
            before = s.rng[0]
            step(s, actions[t - 1])
            for p in range(players):
                same = s.length[p] == lengths[t, p]
                for k in range(lengths[t, p]):
                    same = same and s.body[p, (s.start[p] + k) % room] == geese[body + k]
                body += lengths[t, p]
                if not same:
                    found[0], found[2] = GOOSE, p
                    return
            drawn = count_drawn(s, before)
            kept = s.num_food - drawn
            same = s.num_food == food_counts[t]
            for i in range(min(kept, food_counts[t])):
                same = same and s.food[i] == food[meal + i]
            if same:
                for i in range(kept, food_counts[t]):
                    cells[at + i - kept] = food[meal + i]
                end = at + food_counts[t] - kept
                at = redraw(s, before, cells, at, end)
                same = at != NOT_SO
            meal += food_counts[t]
            if not same:
                found[0], found[2], found[3] = FOOD, kept, drawn
                return
        found[0] = GOOD if is_terminal(s) else GOES_ON
        found[3] = at

    return follow
