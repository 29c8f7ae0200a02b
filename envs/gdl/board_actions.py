"""Actions on a board: moves that name a cell, a column, or where a piece starts and ends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.boards import Board
from ludoteca.envs.gdl.dynamics import Dynamics
from ludoteca.envs.gdl.network import Network, Program
from ludoteca.envs.gdl.rule_calls import InterpretedProgram, with_legal_order, with_move_order
from ludoteca.envs.gdl.term_shapes import group_terms

MIN_PLACED = 1 / 2  # of the cells, if actions are numbered like cells
Kind = Literal["cells", "columns", "moves", "none"]


@dataclass(frozen=True)
class BoardActions:
    """Order of the actions of a game on its board, see `Layout`.

    Attributes:
        kind: `"cells"`: action `row * columns + column` is a move to that cell (`cell_actions`);
            `"columns"`: action `c` is a move in column `c`; `"moves"`: the first actions are moves
            from a cell to a cell, or to one cell; `"none"`: in the order of their terms.
        terms: the actions. With `"cells"`, cells that no move names have actions that are never
            legal.
        moves: the cells where each of the first actions starts and ends; empty unless `kind` is
            `"moves"`.
    """

    kind: Kind
    terms: tuple[str, ...]
    moves: tuple[tuple[int, int], ...] = ()


def arrange_actions(terms: Sequence[str], board: Board | None, has_stacks: bool) -> BoardActions:
    """Return the order of actions.

    Args:
        terms: the actions, sorted.
        board: the board, if there is one.
        has_stacks: whether the pieces of each column always lie on each other.
    """
    if board is None:
        return BoardActions("none", tuple(terms))
    cells: dict[str, tuple[int, int]] = {}
    columns: dict[str, int] = {}
    placing = []
    for group in group_terms(terms):
        places = board.places_in(group)
        if len(places) == 1:
            placing.append(group)
        for number, constants in zip(group.numbers, group.constants, strict=True):
            if places:
                ends = board.cell(constants, places[0]), board.cell(constants, places[-1])
                cells[terms[number]] = ends
            elif group.size == 1 and set(group.values(0)) == set(board.column_names):
                columns[terms[number]] = board.column_names.index(constants[0])
    if has_stacks and not cells and len(columns) == board.columns:
        ordered = sorted(columns, key=lambda term: columns[term])
        return BoardActions("columns", (*ordered, *(t for t in terms if t not in columns)))
    num_cells = board.rows * board.columns
    one_each = len(placing) == 1 and placing[0].size == (2 if board.row_names else 1)
    if one_each and MIN_PLACED * num_cells <= len(cells) == len(placing[0].numbers):
        place = board.places_in(placing[0])[0]
        names = []
        for cell in range(num_cells):
            column, row = board.coordinates(cell)
            both = (column, row) if place.row is None or place.column < place.row else (row, column)
            names.append(placing[0].text(both[: placing[0].size]))
        return BoardActions("cells", (*names, *(term for term in terms if term not in cells)))
    if not cells:
        return BoardActions("none", tuple(terms))
    ordered = [term for term in terms if term in cells]
    others = (term for term in terms if term not in cells)
    return BoardActions("moves", (*ordered, *others), tuple(cells[term] for term in ordered))


def reorder_moves(
    network: Network, dynamics: Dynamics, terms: Sequence[str]
) -> tuple[Network, Dynamics]:
    """Return the network and dynamics with the moves of each role in the order of `terms`.

    Moves that are not among the terms come last.
    """
    rank = {term: i for i, term in enumerate(terms)}
    ranks = np.array([rank.get(move, len(rank)) for move in network.moves])
    roles = np.repeat(np.arange(len(network.roles)), np.diff(network.move_start))
    order = np.lexsort((ranks, roles))  # stable
    if np.array_equal(order, np.arange(len(order))):
        return network, dynamics
    moves, fluents = len(order), len(network.fluents)
    phase1 = network.phase1
    if isinstance(phase1, InterpretedProgram):
        phase1 = with_legal_order(phase1, order)
    else:
        outputs = np.append(phase1.outputs[:moves][order], phase1.outputs[moves:])
        phase1 = replace(phase1, outputs=outputs)
    reordered = replace(
        network,
        moves=tuple(network.moves[m] for m in order),
        phase1=phase1,
        phase2=_with_inputs(network.phase2, fluents, order),
        phase3=_with_inputs(network.phase3, fluents, order),
    )
    games = replace(dynamics.random_games, waits=dynamics.random_games.waits[order])
    return reordered, replace(dynamics, waits=dynamics.waits[order], random_games=games)


def _with_inputs(program: Program, first: int, order: NDArray[np.int64]) -> Program:
    """Return a program whose inputs from `first` on are permuted: input i is the old `order[i]`."""
    if isinstance(program, InterpretedProgram):
        return with_move_order(program, order)
    slots = np.arange(program.num_slots, dtype=np.int32)
    slots[1 + first + order] = 1 + first + np.arange(len(order))
    gates = program.gates.copy()
    gates[:, 1:3] = 2 * slots[gates[:, 1:3] >> 1] + (gates[:, 1:3] & 1)
    outputs = 2 * slots[program.outputs >> 1] + (program.outputs & 1)
    return replace(program, gates=gates, outputs=outputs)
