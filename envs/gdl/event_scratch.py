"""Scratch memory of the event-driven evaluation: arrays in the slot of a thread (`scratch`)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.event_tables import EventTables
from ludoteca.envs.jit import kernel


class Scratch(NamedTuple):
    """Scratch memory of a thread; zeros are its initial value.

    Attributes:
        is_valid: whether a state has been evaluated. Shape `[1]`.
        fluents: fluents of the last state, words.
        joint: moves of the last state.
        outputs: its outputs, words.
        pending: whether each node is pending, words; zeros between evaluations.
        false_inputs: number of false inputs of each gate, 1 for other nodes. Shape `[N]`.
        values: value of each node, 0 or 1. Shape `[N]`.
        candidates: whether each gate that has a hub is a candidate, by its bit; words.
        is_lowered: whether the feedback of each segment had to become false; zeros between
            evaluations. Shape `[S]`.
        has_recent: whether the state before was evaluated fully. Shape `[1]`.
        recent: fluents of the last state that was evaluated fully, words.
        totals: number of changed fluents in evaluations by events, and their work. Shape `[2]`.
        slots: values of slots in the full evaluation.
    """

    is_valid: NDArray[np.int64]
    fluents: NDArray[np.uint64]
    joint: NDArray[np.int64]
    outputs: NDArray[np.uint64]
    pending: NDArray[np.uint64]
    false_inputs: NDArray[np.int16]
    values: NDArray[np.uint8]
    candidates: NDArray[np.uint64]
    is_lowered: NDArray[np.uint8]
    has_recent: NDArray[np.int64]
    recent: NDArray[np.uint64]
    totals: NDArray[np.int64]
    slots: NDArray[np.uint8]


def scratch_words(
    t: EventTables, num_fluents: int, num_roles: int, num_slots: int
) -> tuple[int, ...]:
    """Return the number of 64-bit words of each attribute of `Scratch`."""
    size = len(t.false_inputs)
    shorts, octets = -(-size // 4), -(-size // 8)
    return (
        1,
        -(-num_fluents // 64),
        num_roles,
        len(t.outputs),
        int(t.segments[-1, 1]),
        shorts,
        octets,
        int(t.hub_words[-1]),
        -(-len(t.segments) // 8),
        1,
        -(-num_fluents // 64),
        2,
        -(-num_slots // 8),
    )


@kernel
def view_scratch(memory: Any, start: int, words: Any) -> Scratch:
    """Return the scratch memory in the int64 array `memory`, from index `start` on.

    `words` are the lengths from `scratch_words`; arrays with smaller elements may be longer than N.
    """
    a = start
    b = a + words[0]
    c = b + words[1]
    d = c + words[2]
    e = d + words[3]
    f = e + words[4]
    g = f + words[5]
    h = g + words[6]
    i = h + words[7]
    j = i + words[8]
    k = j + words[9]
    m = k + words[10]
    n = m + words[11]
    return Scratch(
        memory[a:b],
        memory[b:c].view(np.uint64),
        memory[c:d],
        memory[d:e].view(np.uint64),
        memory[e:f].view(np.uint64),
        memory[f:g].view(np.int16),
        memory[g:h].view(np.uint8),
        memory[h:i].view(np.uint64),
        memory[i:j].view(np.uint8),
        memory[j:k],
        memory[k:m].view(np.uint64),
        memory[m:n],
        memory[n : n + words[12]].view(np.uint8),
    )
