"""Endgames of Othello with exact scores: the test positions of the French Othello Federation (FFO).

Collected by Marc Tastet; numbers 40 to 59 with their games are shown on
http://www.radagast.se/othello/ffotest.html. They are the usual benchmark of Othello programs.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.othello import placements
from ludoteca.envs.registry import make_game

# Number, player to move and rows from the top (x black, o white); then the legal moves, best first,
# each with its exact score: the final disc difference for the player to move.
POSITIONS = """
1 x ..xxxxx./.oooxx.o/.oooxxox/.oxoxoxx/oxxxoxxx/..xoxoxx/.xxxooo./.ooooo..
    g8+18 h1+12 h7+6 a2+6 a3+4 b1-4 a4-22 g2-24
2 x .xxxxxx./..xoooo./.xoxxoox/.ooooooo/ooooxxoo/oooxxoox/..xxoo../..xxxxx.
    a4+10 b2+0 a3-6 g7-8 a7-12 h7-14 b7-14 h2-24
3 x ....ox../..ooxx../.oooxx.x/ooxxoooo/oxxoxxoo/oxxxoooo/oxxxxoxo/..ooooox
    d1+2 g3+0 b8-2 b1-4 c1-4 a2-4 a3-6 b2-12
4 x .xxxxxx./x.xxxoo./xoxxxoox/xxoxooox/.oxooxxx/..oooxxx/..ooxx../..xoxxo.
    h8+0 a5+0 b6-4 b7-4 a6-8 b2-12 h2-26
5 x .ooooo../..oxxo.x/xxoxoxx./xxoxoxxo/xxooxooo/xxxxoo.o/x.xooo../.xxxxx..
    g8+32 g2+12 b2-20 g6-26 g1-32 g7-34
6 x ..oxxx../oooxxx../oooxoxo./ooxooox./ooxxxxxx/xooxxox./.oooox../.xxxxxx.
    a1+14 h3+14 a8+12 h2+8 g2+8 h4+4 g7+4 a7-22 b1-24
7 x ..oxxo../xoxxxx../xoooxxxx/xooxxxxx/xooooxxx/.xxxxxxx/..xxooo./...xxoo.
    a6+8 g1+0 a1-2 h8-6 h7-14 b1-30
8 o ...x.x../x.xxxx../xxxxoxxx/xxxooooo/xxoxxxo./xoxxxxo./xooxxx../xooxxo..
    e1+8 h2+4 g2+4 b2+4 g7+4 b1+2 g1-6 c1-8
9 o ..xoxx../o.ooxxxx/.oooxxxx/.xoxxxox/xxoxooox/oxxoxoxx/..oxoo../..oooo..
    g7-8 a4-8 b1-16 a7-16 b7-26 a3-30 g1-38 h7-40
10 o .xxxx.../..oxxx../xoxoxoxx/oxoxxoxx/oxxoxooo/xxxoxoox/..oxxo../.ooooo..
    b2+10 b7+4 f1+0 a7-4 a2-6 g2-12 h2-16 h7-20
11 o ...o.xox/....xxox/...xxoox/o.xxoxox/xxxooxox/.xooxxxx/xoooxx.x/ooooooo.
    b3+30 c2+26 a6+24 g7+20 c3+18 d2+16 b4+10 e1+6
12 o ..o..o../x.oooox./xxoooxoo/xxoxoxoo/xxoxxooo/xxxxoooo/..oxxx../.xxxxx..
    b7-8 a7-10 g7-14 g8-14 h2-16 g1-16 h1-20
13 x ..xxxxx./.oooxx../.oooxxxx/.oxoxoxx/oxxxoxxx/..xoxoxx/..oxooo./.ooooo..
    b7+14 a4+0 a3-8 b1-18 g8-20 h7-20 a2-24
14 x ..xxxxx./..ooox../.xooxxxx/.ooooooo/oooxxxoo/oooxxoox/..xxoo../..xxxxx.
    a3+18 a4+12 b1+8 g7-4 h7-14 a7-24 b7-24 b2-28
15 x ....o.../...oox../.oooxx.x/oooxoooo/oxxoxxoo/oxxxoooo/oxxxooxo/..ooooox
    g3+4 b8+4 f1+0 c1+0 c2-2 d1-4 b2-8 a3-8
16 x .xxxxxx./x.xxxoo./xoxxxoox/xooxxxox/.oooxxxx/..ooxxxx/...ooo../..xox.o.
    f8+24 c7+20 a5+6 h1+6 b6+0 b7-2 a6-6 h2-26
17 x .ooooo../..oxxo.x/xxoooxx./xxoxoxxo/xxooxooo/xxxxoo.o/x.xoo.../.xxxx...
    f8+8 g2+6 g6-24 g1-32 f7-32 g7-34 b2-38
18 x .xxx..../..ooox../xoooooxx/oxoxooxx/oxxooooo/xxxoxoox/..oxxo../.ooooo..
    g2-2 b7-6 f1-8 e1-10 h7-12 g8-14 g7-14 a2-18 b2-18
19 x ..oxxo../xoxxxx../xooooxxx/xoooxxxx/x.oooxxx/..ooooxx/..xxooo./...xxoo.
    b6+8 h8+4 b7+0 g1-6 b5-16 h7-16 b1-24
20 x xxxoxxxx/oxxxxxxx/ooxxxxxx/oooxxxxx/oooxxoo./ooooo.../ooooooo./ooooooo.
    h5+6 g6-2 f6-4 h6-10
21 o oooooooo/xooxxx../xxooxoo./xoxooo../xoooox../xooxoo../xooooo../xxxx....
    g5+0 g2-2 g4-4 g6-6
22 o ..oooo../x.ooooo./xxooxoxx/xoxoxxxx/xxxoxxxx/.xxoxoxx/..oxxx.x/....x...
    g8+2 a6+0 f8-4 a7-4 h2-4 b2-6 d8-8 b7-14 g7-26
23 x ..o...../..oox.../oooxxxo./ooooxoxx/xxxooxox/xxxxxoox/x.xxxxox/..xxxx..
    a2+4 d1-20 h3-20 b1-30 g2-30 e1-30 f2-34 g8-34 b2-36 h2-38
24 o ..o..o../...ooox./.x.xoxoo/..xxxooo/xxxxoooo/xxxoxxoo/xxxxxx../xoxx.o..
    c3+0 b4-4 c2-8 e8-12 g7-14 h2-16 g1-24
25 o ....x.../...xxxo./.oooxxxx/xooooxxo/.xxooxxo/ooxoxxxx/oooxx.../x.xxxx..
    g1+0 a5+0 f1-4 d1-6 f7-8 c2-10 g7-10 h2-12 h7-16
26 x .ooooo../..oxxo../.ooooxxo/.oooxoxx/.ooxooxx/.xoxxoxx/..o.xxxx/..o....o
    d8+0 a6-2 a4-6 b7-6 a5-12 g1-16 a2-16 a3-18 h2-18 b8-20 g2-20 b2-26
27 x ..xo.o../..oooo../ooxoxxo./ooooxxoo/oooxxox./oxoxxxxx/..xxxx../..x.o.x.
    b7-2 e1-4 b1-6 h2-10 h5-10 b2-12 a2-14 h3-28 g1-28 g2-28
28 x ..o...../..ooo..x/.xooooxx/xxxxoxox/.xxoxoox/xxoxooxx/.ooooo.x/...ooo..
    f1+0 b2+0 e1+0 b1-4 f2-6 g7-6 d1-12 c8-20 g8-22 b8-28
29 x .oxxxx../..oxxo../xxooxooo/xxxooxoo/xxooxooo/xxxxoo.x/x.xxo.../........
    g2+10 a1+4 g6-10 h2-12 f8-12 e8-12 g7-24 g1-24 b2-30 f7-34
30 x .xxx..../x.xoo.../xxoxoo../xoxoxo../xooxoxxx/xooxxox./..ooooo./.xxxxx..
    g3+0 g2-12 e1-16 f2-18 f1-22 g4-22 h6-24 b7-24 g8-28
31 x .ooooo../..oooo../oxxooo../.xxxoo../xxxxxxo./xxxooo.o/x.oooo../.ooooo..
    g6-2 g3-4 g4-8 g7-14 h5-14 g2-16 g1-30 g8-32
32 x ..xx..../o.xxox../ooxoo.../oxoxooo./ooxxooox/ooxxxoox/..xxxxox/..x..x.x
    g3-4 b7-6 e1-8 h4-10 f3-10 h3-10 b2-14 a7-22
33 x .xxxxxxx/..xooo../..oxooxx/.ooxxoxx/.oooooxx/.x.xooxx/...o.x.x/..oooo..
    e7-8 a3-8 a6-12 b2-12 g7-12 g2-12 a4-14 c6-20 a5-22 b3-28
34 x ......../.....o.o/.ooooooo/oooooxoo/oxxoooxo/.xxxoxoo/..xxxoxo/..oxxxxo
    c2-2 d2-6 e2-6 a3-10 a2-10 f1-12 g2-14 g1-16 b2-20 b8-26
35 o ..xxx.../..xxxx.o/ooxxoooo/ooooooxo/.ooxxxxo/.oooxxxo/...xoxx./..x.....
    c7+0 d8-8 h8-8 b2-12 g1-14 e8-20 b1-20 f8-24 f1-32 h7-32 g8-38
36 o ...x.o../..xxxo.x/xxxxxxxx/xooxxoox/xoxoooxx/xxoooo.x/x..oooo./........
    b7+0 b1-2 e1-4 c1-6 g6-8 g2-10 a2-22 b2-24
37 x ..oooo../o.oooo../oxxxooo./oxxoxo../ooxxoxx./ooxxxx../o.xxx.../..xx.o..
    g2-20 g4-22 b7-22 h3-22 g1-30 h2-42 b1-48
38 x ..oooo../..oooo../.xoxxoox/ooxoooox/.oooooxx/xooxxxxx/..x.x.../........
    b2+4 a5+0 h2-4 a3-10 a7-18 g2-20 b7-22 g1-24 b1-26
39 o o.oooo../xoxxox../xoooxxx./xoooxx../xooxox../xoxxx.../x.xx..../........
    a8+64 b1+64 g1+64 g5+64 g6+64 c8+64 h3+64 e8+64 h4+64 f7+62 d8+62 e7+62 h2+62 b8+62 g2+60
    g4+60 f6+32
40 x o..oooox/.oooooox/ooxxooox/ooxoooxx/ooooooxx/...oooox/....o..x/........
    a2+38 c7+36 d8+34 c1+30 b1+30 g7+28 d7+28 c6+28 f7+26 a6+24
41 x .ooooo../..oooox./.oooooo./xxxxxoo./.xxoox../ooxoxx../..oxxo../.ooo..o.
    h4+0 h3-2 f8-2 g5-4 b7-6 g7-8 g1-12 a2-14 a7-18 b2-34
42 x ..ooo.../....xx.o/oooooxoo/.ooooxoo/x.oooxxo/...ooxoo/...oooxo/..oooo..
    g2+6 a4+0 c6-2 c7-4 c2-4 d2-6 b5-8 b2-10 b6-10
43 o ..xxxxx./..xxxx../.oooxx../.ooxxxx./.ooxxxo./ooooxoo./...xox../..xxxxx.
    g3-12 c7-12 h4-22 g7-28 g2-30 b1-36
44 o ..o.x.o./..o.xo.o/.ooxxxoo/ooooxxxo/ooooxx../xxooxo../..xxxx../...xxx..
    d2-14 b8-14 g2-18 g6-18 f1-22 a7-24 b7-26 g5-28 g8-28 c8-28
45 x ...xxxx./x.xxxo../xxoxoo../xxxoxo../xxoxxo../.oxxxoo./o.oooo../....oo..
    b2+6 g5+2 h6+0 g2-2 g4-2 g7-2 d8-2 c8-6 g3-8 h7-8 a6-10 b8-10 b7-16 g8-16
46 x ...xxx../..ooox../..oooxx./.ooooxxx/..ooooxx/..oxoxxx/..xxoo../.xxxx.o.
    b3-8 b7-10 a3-12 a4-16 b5-22 a5-24 b6-26 b1-26 b2-28 c1-34 f8-36 g7-38
47 o .ooooo../..oooo../.oooox../xxxxxx../.oxoox../oooxox../..ooxx../..xxxx..
    g2+4 g6-24 g4-26 a5-28 g3-28 g5-30 g7-34 g8-36
48 o .....x../x.xxx.../xxxxoo../xoxooxx./xooxxx../xooxx.../..ooox../.xxxxxx.
    f6+28 g5+20 g6+16 g3+14 e1+12 d1+12 h4+10 h5+8 h3+8 c1-2 b1-2 b2-2 g7-8
49 x ..ox.o../..xxoo../oooooxx./ooooox../oooxoxx./ooooxx../...oox../..x.o...
    e1+16 b1+2 b2-14 a2-16 d8-18 b7-32 g2-38 c7-40
50 x ....x.../..xxx.../.oooxooo/.oooxooo/.oxoxoxo/.ooxxooo/..ooxo../..o..o..
    d8+10 h7+6 a4+2 b2+2 g7-2 g8-2 a2-4 a5-6 a7-6 g2-6 h2-6 a6-8 a3-10 b8-14 b7-18
51 o ....o.x./.....x../...xxxo./oxxxxxoo/.xxooxoo/xxoxxxoo/..oooo.o/....oo..
    e2+6 a3+6 f1+4 g7+2 c2+0 b3-2 d2-4 g2-6 c3-10 a5-14
52 o ...x..../...ox..x/..xooxxx/xxxoxxxx/xxxooxxx/xxxoooxx/..xo...x/........
    a3+0 e1-2 b3-2 f2-8 f1-12 b8-12 g2-16 b7-18 b2-22 a7-26
53 x ....oo../...ooo../.xxxxooo/..xxooxo/.xxxxxoo/..oooxoo/..x.ox.o/.....x..
    d8-2 c1-4 e8-6 d1-8 g1-8 g7-12 b6-12 b7-14 g2-18 h2-20 d7-22
54 x ..ooo.../xxoo..../xxxxoooo/xxxxox../xxxoxx../xxooo.../...ooo../...o....
    c7-2 f8-4 f2-4 c8-4 f6-10 g8-12 b1-14 e2-16 h2-20 e8-22
55 o ......../x.x...../.xxxxooo/ooxoxx../oooxxxx./ooxxxx../o.ooox../...oo...
    g6+0 b7+0 e2+0 g4+0 f2-2 h4-2 d2-2 c1-4 h5-4 f8-6 d1-12 g7-16 a3-16 b2-28
56 o ..xxxxx./..xxxx../.oooxx../.ooxox../.oxxxxx./oooooxo./...oxx../........
    h5+2 f8-8 g3-12 e8-14 g4-20 g8-28 g7-32 g2-34 b1-40
57 x ......../......../...xxooo/..xxxooo/..xxoxoo/.oooxxxo/..oxoo.o/.ooooo..
    a6-10 f2-12 b5-16 a7-18 g7-20 g2-20 b7-22 g8-52
58 x ..xooo../..ooo.../.oooxoo./.ooooxo./.oxoxxx./ooxxxx../..x.xx../........
    g1+4 a5-6 b2-10 h2-18 a4-22 a3-22 f2-22 a7-24 h4-26 b1-26 a2-28 h3-36 g2-38
59 x ......../......../.......o/..ooooo./..ooooox/ooooxxxx/..xxooxx/..xx.o.x
    h4+64 g8+64 e8+64 a5+62 b3+54 f3+52 b5+44 d3+38 e3+36 g3+34 c3+30
"""


@dataclass(frozen=True)
class FFOPosition:
    """Position of the FFO collection with the scores of its moves.

    Attributes:
        number: number in the collection, from 1.
        black: whether black is to move.
        rows: the board, row by row from the top: `"x"` black, `"o"` white, `"."` empty.
        scores: scores of the legal moves by name: the final disc difference for the player to
            move, where empty squares count for the winner.
    """

    number: int
    black: bool
    rows: tuple[str, ...]
    scores: dict[str, int]

    @property
    def empty(self) -> int:
        """The number of empty squares."""
        return sum(row.count(".") for row in self.rows)

    @property
    def best(self) -> tuple[int, tuple[str, ...]]:
        """The best score, and the moves with that score."""
        best_score = max(self.scores.values())
        return best_score, tuple(move for move, score in self.scores.items() if score == best_score)

    def state(self, game: Game | None = None) -> Any:
        """Return the position as a game state.

        Args:
            game: Othello on 8x8 squares, with or without automatic passes; by default without.
        """
        s = (game or make_game("othello")).new()
        board = np.array([list(row) for row in self.rows])
        s.discs[0], s.discs[1] = cells_of(board == "x"), cells_of(board == "o")
        s.to_move = 0 if self.black else 1
        with np.errstate(over="ignore"):  # kernels rely on integer overflow
            s.legal = placements(s, int(s.to_move))
        return s


@cache
def ffo_positions() -> dict[int, FFOPosition]:
    """Return the positions by number."""
    positions: dict[int, FFOPosition] = {}
    for line in POSITIONS.strip().splitlines():
        if line[0].isdigit():
            number, player, rows = line.split()
            position = FFOPosition(int(number), player == "x", tuple(rows.split("/")), {})
            positions[position.number] = position
        else:
            position.scores.update((move[:2], int(move[2:])) for move in line.split())
    return positions
