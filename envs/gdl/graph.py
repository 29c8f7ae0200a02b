"""Directed graphs: reachable nodes, reversed edges, strongly connected components."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reachable(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Return the nodes `starts` and all nodes to which paths from them lead."""
    reached = set(starts)
    stack = list(reached)
    while stack:
        new = set(successors(stack.pop())) - reached
        reached |= new
        stack += new
    return reached


def reversed_edges(graph: Mapping[Node, Iterable[Node]]) -> dict[Node, set[Node]]:
    """Return the nodes that point to each node; nodes without such nodes are left out."""
    reverse: dict[Node, set[Node]] = {}
    for node, targets in graph.items():
        for target in targets:
            reverse.setdefault(target, set()).add(node)
    return reverse


def components(
    nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> list[list[Node]]:
    """Return the strongly connected components, each after the components to which it points.

    Tarjan, "Depth-first search and linear graph algorithms" (1972), section 4. Written without
    recursion, because paths may be longer than Python's stack.
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
