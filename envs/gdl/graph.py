"""Directed graphs: reachable nodes, and strongly connected components (Tarjan 1972)."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reachable(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Return the nodes that some path leads to, the starts included."""
    reached = set(starts)
    stack = list(reached)
    while stack:
        new = set(successors(stack.pop())) - reached
        reached |= new
        stack += new
    return reached


def components(
    nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> list[list[Node]]:
    """Return the strongly connected components, each after those that its nodes point to.

    The search does not recurse: paths may be longer than Python's stack.
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    path: list[Node] = []
    on_path: set[Node] = set()
    result = []
    for root in nodes:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        stack = [(root, iter(successors(root)))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    path.append(target)
                    on_path.add(target)
                    stack.append((target, iter(successors(target))))
                    break
                if target in on_path:
                    low[node] = min(low[node], index[target])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    start = path.index(node) if path[-1] is not node else len(path) - 1
                    component = path[start:]
                    del path[start:]
                    on_path.difference_update(component)
                    result.append(component[::-1])
    return result
