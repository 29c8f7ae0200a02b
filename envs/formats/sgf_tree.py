"""Syntax of SGF, versions FF[1] to FF[4]: each game tree is read as the nodes of its main line.

Specification: https://www.red-bean.com/sgf/sgf4.html.
"""

import re
from dataclasses import dataclass, field

from ludoteca.envs.formats.record import RecordText

IDENTIFIER = re.compile(r"[A-Za-z]+")
VALUE = re.compile(r"\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)
SPACE = re.compile(r"\s*")
ESCAPE = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)  # an escaped line break is removed
START = re.compile(r"\(\s*;")


@dataclass(frozen=True)
class Property:
    """Property of a node.

    Attributes:
        values: its values as written, with escapes.
        offset: offset of its first value in the text.
    """

    values: tuple[str, ...]
    offset: int


Node = dict[str, Property]


@dataclass
class GameTree:
    """Main line of a game tree: of several continuations of a node, the first.

    Attributes:
        offset: offset of the tree in the text.
        nodes: the nodes; the first is the root.
        variations: number of variations that leave the main line.
    """

    offset: int
    nodes: list[Node] = field(default_factory=list)
    variations: int = 0


def parse_collection(source: RecordText) -> list[GameTree]:
    """Return the game trees of a text; text before the first one is ignored.

    Raises:
        ValueError: if it is not SGF; the message begins with the line and the column.
    """
    start = START.search(source.text)
    if start is None:
        raise source.error(0, "expected SGF, which begins with '(;'")
    trees, offset = [], start.start()
    while offset < len(source.text):
        tree, offset = _parse_tree(source, offset)
        trees.append(tree)
        offset = _after_space(source, offset)
    return trees


def simple_text(value: str) -> str:
    """Return a value of SGF's type SimpleText without escapes, in one line."""
    value = ESCAPE.sub(lambda match: "" if match[1][0] in "\r\n" else match[1], value)
    return re.sub(r"\s", " ", value).strip()


def escape(text: str) -> str:
    """Return a text as the value of a property, with escapes and without lone surrogates."""
    text = text.encode(errors="replace").decode()
    return re.sub(r"[\]\\:]", r"\\\g<0>", re.sub(r"\s", " ", text).strip())


def _parse_tree(source: RecordText, offset: int) -> tuple[GameTree, int]:
    """Return the tree that begins at an offset, and the offset after it."""
    text = source.text
    if text[offset] != "(":
        raise source.error(offset, f"expected '(;' or the end, got {text[offset]!r}")
    tree, start = GameTree(offset), offset
    is_main = True
    # For each open parenthesis: whether it is in the main line, and whether it has a subtree yet.
    stack: list[list[bool]] = []
    has_node = True  # whether a node has followed the last opening parenthesis
    while offset < len(text):
        character = text[offset]
        offset += 1
        if character == "(":
            if not has_node:
                raise source.error(offset - 1, "expected a node, which begins with ';', got '('")
            if stack:
                is_variation = stack[-1][1]
                tree.variations += is_main and is_variation
                is_main = is_main and not is_variation
                stack[-1][1] = True
            stack.append([is_main, False])
            has_node = False
        elif character == ")":
            if not has_node:
                raise source.error(offset - 1, "expected a node, which begins with ';', got ')'")
            stack.pop()
            if not stack:
                return tree, offset
            is_main = stack[-1][0]
        elif character == ";":
            if stack[-1][1]:
                raise source.error(offset - 1, "expected '(' or ')' after a variation, got a node")
            node, offset = _parse_node(source, offset)
            if is_main:
                tree.nodes.append(node)
            has_node = True
        else:
            raise source.error(offset - 1, f"expected ';', '(' or ')', got {character!r}")
        offset = _after_space(source, offset)
    raise source.error(start, "the game tree that begins here has no closing ')'")


def _parse_node(source: RecordText, offset: int) -> tuple[Node, int]:
    """Return the properties that begin at an offset, and the offset after them."""
    node: Node = {}
    while True:
        offset = _after_space(source, offset)
        identifier = IDENTIFIER.match(source.text, offset)
        if identifier is None:
            return node, offset
        # Before FF[4], lower-case letters were allowed and ignored: `Black` is `B`.
        name = re.sub("[a-z]", "", identifier[0])
        if not name:
            raise source.error(
                offset, f"{identifier[0]:.40} is not a property: expected capital letters"
            )
        if name in node:
            raise source.error(offset, f"property {name:.40} occurs twice in a node")
        offset = _after_space(source, identifier.end())
        first_offset, values = offset, []
        while value := VALUE.match(source.text, offset):
            values.append(value[1])
            offset = _after_space(source, value.end())
        if source.text[offset : offset + 1] == "[":
            raise source.error(offset, f"this value of {name:.40} has no closing ']'")
        if not values:
            raise source.error(offset, f"expected a value of {name:.40}, which begins with '['")
        node[name] = Property(tuple(values), first_offset)


def _after_space(source: RecordText, offset: int) -> int:
    """Return the offset of the first character from `offset` on that is not white space."""
    space = SPACE.match(source.text, offset)
    assert space is not None
    return space.end()
