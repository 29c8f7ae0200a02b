"""High Numbers: a game with more actions than an int16 can number, for tests.

Two players choose two numbers each, in turn or at once; the higher sum wins.
"""

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.params import check_integer
from ludoteca.envs.symmetry import Symmetry

NUM_ACTIONS = 50_000
TURNS = 4  # of both players together


@unique
def high_numbers(choices: int = 10, simultaneous: bool = False) -> Game:
    """High Numbers; action k is the number k.

    Args:
        choices: number of legal actions in each position, a divisor of 50,000; in turn t they are
            the numbers `k * stride + t % stride`, where `stride` is 50,000 / `choices`.
        simultaneous: whether the players choose at once.
    """
    check_integer("choices", choices, 1, NUM_ACTIONS)
    return Game(
        name="high_numbers",
        title="High Numbers",
        params={"choices": choices, "simultaneous": simultaneous},
        num_players=2,
        num_actions=NUM_ACTIONS,
        max_plies=TURNS // 2 if simultaneous else TURNS,
        observation_shape=(2, 1, 1),
        dynamics="simultaneous" if simultaneous else "sequential",
        state=np.dtype(
            [
                ("board", np.int8, (1, 1)),  # 0, or the leading player plus one
                ("sums", np.int32, (2,)),
                ("turns", np.int8),  # number of turns so far
                ("forfeits", np.int8, (2,)),  # whether each player has left the game
                ("choices", np.int32),
            ],
            align=True,
        ),
        settings={"choices": choices},
        init=init,
        player=None if simultaneous else player,
        is_active=is_active if simultaneous else None,
        legal_actions=legal_simultaneous if simultaneous else legal_actions,
        step=step_simultaneous if simultaneous else step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout(
            "squares",
            1,
            1,
            (
                Piece("1", "first", "disc", "#c0392b", 0),
                Piece("2", "second", "disc", "#2565ae", 1),
            ),
            lambda s: s.board,
        ),
        action_names=tuple(f"number-{k}" for k in range(NUM_ACTIONS)),
        symmetries=lambda: (Symmetry("identity", np.arange(1), np.arange(NUM_ACTIONS)),),
        validate=lambda s: "",
    )


@kernel
def init(s, seed):
    s.board[:] = 0
    s.sums[:] = 0
    s.forfeits[:] = 0
    s.turns = 0


@kernel
def player(s):
    return s.turns % 2


@kernel
def is_active(s, p):
    return not is_terminal(s)


@kernel
def legal_actions(s, out):
    if is_terminal(s):
        return 0
    stride = NUM_ACTIONS // s.choices
    for k in range(s.choices):
        out[k] = k * stride + s.turns % stride
    return int(s.choices)


@kernel
def legal_simultaneous(s, p, out):
    return legal_actions(s, out)


@kernel
def choose(s, p, number):
    s.sums[p] += number
    s.turns += 1
    s.board[0, 0] = 0 if s.sums[0] == s.sums[1] else 1 + int(s.sums[1] > s.sums[0])


@kernel
def step(s, action):
    choose(s, s.turns % 2, action)


@kernel
def step_simultaneous(s, actions):
    for p in range(2):
        if actions[p] < 0:
            s.forfeits[p] = 1
        choose(s, p, max(actions[p], 0))


@kernel
def is_terminal(s):
    return bool(s.turns >= TURNS or s.forfeits[0] + s.forfeits[1] > 0)


@kernel
def returns(s, out):
    out[:] = 0
    if s.forfeits[0] + s.forfeits[1] > 0:
        out[0] = s.forfeits[1] - s.forfeits[0]
        out[1] = -out[0]
    elif is_terminal(s):
        out[0] = np.sign(s.sums[0] - s.sums[1])
        out[1] = -out[0]


@kernel
def observe(s, player, out):
    out[0, 0, 0] = s.board[0, 0] == 1 + player
    out[1, 0, 0] = s.turns % 2
