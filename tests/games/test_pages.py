"""Tables of docs/games, compared with the code.

`ludoteca.evaluate.new_game.pages` writes facts, parameters and names. The texts of other tables
(contents of planes, effects of actions, returns, ends of games) are keys of dictionaries below,
whose values compute their meaning from the cells of the board. For the games of `PROVEN`, a test
fails if a text is not listed, or is wrong in a position of random games. Other games may use these
texts, and are then tested, too.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import REPRESENTATIVES

from ludoteca.envs.engine.trajectory import Trajectory, record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.gdl.game import rules
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import GAMES, find_factory, make_game
from ludoteca.envs.symmetry import DIRECTIONS
from ludoteca.evaluate.gdl.machine import RuleMachine
from ludoteca.evaluate.new_game import pages
from ludoteca.evaluate.new_game.pages import (
    action_numbers,
    generated_pages,
    write_index,
    write_tables,
)

pytestmark = pytest.mark.interpreted

PAGES = Path(__file__).parents[2] / "docs" / "games"
NAMES = [factory.partition(":")[2] for factory in GAMES.values()]
PROVEN = (
    *("hungry_geese", "othello", "hex", "connect4", "tictactoe", "tron", "atari_go"),
    *("breakthrough", "breakthrough_holes", "breakthrough_suicide", "knight_through"),
    *("sheep_and_wolf", "tictactoe_large", "free_for_all"),
)
all_pages = pytest.mark.parametrize("name", NAMES)
# Games that are played are compiled: most representative games by default, all in the slow tests.
PLAYED = {*REPRESENTATIVES} - {"HungryGeese-v0"}
played_pages = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if id_ in PLAYED else pytest.mark.slow)
        for id_, name in zip(GAMES, NAMES, strict=True)
    ],
)
GAMES_PLAYED = 100
# Small boards, on which random games reach positions that are rare on the default board.
SMALL = {
    "connect4": "connect4:rows=3,columns=3,connect=3",
    "breakthrough": "breakthrough:rows=4,columns=2",
    "breakthrough_holes": "breakthrough_holes:rows=5,columns=2,holes=a3",
    "breakthrough_suicide": "breakthrough_suicide:rows=4,columns=2",
}
# Actions and ends that random games rarely reach; the tests of the rules have such positions.
RARE_ACTIONS = {"free_for_all": {"pass, legal when nothing else is"}}
RARE_ENDS = {
    "hungry_geese": {"199 steps have been played"},
    "knight_through": {"a side has no knights"},
}


# Positions


@dataclass(frozen=True)
class View:
    """Position `t` of recorded game `i`, from the view of player `p`."""

    game: Game
    trajectory: Trajectory
    i: int
    t: int
    p: int = 0

    @property
    def s(self) -> Any:
        """The position."""
        return view_records(self.trajectory.positions)[self.i, self.t]

    @property
    def codes(self) -> Any:
        """Codes of the pieces of the layout, by cell."""
        return self.game.layout.cells(self.s)

    @property
    def owners(self) -> Any:
        """Player whose piece is on each cell, or -1."""
        return np.array([-1, *(piece.player for piece in self.game.layout.pieces)])[self.codes]

    @property
    def action(self) -> Any:
        """The action of this position, or in simultaneous games the actions."""
        played = self.trajectory.actions[self.i, self.t]
        return played if self.game.simultaneous else int(played[0])

    @property
    def mover(self) -> int:
        """Player to move."""
        return int(self.trajectory.mover[self.i, self.t])

    def at(self, t: int) -> "View":
        """Return the same view of position `t`."""
        return View(self.game, self.trajectory, self.i, t, self.p)

    def of(self, p: int) -> "View":
        """Return the view of player `p`."""
        return View(self.game, self.trajectory, self.i, self.t, p)

    def full(self, value: float) -> Any:
        """Return a plane with one value in every cell."""
        return np.full(self.game.observation_shape[1:], value)

    def marked(self, cells: Any) -> Any:
        """Return a plane with 1 in cells, which are given by their numbers."""
        plane = self.full(0)
        for cell in cells:
            plane[np.unravel_index(cell, plane.shape)] = 1
        return plane


@cache
def recorded(spec: str, games: int = GAMES_PLAYED) -> Trajectory:
    """Return random games.

    Games of default parameters share their machine code with other tests, and always are
    `GAMES_PLAYED`. Games of other parameters are interpreted, and `games` should be few.
    """
    played = games if ":" in spec else GAMES_PLAYED
    return record_trajectory(make_game(spec), played, seed=5, interpreted=":" in spec)


def finals(name: str) -> Iterator[View]:
    """Yield final positions of games on the default board, and on a board of `SMALL`."""
    for spec, games in ((name, GAMES_PLAYED), (SMALL.get(name), 40)):
        if spec:
            game, trajectory = make_game(spec), recorded(spec, games)
            yield from (View(game, trajectory, i, int(trajectory.plies[i])) for i in range(games))


def views_of(spec: str, games: int) -> Iterator[View]:
    """Yield positions of some games, from the start to the end, for every player."""
    game, trajectory = make_game(spec), recorded(spec, games)
    for i in range(games):
        plies = int(trajectory.plies[i])
        for t in sorted({0, 1, plies // 3, plies // 2, plies - 1, plies}):
            yield from (View(game, trajectory, i, t, p) for p in range(game.num_players))


# Meanings of planes


def goose(view: View, part: str, seat_offset: str | None) -> Any:
    """Return the plane of a part of a goose, `seat_offset` seats after the observer."""
    q = (view.p + int(seat_offset or 0)) % view.game.num_players
    body = geese(view.s)[q]
    if part == "last head":
        return view.marked(geese(view.at(view.t - 1).s)[q][:1] if body and view.t else [])
    return view.marked({"head": body[:1], "tail": body[-1:], "body": body}[part])


def connected(view: View, color: int, side: str) -> Any:
    """Return the stones of a color, or only those connected to a side of the padded board."""
    stones = np.pad(view.codes == color, 1)
    sides = {"north": np.s_[0, :], "south": np.s_[-1, :], "west": np.s_[:, 0], "east": np.s_[:, -1]}
    edges = ("north", "south") if color == 1 else ("west", "east")
    shown = np.zeros_like(stones)
    for edge in [side] if side else edges:
        shown[sides[edge]] = True
    return shown | stones if not side else spread(shown, stones, HEXAGON)


def spread(reached: Any, among: Any, steps: Any) -> Any:
    """Return the cells `reached` and the cells of `among` that `steps` lead to from them."""
    todo, reached = list(map(tuple, np.argwhere(reached))), reached.copy()
    while todo:
        row, column = todo.pop()
        for dr, dc in steps:
            r, c = row + dr, column + dc
            inside = 0 <= r < among.shape[0] and 0 <= c < among.shape[1]
            if inside and among[r, c] and not reached[r, c]:
                reached[r, c] = True
                todo.append((r, c))
    return reached


HEXAGON = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))


def captures(view: View, q: int) -> int:
    """Return the number of captures of player `q` so far."""
    return captures_of_both(view.of(0))[q]


@cache
def captures_of_both(view: View) -> tuple[int, int]:
    """Count the pieces that the opponent of each player has lost."""
    owners = [view.at(t).owners for t in range(view.t + 1)]
    lost = [
        sum(max(0, int((a == q).sum() - (b == q).sum())) for a, b in pairwise(owners))
        for q in range(2)
    ]
    return lost[1], lost[0]


def true_fluents(view: View) -> list[str]:
    """Return the true fluents (facts of a position) of a game from a rule sheet in GDL."""
    fluents = rules(view.game).fluents
    return [f for i, f in enumerate(fluents) if int(view.s.fluents[i // 64]) >> i % 64 & 1]


def sheet_goals(view: View) -> tuple[int, ...]:
    """Return the goals of the player, by evaluating the rules of the sheet without its kernels."""
    machine = RuleMachine(rules(view.game))
    machine.set_fluents(true_fluents(view))
    return machine.goals()[view.p]


PLANE_MEANINGS: dict[str, Callable[..., Any]] = {
    # By regular expression of a text: the function of a view and the groups that returns the plane.
    "1 if the fluent `(.+)` is true": lambda v, fluent: v.full(fluent in true_fluents(v)),
    "1 everywhere if the (player|opponent) is in control": lambda v, who: v.full(
        f"(control {rules(v.game).roles[v.p if who == 'player' else 1 - v.p]})" in true_fluents(v)
    ),
    r"1 if player (\d) observes": lambda v, p: v.full(v.p == int(p)),
    "own (?:discs|marks|stones|pawns|knights)": lambda v: v.owners == v.p,
    "the opponent's (?:discs|marks|stones|pawns|knights)": lambda v: v.owners == 1 - v.p,
    "own pieces, the spawned one included": lambda v: v.owners == v.p,
    "the opponent's pieces, the spawned one included": lambda v: v.owners == 1 - v.p,
    "plies left, everywhere": lambda v: v.full(v.game.max_plies - v.t),
    "own captures, everywhere": lambda v: v.full(captures(v, v.p)),
    "the opponent's captures, everywhere": lambda v: v.full(captures(v, 1 - v.p)),
    "1 for White, 0 for Black, everywhere": lambda v: v.full(piece_name(v, v.p) == "white"),
    "holes": lambda v: v.codes == 3,
    "(black|white) discs": lambda v, color: v.codes == ("black", "white").index(color) + 1,
    "black stones and the north and south edges": lambda v: connected(v, 1, ""),
    "white stones and the west and east edges": lambda v: connected(v, 2, ""),
    "black stones connected to the (north|south) edge, and that edge": lambda v, e: connected(
        v, 1, e
    ),
    "white stones connected to the (west|east) edge, and that edge": lambda v, e: connected(
        v, 2, e
    ),
    "sheep": lambda v: v.codes == 2,
    "the wolf": lambda v: v.codes == 1,
    "1 when the wolf is to move, else 0, everywhere": lambda v: v.full(v.t % 2 == 0),
    "own head": lambda v: cell_of(v, v.s.head[v.p]),
    "the opponent's head": lambda v: cell_of(v, v.s.head[1 - v.p]),
    "own walls, head included": lambda v: v.s.walls == v.p + 1,
    "the opponent's walls, head included": lambda v: v.s.walls == 2 - v.p,
    r"(head|tail|body|last head) of goose p(?: \+ (\d))?": goose,
    "food": lambda v: v.codes == 1,
    "percent of the game that is over, everywhere": lambda v: v.full(100 * v.t // 199),
    "percent of the time between two hungers that is over, everywhere": (
        lambda v: v.full(100 * (v.t % 40) // 40)
    ),
}


def piece_name(view: View, player: int) -> str:
    """Return the name of a player's pieces, such as "white"."""
    return next(piece.name for piece in view.game.layout.pieces if piece.player == player)


def cell_of(view: View, cell: Any) -> Any:
    """Return the plane with 1 in a cell (row, column)."""
    return view.marked([cell[0] * view.game.observation_shape[2] + cell[1]])


# Effects of actions


def fills_cell(view: View, row: str, column: str) -> bool:
    """Return whether the action fills the cell of two formulas, its row and its column."""
    names = {"__builtins__": {}, "action": view.action}
    cell = eval(row, names), eval(column, names)
    return bool(view.owners[cell] == -1 and view.at(view.t + 1).owners[cell] == view.mover)


def drops_disc(view: View, column: str) -> bool:
    """Return whether the action drops a disc into the column of a formula."""
    column = eval(column, {"__builtins__": {}, "action": view.action})
    before, after = view.owners, view.at(view.t + 1).owners
    (changed,) = np.argwhere(before != after)
    below_filled = (before[changed[0] + 1 :, column] != -1).all()
    return bool(changed[1] == column and below_filled and after[tuple(changed)] == view.mover)


def moves_head(view: View, q: int, number: str, direction: str) -> bool:
    """Return whether the head of player `q` moves in a direction, or True after a crash."""
    heads = [
        [goose[:1] for goose in geese(v.s)]
        if "occupied" in view.s.dtype.names
        else [[int(row) * v.codes.shape[1] + int(column)] for row, column in v.s.head]
        for v in (view, view.at(view.t + 1))
    ]
    start, end = heads[0][q], heads[1][q]
    if not start or not end or start == end:
        return True
    columns, rows = view.codes.shape[1], view.codes.shape[0]
    down, right = step_of(number, direction, "0", "")
    row, column = (start[0] // columns + down) % rows, (start[0] % columns + right) % columns
    return end == [row * columns + column]


def step_of(ahead: str, way: str, aside: str, side: str) -> tuple[int, int]:
    """Return the step (rows, columns) of `ahead` cells one way, and `aside` cells to a side."""
    directions = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    steps = int(ahead) * np.array(directions[way])
    if side:
        steps = steps + int(aside) * np.array(directions[side])
    return int(steps[0]), int(steps[1])


def named_cells(game: Game, action: int) -> list[tuple[int, int]]:
    """Return the two cells, (row, column), of a name like `a1-b2`."""
    names = re.split("[-x]", game.action_names[action])
    return [(game.layout.rows - int(name[1:]), ord(name[0]) - ord("a")) for name in names]


def moves_piece(view: View, start: tuple[int, int], end: tuple[int, int], takes: bool) -> bool:
    """Return whether the mover's piece moves from `start` to `end`, with a capture if `takes`."""
    before, after = view.owners, view.at(view.t + 1).owners
    moved = before[start] == view.mover and after[end] == view.mover
    return bool(moved and (before[end] == 1 - view.mover or not takes))


# Texts about effects of actions.
PLACES = re.compile("(?:a disc|a mark|a stone) on row `(.*)`, column `(.*)`")
DROPS = re.compile("a disc into column `(.*)`")
RIDES = re.compile("(1) (up|right|down|left)")
STEPS = re.compile(
    r"(?:(White|Black|a jump|a capture): )?(\d) (up|down|left|right)(?:, (\d) (left|right))?"
)
EITHER = re.compile("1 (up|down), 1 left or 1 right")
PASSES = "pass, legal when nothing else is"
SWAPS = "swap"


def check_action(view: View, text: str) -> None:
    """Check that the played action has the effect that the page describes."""
    if text == PASSES:
        assert np.array_equal(view.owners, view.at(view.t + 1).owners)
        assert view.trajectory.legal[view.i, view.t].sum() == 1
    elif text == SWAPS:
        (old,), (new,) = (np.argwhere(v.owners != -1) for v in (view, view.at(view.t + 1)))
        assert view.t == view.mover == 1
        assert new.tolist() == old[::-1].tolist()
        assert view.at(2).owners[tuple(new)] == 1
    elif match := PLACES.fullmatch(text):
        assert fills_cell(view, *match.groups())
    elif match := DROPS.fullmatch(text):
        assert drops_disc(view, *match.groups())
    else:
        if view.game.name not in PROVEN and not STEPS.fullmatch(text):
            pytest.skip(f"no function for {text!r}")
        assert STEPS.fullmatch(text) or EITHER.fullmatch(text), f"unknown action text {text!r}"
        assert moves_piece(view, *named_cells(view.game, view.action), takes="capture" in text)


def check_step(game: Game, actions: range, text: str) -> None:
    """Check the steps of all the actions of a row, legal or not."""
    starts = [named_cells(game, action)[0] for action in actions]
    for action in actions:
        (row, column), (end_row, end_column) = named_cells(game, action)
        step = end_row - row, end_column - column
        if match := EITHER.fullmatch(text):
            assert step in [step_of("1", match[1], "1", side) for side in ("left", "right")]
        elif match := STEPS.fullmatch(text):
            assert step == step_of(match[2], match[3], match[4] or "", match[5] or "")
            assert ("x" in game.action_names[action]) == (match[1] == "a capture")
            assert starts == sorted(starts)
        assert game.layout.moves[action] == tuple(
            r * game.layout.columns + c for r, c in named_cells(game, action)
        )


# Conditions of rewards and of ends


def has_line(view: View, q: int) -> bool:
    """Return whether player `q` has a line."""
    own = view.owners == q
    length = view.game.params.get("connect") or view.game.params["line"]
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row, column in np.argwhere(own):
            run = [(row + k * dr, column + k * dc) for k in range(length)]
            inside = all(0 <= r < own.shape[0] and 0 <= c < own.shape[1] for r, c in run)
            if inside and all(own[cell] for cell in run):
                return True
    return False


def any_line(view: View) -> bool:
    """Return whether a player has a line."""
    return has_line(view, 0) or has_line(view, 1)


def full_board(view: View) -> bool:
    """Return whether every cell has a piece."""
    return bool((view.codes != 0).all())


def can_place(view: View, q: int) -> bool:
    """Return whether player `q` of Othello can turn over a disc."""
    owners = np.pad(view.owners, 1, constant_values=-1)
    for row, column in np.argwhere(view.owners == -1) + 1:
        for dr, dc in np.argwhere(np.ones((3, 3))) - 1:
            k = 1
            while owners[row + k * dr, column + k * dc] == 1 - q and (dr or dc):
                k += 1
            if k > 1 and owners[row + k * dr, column + k * dc] == q:
                return True
    return False


def edges_connected(view: View, q: int) -> bool:
    """Return whether player `q` of Hex has connected both own edges."""
    black = piece_name(view, q) == "black"
    plane = connected(view, 1, "north") if black else connected(view, 2, "west")
    last = plane[-2, 1:-1] if black else plane[1:-1, -2]
    return bool(last.any())


def has_group_without_liberties(view: View, q: int) -> bool:
    """Return whether player `q` has a group without liberties."""
    own, todo = view.owners == q, view.owners == q
    while todo.any():
        stone = np.zeros_like(own)
        stone[tuple(np.argwhere(todo)[0])] = True
        group = spread(stone, own, DIRECTIONS)
        todo &= ~group
        if not (spread(group, ~own & (view.owners == -1), DIRECTIONS) & (view.owners == -1)).any():
            return True
    return False


def wins_by_capture(view: View, q: int) -> bool:
    """Return whether player `q` captured a group, or the opponent only killed its own."""
    mover = (view.t - 1) % 2
    return (
        has_group_without_liberties(view, 1 - mover)
        if mover == q
        else not has_group_without_liberties(view, q)
    )


def on_far_row(view: View, q: int) -> bool:
    """Return whether White has a piece on the top row, or Black on the bottom row."""
    return bool((view.owners[0 if q == 0 else -1] == q).any())


def without_pieces(view: View, q: int) -> bool:
    """Return whether player `q` has no pieces."""
    return not (view.owners == q).any()


def has_no_step(view: View, q: int) -> bool:
    """Return whether player `q` is to move and has no legal step."""
    ahead = -1 if q == 0 else 1
    for row, column in np.argwhere(view.owners == q):
        for right in (-1, 0, 1):
            r, c = row + ahead, column + right
            if 0 <= r < view.codes.shape[0] and 0 <= c < view.codes.shape[1]:
                free = view.codes[r, c] == 0 or (right and view.owners[r, c] == 1 - q)
                if free:
                    return False
    return view.t % 2 == q


def can_step(view: View, code: int, ahead: tuple[int, ...]) -> bool:
    """Return whether the wolf (code 1) or a sheep (code 2) can step to a row of `ahead`."""
    codes = np.pad(view.codes, 1, constant_values=9)
    steps = [(down, right) for down in ahead for right in (-1, 1)]
    return any(
        codes[r + dr, c + dc] == 0 for r, c in np.argwhere(codes == code) for dr, dc in steps
    )


def wolf_has_passed(view: View) -> bool:
    """Return whether no sheep is below the wolf."""
    (wolf,), sheep = np.argwhere(view.codes == 1), np.argwhere(view.codes == 2)
    return bool((sheep[:, 0] <= wolf[0]).all())


def wolf_won(view: View) -> bool:
    """Return whether the wolf can move, and has passed the sheep or they cannot move."""
    return can_step(view, 1, (-1, 1)) and (wolf_has_passed(view) or not can_step(view, 2, (-1,)))


def crashed(view: View, q: int) -> bool:
    """Return whether rider `q` crashed in the last step."""
    if view.t == 0:
        return False
    last = view.at(view.t - 1)
    ends = [tuple(last.s.head[r] + DIRECTIONS[last.action[r]]) for r in range(2)]
    row, column = ends[q]
    inside = 0 <= row < last.codes.shape[0] and 0 <= column < last.codes.shape[1]
    return bool(not inside or last.codes[row, column] != 0 or ends[0] == ends[1])


def opponent_difference(view: View) -> int:
    """Return the number of the opponents of a goose that are behind it, minus those ahead of it."""
    scores = [(0, 0)] * view.game.num_players
    for t in range(1, view.t + 1):
        for q, body in enumerate(geese(view.at(t).s)):
            if body:
                scores[q] = (t, len(body))
    own = scores[view.p]
    return sum(own > other for other in scores) - sum(own < other for other in scores)


def disc_difference(view: View) -> int:
    """Return the player's discs minus the opponent's."""
    return int((view.owners == view.p).sum() - (view.owners == 1 - view.p).sum())


def capture_difference(view: View) -> int:
    """Return the player's captures minus the opponent's."""
    return captures(view, view.p) - captures(view, 1 - view.p)


PIECES = "(?:pawn|knight)"
RETURN_CONDITIONS: dict[str, Callable[..., bool]] = {
    r"the player's goal is (\d+)": lambda v, goal: sheet_goals(v) == (int(goal),),
    "(?:the player )?has a line": lambda v: has_line(v, v.p),
    "the opponent has a line": lambda v: has_line(v, 1 - v.p),
    "the board is full, without a line": lambda v: full_board(v) and not any_line(v),
    "more discs than the opponent": lambda v: disc_difference(v) > 0,
    "fewer discs than the opponent": lambda v: disc_difference(v) < 0,
    "as many discs as the opponent": lambda v: disc_difference(v) == 0,
    "the player has connected both own edges": lambda v: edges_connected(v, v.p),
    "the opponent has connected both edges": lambda v: edges_connected(v, 1 - v.p),
    "captured a group, or the opponent left an own group without liberties and captured nothing": (
        lambda v: wins_by_capture(v, v.p)
    ),
    "lost a group, or left an own group without liberties and captured nothing": (
        lambda v: wins_by_capture(v, 1 - v.p)
    ),
    f"has a {PIECES} on the far row, or the opponent has no {PIECES}s": (
        lambda v: on_far_row(v, v.p) or without_pieces(v, 1 - v.p)
    ),
    f"the opponent has a {PIECES} on the far row, or the player has no {PIECES}s": (
        lambda v: on_far_row(v, 1 - v.p) or without_pieces(v, v.p)
    ),
    "has a pawn on the far row, or the opponent is to move and cannot": (
        lambda v: on_far_row(v, v.p) or has_no_step(v, 1 - v.p)
    ),
    "the opponent has a pawn on the far row, or the player is to move and cannot": (
        lambda v: on_far_row(v, 1 - v.p) or has_no_step(v, v.p)
    ),
    "the sheep: the wolf cannot move; "
    "the wolf: it can, but no sheep is below its row or none can move": (
        lambda v: wolf_won(v) if v.p == 0 else not can_step(v, 1, (-1, 1))
    ),
    "the other side has won": (lambda v: wolf_won(v) if v.p == 1 else not can_step(v, 1, (-1, 1))),
    "more captures than the opponent": lambda v: capture_difference(v) > 0,
    "fewer captures than the opponent": lambda v: capture_difference(v) < 0,
    "as many captures as the opponent": lambda v: capture_difference(v) == 0,
    "only the opponent has crashed": lambda v: crashed(v, 1 - v.p) and not crashed(v, v.p),
    "only this player has crashed": lambda v: crashed(v, v.p) and not crashed(v, 1 - v.p),
    "both have crashed": lambda v: crashed(v, 0) and crashed(v, 1),
    r"(\d) more opponents? behind than ahead": lambda v, n: opponent_difference(v) == int(n),
    r"(\d) more opponents? ahead than behind": lambda v, n: opponent_difference(v) == -int(n),
    "as many opponents behind as ahead": lambda v: opponent_difference(v) == 0,
}
END_CONDITIONS: dict[str, Callable[..., bool]] = {
    "a player has a line": any_line,
    "the board is full": full_board,
    "neither player can place a disc": lambda v: not can_place(v, 0) and not can_place(v, 1),
    "a player has connected both edges": lambda v: edges_connected(v, 0) or edges_connected(v, 1),
    "a group has no liberties": lambda v: (
        has_group_without_liberties(v, 0) or has_group_without_liberties(v, 1)
    ),
    f"a {PIECES} is on its far row": lambda v: on_far_row(v, 0) or on_far_row(v, 1),
    f"a side has no {PIECES}s": lambda v: without_pieces(v, 0) or without_pieces(v, 1),
    "the side to move cannot move": lambda v: has_no_step(v, v.t % 2),
    "the wolf cannot move": lambda v: not can_step(v, 1, (-1, 1)),
    "no sheep is on a row below the wolf's": wolf_has_passed,
    "no sheep can move": lambda v: not can_step(v, 2, (-1,)),
    r"(\d+) (?:plies|steps) have been played": lambda v, n: v.t == int(n),
    "a rider has crashed": lambda v: crashed(v, 0) or crashed(v, 1),
    "at most one goose is alive": lambda v: sum(map(bool, geese(v.s))) <= 1,
}


def find_meaning(
    meanings: dict[str, Callable[..., Any]], text: str, name: str
) -> Callable[[View], Any]:
    """Return the function of a text, which must match exactly one key.

    Without a match, skip the test for games that are not in PROVEN.
    """
    matches = [(match, f) for key, f in meanings.items() if (match := re.fullmatch(key, text))]
    if not matches and name not in PROVEN:
        pytest.skip(f"no function for {text!r}")
    assert len(matches) == 1, f"{text!r} fits {len(matches)} of the known texts, expected 1"
    match, function = matches[0]
    return lambda view: function(view, *match.groups())


# The pages


@cache
def page(name: str) -> str:
    """Return the text of the page of a game."""
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@cache
def tables(name: str) -> dict[str, list[list[str]]]:
    """Return the rows of each table, without the head, by the heading above it."""
    return pages.tables(page(name), name)


def sections(name: str, kind: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the spec and the rows of tables headed "Planes", "Planes of `spec`" and so on."""
    for heading, rows in tables(name).items():
        if heading == kind:
            yield name, rows
        elif match := re.fullmatch(f"{kind} of `(.*)`", heading):
            yield match[1], rows


def test_there_is_a_page_for_each_game_and_the_index_lists_it() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == {*NAMES, "README"}
    for name in NAMES:
        assert f"[{name}.md]({name}.md)" in page("README")


def test_the_tables_are_those_that_the_code_writes() -> None:
    command = "python -m ludoteca.evaluate.new_game.pages"
    for path, text in generated_pages(PAGES):
        assert path.read_text(encoding="utf-8") == text, f"run {command}"


def test_tables_are_written_from_the_game() -> None:
    wrong = page("hex").replace("| players | 2 |", "| players | 3 |").replace("`a11` to", "`a` to")
    wrong = wrong.replace("| `swap` | `False` |", "| `swop` | `True` |")
    assert wrong != page("hex")
    assert write_tables(wrong, "hex") == page("hex")
    index = page("README").replace("| Hex |", "| Hexagons |")
    assert index != page("README")
    assert write_index(index) == page("README")
    with pytest.raises(
        ValueError, match="the page of hex must have <!-- tables --> and <!-- end -->"
    ):
        write_tables("# Hex\n", "hex")


@all_pages
def test_page_has_a_title_an_image_and_all_tables(name: str) -> None:
    game = make_game(name)
    image = f"../images/{name}.png"
    assert page(name).startswith(f"# {game.title}\n\n![{game.title}]({image})\n")
    assert (PAGES / image).is_file()
    expected = [
        "Facts",
        "Parameters",
        "Actions",
        "Planes",
        "Rewards",
        "End",
        "Other parameter values",
    ]
    assert [heading for heading in tables(name) if " of " not in heading] == expected


@all_pages
def test_other_parameters_are_those_of_the_game(name: str) -> None:
    for spec, *_ in tables(name)["Other parameter values"]:
        assert make_game(spec.strip("`")).name == name


@all_pages
def test_action_numbers_and_names(name: str) -> None:
    for spec, rows in sections(name, "Actions"):
        game = make_game(spec)
        assert [a for row in rows for a in action_numbers(row[0])] == list(range(game.num_actions))
        for row in rows:
            actions = action_numbers(row[0])
            if game.layout.moves and row[2] != PASSES:
                check_step(game, actions, row[2])


@played_pages
def test_actions_have_the_effects_on_the_page(name: str) -> None:
    for spec, rows in sections(name, "Actions"):
        game, seen = make_game(spec), set()
        games = 8 if spec == name else 60
        trajectory = recorded(spec, games)
        texts = [row[2] for row in rows for _ in action_numbers(row[0])]
        sample = [
            View(game, trajectory, i, t) for i in range(games) for t in range(trajectory.plies[i])
        ]
        for view in sample[:: 1 + len(sample) // 400]:
            if game.simultaneous:
                for q, action in enumerate(view.action):
                    match = RIDES.fullmatch(texts[action])
                    assert match
                    assert moves_head(view, q, *match.groups())
                    seen.add(texts[action])
            else:
                check_action(view, texts[view.action])
                seen.add(texts[view.action])
        assert seen == set(texts) - RARE_ACTIONS.get(name, set())


def test_action_numbers_of_sheep_and_wolf_follow_the_formula_on_its_page() -> None:
    game = make_game("sheep_and_wolf")
    assert "Action `7 * row + column` moves up" in page("sheep_and_wolf")
    assert "action `49 + 7 * row + column` moves down" in page("sheep_and_wolf")
    for row in range(7):
        for column in range(7):
            square = {(r, c) for r in (row, row + 1) for c in (column, column + 1)}
            up, down = (named_cells(game, k + 7 * row + column) for k in (0, 49))
            assert up == down[::-1]
            assert up[0][0] == row + 1
            assert set(up) < square


@played_pages
def test_planes(name: str) -> None:
    for spec, rows in sections(name, "Planes"):
        game = make_game(spec)
        # Tables of other parameters may list only the planes that differ, which are the last ones.
        last = game.observation_shape[0]
        assert [int(row[0]) for row in rows] == list(range(last - len(rows), last))
        assert len(rows) == last or spec != name
        shown = [
            (int(number), text, find_meaning(PLANE_MEANINGS, text, name)) for number, text in rows
        ]
        for view in views_of(spec, 3 if spec == name else 1):
            seen = np.zeros(game.observation_shape, np.int8)
            game.observe(view.s, view.p, seen)
            for plane, text, expected in shown:
                assert np.array_equal(seen[plane], expected(view)), f"{text}, ply {view.t}"


@played_pages
def test_rewards(name: str) -> None:
    rows = {
        text: (float(Fraction(value.strip("`"))), find_meaning(RETURN_CONDITIONS, text, name))
        for value, text in tables(name)["Rewards"]
    }
    seen = set()
    for view in finals(name):
        for p, reward in enumerate(view.trajectory.returns[view.i, view.t]):
            true = [text for text, (_, holds) in rows.items() if holds(view.of(p))]
            assert len(true) == 1, f"game {view.i}, player {p}, reward {reward}: {true}"
            assert abs(rows[true[0]][0] - reward) < 1e-9, (
                f"game {view.i}, player {p}, reward {reward}"
            )
            seen.add(true[0])
    assert seen == set(rows)


@played_pages
def test_end(name: str) -> None:
    meanings = {text: find_meaning(END_CONDITIONS, text, name) for (text,) in tables(name)["End"]}
    assert recorded(name).plies.max() <= make_game(name).max_plies
    sample = [view for view in views_of(name, 4) if view.p == 0]
    seen = set()
    for view in [*sample, *finals(name)]:
        true = {text for text in meanings if meanings[text](view)}
        assert bool(true) == view.game.is_terminal(view.s), f"game {view.i}, ply {view.t}: {true}"
        seen |= true
    assert seen == set(meanings) - RARE_ENDS.get(name, set())


def test_hungry_geese_ends_after_max_plies_steps() -> None:
    game = make_game("hungry_geese")
    s = game.new(seed=3)
    s.steps = game.max_plies - 2
    with np.errstate(over="ignore"):
        for over in (False, True):
            assert not game.is_terminal(s)
            game.step(s, [0, 0, 0, 0])
            assert game.is_terminal(s) == over
    assert (s.length > 0).sum() > 1


@all_pages
def test_the_module_docstring_of_a_game_draws_its_cell_numbers(name: str) -> None:
    document = importlib.import_module(find_factory(name).__module__).__doc__ or ""
    assert re.search(r"^ {4,}.*\d +\d+ +\d+", document, flags=re.MULTILINE)
