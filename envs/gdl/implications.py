"""Search for a step of a game that fulfills assumptions: a proof if there is none.

The gates of a network form a circuit. Its node 0 is constant false; the fluents, the moves and the
gates follow. A literal is 2 * node + inverted. Values are derived by implications, forward and
backward: through AND gates, and through groups of inputs, of which at most one is true, or exactly
one. A gate that is false while both of its inputs are unknown must be decided: its first input is
tried as false, and then as true (as in PODEM: Goel, "An implicit enumeration algorithm to generate
tests for combinational logic circuits", 1981).
"""

from typing import Any, NamedTuple

from ludoteca.envs.jit import kernel

UNKNOWN = 2
MAX_DEPTH = 64  # decisions on a path of the search
TRAIL, WORK = 0, 1  # indices of `Search.counts`


class Search(NamedTuple):
    """Values of a circuit of N nodes, with G groups of inputs.

    Attributes:
        inputs: two literals of each gate, -1 for nodes that are no gates. Shape `[N, 2]`.
        first_uses, users: the gates that use node v are
            `users[first_uses[v]:first_uses[v + 1]]`.
        first_members, members: the nodes of group g are
            `members[first_members[g]:first_members[g + 1]]`.
        first_groups, groups: the groups of input v are
            `groups[first_groups[v]:first_groups[v + 1]]`.
        at_most_one: whether at most one node of each group is true; else it is ignored. Shape
            `[G]`.
        exactly_one: whether exactly one is. Shape `[G]`.
        num_false: number of nodes of each group that are false. Shape `[G]`.
        values: 0, 1 or `UNKNOWN`. Shape `[N]`.
        trail: the nodes with values, in the order in which they got them. Shape `[N]`.
        counts: number of nodes on the trail, and number of implications so far.
    """

    inputs: Any
    first_uses: Any
    users: Any
    first_members: Any
    members: Any
    first_groups: Any
    groups: Any
    at_most_one: Any
    exactly_one: Any
    num_false: Any
    values: Any
    trail: Any
    counts: Any


@kernel
def is_impossible(
    search: Any, head: int, position: int, decisions: Any, max_decisions: int
) -> bool:
    """Return whether no values fulfill the assumptions on the trail, as far as can be proved.

    Args:
        search: the search.
        head: position on the trail of the first assumption that is not propagated yet.
        position: position on the trail of the first gate that may be decided.
        decisions: scratch memory: for each decision its position on the trail, the position of
            its gate, and the second literal to try, or -1. Shape `[MAX_DEPTH, 3]`.
        max_decisions: limit of the decisions, after which the answer is False.
    """
    depth = 0
    while True:
        if not propagate(search, head):
            while depth and decisions[depth - 1, 2] < 0:
                depth -= 1
            if not depth:
                return True
            head, position, literal = decisions[depth - 1]
            undo(search, head)
            decisions[depth - 1, 2] = -1
            assign(search, literal)
            continue
        while position < search.counts[TRAIL] and not is_open(search, search.trail[position]):
            position += 1
        if position == search.counts[TRAIL] or depth == MAX_DEPTH or max_decisions == 0:
            return False
        max_decisions -= 1
        head = search.counts[TRAIL]
        literal = search.inputs[search.trail[position], 0]
        decisions[depth, 0], decisions[depth, 1], decisions[depth, 2] = head, position, literal
        depth += 1
        assign(search, literal ^ 1)


@kernel
def is_open(search: Any, node: int) -> bool:
    """Return whether a node is a gate that is false while its inputs are unknown."""
    a, b = search.inputs[node, 0], search.inputs[node, 1]
    return (
        search.values[node] == 0
        and a >= 0
        and value_of(search, a) == UNKNOWN
        and value_of(search, b) == UNKNOWN
    )


@kernel
def propagate(search: Any, head: int) -> bool:
    """Derive all values that follow from those of the trail, from position `head` on.

    Returns:
        Whether they do not contradict each other.
    """
    counts, num_inputs = search.counts, len(search.first_groups) - 1
    while head < counts[TRAIL]:
        node = search.trail[head]
        head += 1
        counts[WORK] += 1
        if search.inputs[node, 0] >= 0 and not imply_inputs(search, node):
            return False
        for i in range(search.first_uses[node], search.first_uses[node + 1]):
            counts[WORK] += 1
            if not imply_gate(search, search.users[i]):
                return False
        if node < num_inputs:
            for i in range(search.first_groups[node], search.first_groups[node + 1]):
                if not imply_members(search, search.groups[i], node):
                    return False
    return True


@kernel
def imply_gate(search: Any, gate: int) -> bool:
    """Derive a gate from its inputs, or an input from the gate; return False if contradictory."""
    a, b = search.inputs[gate, 0], search.inputs[gate, 1]
    x, y = value_of(search, a), value_of(search, b)
    if x == 0 or y == 0:
        return assign(search, 2 * gate + 1)
    if x == 1 and y == 1:
        return assign(search, 2 * gate)
    return imply_inputs(search, gate)


@kernel
def imply_inputs(search: Any, gate: int) -> bool:
    """Derive the inputs of a gate from its value; return False if that contradicts a value."""
    a, b = search.inputs[gate, 0], search.inputs[gate, 1]
    if search.values[gate] == 1:
        return assign(search, a) and assign(search, b)
    if search.values[gate] == 0:
        if value_of(search, a) == 1:
            return assign(search, b ^ 1)
        if value_of(search, b) == 1:
            return assign(search, a ^ 1)
    return True


@kernel
def imply_members(search: Any, group: int, node: int) -> bool:
    """Derive values in a group from one of its nodes; return False if contradictory."""
    if not search.at_most_one[group]:
        return True
    begin, end = search.first_members[group], search.first_members[group + 1]
    if search.values[node] == 1:
        search.counts[WORK] += end - begin
        for i in range(begin, end):
            other = search.members[i]
            if other != node and not assign(search, 2 * other + 1):
                return False
    elif search.exactly_one[group]:
        if search.num_false[group] == end - begin:
            return False
        if search.num_false[group] == end - begin - 1:
            search.counts[WORK] += end - begin
            for i in range(begin, end):
                if search.values[search.members[i]] == UNKNOWN:
                    return assign(search, 2 * search.members[i])
    return True


@kernel
def value_of(search: Any, literal: int) -> int:
    """Return the value of a literal: 0, 1 or `UNKNOWN`."""
    value: int = search.values[literal >> 1]
    return value if value == UNKNOWN else value ^ (literal & 1)


@kernel
def assign(search: Any, literal: int) -> bool:
    """Make a literal true; return False if it is false."""
    node, value = literal >> 1, 1 - (literal & 1)
    if search.values[node] != UNKNOWN:
        return bool(search.values[node] == value)
    search.values[node] = value
    search.trail[search.counts[TRAIL]] = node
    search.counts[TRAIL] += 1
    if value == 0:
        count_false(search, node, 1)
    return True


@kernel
def undo(search: Any, length: int) -> None:
    """Make all nodes after the first `length` of the trail unknown."""
    for k in range(length, search.counts[TRAIL]):
        node = search.trail[k]
        if search.values[node] == 0:
            count_false(search, node, -1)
        search.values[node] = UNKNOWN
    search.counts[TRAIL] = length


@kernel
def count_false(search: Any, node: int, change: int) -> None:
    """Add `change` to the number of false nodes of each group of a node."""
    if node < len(search.first_groups) - 1:
        for i in range(search.first_groups[node], search.first_groups[node + 1]):
            search.num_false[search.groups[i]] += change
