"""Hungry Geese equals the kaggle-environments interpreter, step for step, on recorded games.

`tests/oracles/record_geese.py` recorded them and describes the file; LUDOTECA_GEESE_RECORD names
another such file to compare with. Where food falls is chance, so it is taken from the record.
"""

import os
import zlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import FOOD, geese
from ludoteca.envs.games.hungry_geese import hungry_geese, init, is_terminal, refill, returns, step
from ludoteca.envs.jit import compiled
from ludoteca.envs.record_views import view_records

COMPILED_STEPS = 15_000  # for at least that many steps, compilation takes less than interpretation
GOLDEN = Path(__file__).parents[1] / "golden" / "hungry_geese.npz"
RECORD = Path(os.environ.get("LUDOTECA_GEESE_RECORD", GOLDEN))
CONFIG = (
    "num_players",
    "rows",
    "columns",
    "hunger_rate",
    "min_food",
    "max_length",
    "episode_steps",
)
END = 0xFFFF  # follows the cells of a goose in the checksums

golden_only = pytest.mark.skipif(RECORD != GOLDEN, reason="only for the record in tests/golden")


@cache
def record() -> list[dict[str, Any]]:
    """Return the recorded games, each as a dict of its own arrays."""
    with np.load(RECORD) as file:
        arrays = {name: file[name] for name in file.files}
    games = []
    # Where the next game begins in arrays by goose, by step, by step and goose, and of food.
    goose = at = entry = food = 0
    for number, (config, steps) in enumerate(zip(arrays["config"], arrays["steps"], strict=True)):
        players, steps = int(config[0]), int(steps)
        counts = arrays["food_counts"][at + number : at + number + steps + 1]
        food_ends = np.cumsum([0, *counts])
        games.append(
            {
                "params": dict(zip(CONFIG, config.tolist(), strict=True)),
                "food": arrays["food"][food : food + food_ends[-1]],
                "food_ends": food_ends,
                **{name: arrays[name][at : at + steps] for name in ("checksums", "placed")},
                **{
                    name: arrays[name][entry : entry + steps * players].reshape(steps, players)
                    for name in ("actions", "lengths")
                },
                **{
                    name: arrays[name][goose : goose + players]
                    for name in ("heads", "died", "rewards")
                },
            }
        )
        goose, at, entry = goose + players, at + steps, entry + steps * players
        food += food_ends[-1]
    sizes = {"heads": goose, "checksums": at, "actions": entry, "food": food}
    assert sizes == {name: len(arrays[name]) for name in sizes}, "the file is incomplete"
    return games


@cache
def make_replay() -> Any:
    """Return `replay`, which replays a recorded game of T steps by our rules.

    It reads `heads [P]`, `actions [T, P]`, `food` (cells) and `food_ends [T + 2]`, and writes the
    states after 0 to T steps: `bodies [T + 1, P, length]`, `lengths` and `scores [T + 1, P]`,
    `foods [T + 1, count]`, `num_foods` and `over [T + 1]`, and the returns `values [T + 1, P]`.
    """

    def replay(
        s: Any,
        heads: Any,
        actions: Any,
        food: Any,
        food_ends: Any,
        bodies: Any,
        lengths: Any,
        scores: Any,
        foods: Any,
        num_foods: Any,
        over: Any,
        values: Any,
    ) -> None:
        players, room = s.body.shape
        columns = s.occupied.shape[1]
        init(s, 0)
        s.occupied[:] = 0
        for p in range(players):
            s.body[p, 0] = heads[p]
            s.occupied[heads[p] // columns, heads[p] % columns] = 1
        for t in range(actions.shape[0] + 1):
            if t > 0:
                step(s, actions[t - 1])
            for p in range(players):
                lengths[t, p] = s.length[p]
                scores[t, p] = s.score[p]
                for k in range(s.length[p]):
                    bodies[t, p, k] = s.body[p, (s.start[p] + k) % room]
            over[t] = is_terminal(s)
            returns(s, values[t])
            num_foods[t] = s.num_food
            for i in range(s.num_food):
                foods[t, i] = s.food[i]
                if t > 0:  # our own first food is off the board already
                    s.occupied[s.food[i] // columns, s.food[i] % columns] = 0
            s.num_food = min(food_ends[t + 1] - food_ends[t], s.food.shape[0])
            for i in range(s.num_food):
                s.food[i] = food[food_ends[t] + i]
                s.occupied[s.food[i] // columns, s.food[i] % columns] = FOOD

    return compiled(replay)


def play(game: Game, recorded: dict[str, Any], *, interpreted: bool) -> dict[str, Any]:
    """Replay a recorded game; entry t of each array is the state after t steps."""
    states = game.empty(1)
    players, room = states[0]["body"].shape
    states_count = len(recorded["actions"]) + 1
    ours = {
        "bodies": np.zeros((states_count, players, room + 1), np.uint16),
        "lengths": np.zeros((states_count, players), np.int16),
        "scores": np.zeros((states_count, players), np.int32),
        "foods": np.zeros((states_count, len(states[0]["food"])), np.int16),
        "num_foods": np.zeros(states_count, np.int64),
        "over": np.zeros(states_count, np.bool_),
        "values": np.zeros((states_count, players)),
    }
    replay, s = make_replay(), states[0]
    if interpreted:
        replay, s = replay.py_func, view_records(states)[0]
    recorded_inputs = (recorded[name] for name in ("heads", "actions", "food", "food_ends"))
    with np.errstate(over="ignore"):  # SplitMix64 wraps around
        replay(s, *recorded_inputs, *ours.values())
    return ours


def checksums(ours: dict[str, Any]) -> list[int]:
    """Return the checksums of our states from step 1 on, by Kaggle's formula."""
    segments = np.arange(ours["bodies"].shape[2])
    ends = ours["lengths"][:, :, None]
    cells = np.where(segments == ends, END, ours["bodies"]).astype("<u2")
    taken = segments <= ends
    data = cells[taken].tobytes()
    stops = 2 * np.cumsum(taken.sum(axis=(1, 2)))
    scores = ours["scores"].astype("<i4")
    return [
        zlib.crc32(scores[t].tobytes(), zlib.crc32(data[stops[t - 1] : stops[t]]))
        for t in range(1, len(scores))
    ]


def mean_signs(rewards: Any) -> Any:
    """Return the mean over opponents of sign(own reward - theirs), by player."""
    signs = np.sign(rewards[:, None] - rewards[None, :])
    return signs.sum(axis=1) / max(1, len(rewards) - 1)


def difference(ours: dict[str, Any], recorded: dict[str, Any]) -> str:
    """Return the first difference between our game and the recorded one, or return ""."""
    steps = len(recorded["actions"])
    expected = checksums(ours)
    final_returns = mean_signs(recorded["rewards"].astype(np.int64))
    for t in range(steps + 1):
        kaggle = recorded["food"][recorded["food_ends"][t] : recorded["food_ends"][t + 1]]
        food = ours["foods"][t, : ours["num_foods"][t]]
        if len(food) != len(kaggle):
            return f"step {t}: there is food on {food}, kaggle has it on {kaggle}"
        if ours["over"][t] != (t == steps):
            return f"step {t}: over is {ours['over'][t]}, but kaggle's game takes {steps} steps"
        dead = (recorded["died"] > 0) & (recorded["died"] <= t)
        values = np.where(dead | (t == steps), final_returns, 0)
        if not np.array_equal(ours["values"][t], values):
            return f"step {t}: returns are {ours['values'][t]}, kaggle's rewards make {values}"
        if t == 0:
            continue
        lengths = recorded["lengths"][t - 1]
        if not np.array_equal(ours["lengths"][t], lengths):
            return f"step {t}: lengths are {ours['lengths'][t]}, kaggle has {lengths}"
        uneaten = len(kaggle) - recorded["placed"][t - 1]
        if not np.array_equal(food[:uneaten], kaggle[:uneaten]):
            return f"step {t}: food stayed on {food[:uneaten]}, kaggle has {kaggle[:uneaten]}"
        if expected[t - 1] != recorded["checksums"][t - 1]:
            bodies = [
                body[:length].tolist()
                for body, length in zip(ours["bodies"][t], lengths, strict=True)
            ]
            return f"step {t}: kaggle differs from the geese {bodies}, scores {ours['scores'][t]}"
    if not np.array_equal(ours["scores"][steps], recorded["rewards"]):
        return f"scores are {ours['scores'][steps]}, kaggle's rewards {recorded['rewards']}"
    return ""


def make(recorded: dict[str, Any]) -> Game:
    """Return the game of a recorded game."""
    return hungry_geese(**recorded["params"])


@cache
def dtypes_of_many_steps() -> set[np.dtype[np.void]]:
    """Return the dtypes of states for which compilation takes less time than interpreting."""
    steps: Counter[np.dtype[np.void]] = Counter()
    for recorded in record():
        steps[make(recorded).state] += len(recorded["actions"])
    return {dtype for dtype, count in steps.items() if count >= COMPILED_STEPS}


def numbers_of(common: bool) -> list[int]:
    """Return the numbers of the games on boards with many recorded steps, or on the others."""
    return [
        number
        for number, recorded in enumerate(record())
        if (make(recorded).state in dtypes_of_many_steps()) == common
    ]


def check_games(numbers: list[int], interpreted: bool) -> None:
    """Assert that recorded games are equal when they are replayed by our rules."""
    for number in numbers:
        recorded = record()[number]
        mismatch = difference(play(make(recorded), recorded, interpreted=interpreted), recorded)
        assert not mismatch, f"game {number} {recorded['params']}: {mismatch}"


def test_some_recorded_games_are_equal() -> None:
    """A part of the games is interpreted; the slow tests play all of them."""
    numbers = numbers_of(common=False)[::20] + numbers_of(common=True)[::400]
    assert numbers
    check_games(numbers, interpreted=True)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.slow
def test_every_recorded_game_is_equal(interpreted: bool) -> None:
    """Common boards are played by compiled kernels, rare ones by interpreted ones."""
    numbers = numbers_of(common=not interpreted)
    assert numbers
    check_games(numbers, interpreted)


@golden_only
def test_difference_is_reported_with_its_array_and_step() -> None:
    """An error in any array of a record is reported with its step."""
    recorded = next(game for game in record() if len(game["actions"]) > 50)
    game, refilled = make(recorded), int(np.argmax(recorded["placed"] > 0))
    assert difference(play(game, recorded, interpreted=True), recorded) == ""
    for name, where, wrong, expected in [
        ("heads", 0, recorded["heads"][0] ^ 1, "step 1: "),
        ("actions", 9, (recorded["actions"][9] + 1) % 4, "step 10: "),
        ("lengths", (20, 0), 77, "step 21: lengths are"),
        ("checksums", 30, recorded["checksums"][30] ^ 1, "step 31: kaggle differs from"),
        ("placed", refilled, 0, f"step {refilled + 1}: food stayed"),
        ("died", slice(None), 1, "step 1: returns are"),
        ("rewards", slice(None), 0, "step "),
        ("rewards", slice(None), recorded["rewards"] - 1, "scores are"),
    ]:
        changed = {**recorded, name: recorded[name].copy()}
        changed[name][where] = wrong
        mismatch = difference(play(game, changed, interpreted=True), changed)
        assert mismatch.startswith(expected), f"{name}: {mismatch!r}"
    short = {**recorded, "actions": recorded["actions"][:-1]}
    assert "over is False" in difference(play(game, short, interpreted=True), short)


@golden_only
def test_the_golden_record_covers_the_rules() -> None:
    games = record()
    params = [recorded["params"] for recorded in games]
    assert len(games) >= 2_000
    assert 1_000 <= sum(make(g).params == hungry_geese().params for g in games) < len(games)
    assert {p["num_players"] for p in params} == set(range(1, 9))
    assert {3, 16} <= {p["rows"] for p in params}
    assert {3, 13} <= {p["columns"] for p in params}
    assert {1, 40, 100} <= {p["hunger_rate"] for p in params}
    assert {1, 2, 3, 99} <= {p["max_length"] for p in params}
    assert any(p["min_food"] > p["rows"] * p["columns"] for p in params)
    assert min(p["episode_steps"] for p in params) == 2
    assert max(g["lengths"].max(initial=0) for g in games) > 30
    assert sum(len(g["actions"]) == 199 for g in games) >= 20
    for name in ("eats", "starves", "turns back", "fills the board", "is as long as allowed"):
        assert sum(happens(name, g) for g in games) >= 20, f"few games in which a goose {name}"


def happens(name: str, recorded: dict[str, Any]) -> bool:
    """Return whether an event happens in a game, according to Kaggle's record."""
    params, actions = recorded["params"], recorded["actions"]
    lengths = np.concatenate((np.ones_like(recorded["lengths"][:1]), recorded["lengths"]))
    t = np.arange(1, len(lengths))[:, None]
    dies = (lengths[:-1] > 0) & (lengths[1:] == 0)
    if name == "eats":
        return bool((lengths[1:] > lengths[:-1]).any())
    if name == "starves":  # or dies of a collision in the step of a hunger
        return bool((dies & (lengths[:-1] == 1) & (t % params["hunger_rate"] == 0)).any())
    if name == "turns back":
        return bool((dies[1:] & ((actions[:-1] + 2) % 4 == actions[1:])).any())
    if name == "fills the board":
        held = lengths.sum(axis=1) + np.diff(recorded["food_ends"])
        return bool((held == params["rows"] * params["columns"]).any())
    assert name == "is as long as allowed"
    return bool((lengths[:-1] == lengths[1:]).any() and lengths.max() == params["max_length"])


def test_food_is_placed_uniformly_on_free_cells() -> None:
    """On 3 x 4 cells with geese on 0, 4, 5 and 11, any two of the other eight get food."""
    game = hungry_geese(num_players=2, rows=3, columns=4, min_food=2)
    start = view_records(game.empty(1))[0]
    draws: Counter[tuple[int, ...]] = Counter()
    with np.errstate(over="ignore"):
        for seed in range(2_800):  # 50 for each of the 56 ordered pairs of free cells
            s = start.copy()
            s.rng[0] = seed
            s.body[0, :3], s.body[1, :1] = (0, 4, 5), 11
            s.length[:] = (3, 1)
            s.occupied[:] = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]]
            refill(s)
            assert s.num_food == 2
            draws[tuple(s.food.tolist())] += 1
            assert all(s.occupied.ravel()[s.food] == FOOD)
            assert game.validate(s) == ""
    pairs = {(a, b) for a in range(12) for b in range(12)} - {(a, a) for a in range(12)}
    free = {pair for pair in pairs if not set(pair) & {0, 4, 5, 11}}
    assert set(draws) == free
    # The seeds are fixed: the bound only says how unlikely the counts would be.
    assert chisquare(list(draws.values())).pvalue > 0.001


@pytest.mark.parametrize("players", [1, 4, 8])
def test_heads_and_food_start_uniformly_on_distinct_cells(players: int) -> None:
    game = hungry_geese(num_players=players, rows=3, columns=4, min_food=3)
    counts = np.zeros((2, 12), np.int64)
    for seed in range(1_000):
        s = game.new(seed)
        heads, food = [goose[0] for goose in geese(s)], s.food.tolist()
        assert len({*heads, *food}) == players + 3
        assert game.validate(s) == ""
        counts[0, heads[-1]] += 1
        counts[1, food[-1]] += 1
    assert (chisquare(counts, axis=1).pvalue > 0.001).all()
