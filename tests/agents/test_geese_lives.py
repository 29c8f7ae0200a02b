"""Fates of geese: causes of death, and whether they were forced."""

from collections import Counter

import numpy as np
import pytest

from ludoteca.agents.games.hungry_geese.lives import ALIVE, CAUSES, lives_of
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match

BOARDS = (
    "hungry_geese",
    "hungry_geese:num_players=8,rows=7,columns=6,hunger_rate=5,min_food=12",
    "hungry_geese:num_players=2,rows=3,columns=4,hunger_rate=7,max_length=3",
    "hungry_geese:num_players=3,rows=4,columns=4,hunger_rate=2,max_length=1,episode_steps=30",
)


def why_geese_die(game, bodies, food, last, actions, step):
    """Return each goose's cause of death in a step, or None, by the rules on lists of cells.

    Args:
        game: the game.
        bodies: cells of each goose, head first.
        food: cells with food.
        last: last action of each goose, or None in the first step.
        actions: action of each goose.
        step: number of the step, from 1.
    """
    rows, columns, hunger_rate, max_length = (
        game.params[key] for key in ("rows", "columns", "hunger_rate", "max_length")
    )
    bodies, food, causes = [list(body) for body in bodies], set(food), [None] * len(bodies)
    for p, body in enumerate(bodies):
        if not body:
            continue
        if actions[p] == FORFEIT:
            causes[p] = "left"
        elif last is not None and abs(last[p] - actions[p]) == 2:
            causes[p] = "turned back"
        else:
            down, right = ((-1, 0), (0, 1), (1, 0), (0, -1))[actions[p]]
            row, column = divmod(body[0], columns)
            head = (row + down) % rows * columns + (column + right) % columns
            if head in food:
                food.remove(head)
            else:
                body.pop()
            if head in body:
                causes[p] = "own body"
            bodies[p] = body = [head, *body[: max_length - 1]]
            if step % hunger_rate == 0:
                body.pop()
            if causes[p] is None and not body:
                causes[p] = "starved"
        if causes[p]:
            bodies[p] = []
    for p, body in enumerate(bodies):
        others = [cell for q, other in enumerate(bodies) if q != p for cell in other[1:]]
        heads = [other[0] for q, other in enumerate(bodies) if q != p and other]
        if body and body[0] in others:
            causes[p] = "another's body"
        elif body and body[0] in heads:
            causes[p] = "head on"
    return causes


def random_replay(game, seed, resample_probability):
    """Play a random game in which geese sometimes forfeit.

    An action that turns back is sampled again with `resample_probability`.
    """
    rng, s, played, last = np.random.default_rng(seed), game.new(seed), [], None
    while not game.is_terminal(s):
        actions = [0] * game.num_players
        for p in range(game.num_players):
            if game.legal(s, p):
                actions[p] = int(rng.integers(4))
                while (
                    last and rng.random() < resample_probability and abs(actions[p] - last[p]) == 2
                ):
                    actions[p] = int(rng.integers(4))
                if rng.random() < 0.002:
                    actions[p] = FORFEIT
        with np.errstate(over="ignore"):
            game.step(s, np.array(actions))
        played.append(actions)
        last = actions
    returns = np.zeros(game.num_players, np.float32)
    game.returns(s, returns)
    return Replay(game.spec, seed, played, tuple(round(float(x), 6) for x in returns))


@pytest.mark.parametrize(("spec", "games"), [*zip(BOARDS, (12, 30, 30, 30), strict=True)])
@pytest.mark.interpreted
def test_causes_of_death_are_those_of_the_rules(spec, games):
    game = make_game(spec)
    replays = [random_replay(game, seed, 0.98) for seed in range(games)]
    lives = lives_of(replays)
    seen = Counter()
    for k, replay in enumerate(replays):
        positions, died = list(replay.positions()), {}
        for t, (s, actions) in enumerate(zip(positions, replay.actions, strict=False)):
            last = replay.actions[t - 1] if t else None
            bodies, food = geese(s), s.food[: s.num_food].tolist()
            causes = why_geese_die(game, bodies, food, last, actions, t + 1)
            assert [bool(c) for c in causes] == [
                bool(before) and not after
                for before, after in zip(bodies, geese(positions[t + 1]), strict=True)
            ]
            for p, cause in enumerate(causes):
                if cause:
                    others = ([*actions[:p], action, *actions[p + 1 :]] for action in range(4))
                    forced = all(
                        why_geese_die(game, bodies, food, last, other, t + 1)[p] for other in others
                    )
                    died[p] = (cause, forced, t + 1)
        for p in range(game.num_players):
            cause, forced, steps = died.get(p, (None, False, len(replay.actions)))
            assert lives.causes[k, p] == (CAUSES.index(cause) if cause else ALIVE)
            assert lives.forced[k, p] == forced
            assert lives.steps[k, p] == steps
            assert lives.lengths[k, p] == len(geese(positions[-1])[p])
            assert lives.scores[k, p] == positions[-1].score[p]
            seen[cause, forced] += 1
    if spec == BOARDS[1]:  # on this board every cause of death occurs
        assert {cause for cause, _ in seen} == {None, *CAUSES}
        assert {forced for cause, forced in seen if cause == "another's body"} == {True, False}


@pytest.mark.slow
def test_lives_need_replays_of_one_game_of_hungry_geese():
    with pytest.raises(
        ValueError, match="expected replays of hungry_geese with the same parameters, got none"
    ):
        lives_of([])
    other = play_match("tron", ["random", "random"], 1, num_replays=1).replays
    with pytest.raises(ValueError, match=r"with the same parameters, got \['tron"):
        lives_of(other)
