"""Seeded mutations of texts, bytes and JSON, for `tests/fuzz`."""

import copy
import json
import random
import re
from typing import Any

# Values and pieces of text that parsers often handle wrongly.
NUMBERS = (
    0, 1, -1, 2, 3, 7, 255, 256, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64,
    -(2**63), 10**12, 10**400, 0.5, -0.0, 1e-300, 1e308, float("nan"), float("inf"), -float("inf"),
)  # fmt: skip
OTHERS = (
    None, True, False, "", "a", "0", "é\x00\n", "\ud800", "x" * 3000, [], {}, [[]], [0], [None],
    {"a": 1}, [[[[[[[[[[]]]]]]]]]],
)  # fmt: skip
PIECES = (
    ":", ",", "=", "none", "True", "nan", "inf", "1e999", "-1", "0", "00", "9" * 30, "9" * 5000,
    " ", "\n", "\x00", "é", "\ud800", "/", "..", "%s", "{}", "[", '"', "path=", "/dev/zero",
    "/dev/null", "/", "~", "a" * 300,
)  # fmt: skip


def mutate_text(rng: random.Random, text: str, more: tuple[str, ...] = PIECES) -> str:
    """Return a text with some characters removed, doubled, exchanged, or pieces put in."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 8))):
        k = rng.randrange(len(text) + 1)
        n = rng.choice((0, 1, 1, 2, 5, 20))
        part = rng.choice(
            ("", rng.choice(more), rng.choice(more), text[k : k + n] * 2, chr(rng.randrange(128)))
        )
        text = text[:k] + part + text[k + n :]
    return text


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with some of them changed, removed, put in, or cut off."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8, 30))):
        k = rng.randrange(len(content) + 1)
        kind = rng.randrange(6)
        if kind == 0 and k < len(content):
            content[k] ^= 1 << rng.randrange(8)
        elif kind == 1 and k < len(content):
            content[k] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind == 2:
            del content[k : k + rng.choice((1, 2, 8, 100))]
        elif kind == 3:
            content[k:k] = rng.randbytes(rng.choice((1, 2, 8, 100)))
        elif kind == 4:
            value = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1))
            size = rng.choice((2, 4, 8))
            content[k : k + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
        elif rng.random() < 0.2:
            del content[k:]
    return bytes(content)


def mutate_json(rng: random.Random, value: Any) -> Any:
    """Return a JSON value with some of its parts changed, removed, doubled or exchanged."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        container = _somewhere(rng, value)
        if not container:
            return rng.choice(NUMBERS + OTHERS)
        keys = list(container) if isinstance(container, dict) else range(len(container))
        key, kind = rng.choice(keys), rng.randrange(8)
        old = container[key]
        if kind == 0:
            del container[key]
        elif kind == 1 and isinstance(old, int):
            container[key] = old + rng.choice((-1, 1, 2, -old, 100))
        elif kind == 2:
            container[key] = [old]
        elif kind == 3:
            container[key] = container[rng.choice(keys)]
        elif kind == 4 and isinstance(old, str):
            container[key] = mutate_text(rng, old)
        elif kind == 5 and isinstance(container, list):
            container.insert(key, copy.deepcopy(old))
        else:
            container[key] = rng.choice(NUMBERS if kind % 2 else OTHERS)
    return value


def mutate_json_text(rng: random.Random, value: Any) -> str:
    """Return the text of a mutated JSON value; the text is sometimes mutated, too."""
    text = json.dumps(mutate_json(rng, value) if rng.random() < 0.85 else value)
    if rng.random() < 0.2:
        text = mutate_text(rng, text, (*PIECES, "[" * 2000, "{", "}", "]", "NaN", "null", "1e5"))
    return text


def _somewhere(rng: random.Random, value: Any) -> Any:
    """Return a random nonempty list or dictionary inside a value, or None if there is none."""
    container = value if isinstance(value, dict | list) and value else None
    while container and rng.random() < 0.8:
        inner = list(container.values()) if isinstance(container, dict) else container
        found = rng.choice(inner)
        if not (isinstance(found, dict | list) and found):
            break
        container = found
    return container


# Terms and literals of rule sheets, and pieces of text that break them.
GDL_PIECES = (
    "?x", "?player", "(not (true (cell ?x ?y x)))", "(distinct ?x ?y)", "(or (true a) (true b))",
    "(not (not (true a)))", "(true (step ?n))", "(does ?player noop)", "(does x (mark a 1))", "()",
    "(goal x 101)", "(goal x 50)", "(goal x ?n)", "(role ?r)", "(role random)", "(role third)",
    "(<= (next ?x) (true ?x))", "(<= (next (f ?x)) (true ?x))", "(<= (p ?x) (not (p ?x)))",
    "(<= (big ?a ?b ?c ?d ?e ?f) (row ?a) (row ?b) (row ?c) (row ?d) (row ?e) (row ?f))",
    "(<= terminal (not terminal))", "(init (f (f (f a))))", "(sees x ?y)", "(legal x)", "terminal",
    "(" * 300, ")" * 300, ";", "<=", "(<=)", "(", ")", "x" * 5000, "\0", "\u2028",
)  # fmt: skip


def mutate_sheet(rng: random.Random, text: str) -> str:
    """Return a rule sheet with statements, literals or terms removed, doubled or exchanged."""
    if rng.random() < 0.3:
        return mutate_text(rng, text, GDL_PIECES)
    parts = re.findall(r";[^\n]*|[()]|[^\s();]+", text)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        begin, end = _expression(parts, rng.randrange(len(parts)))
        other_begin, other_end = _expression(parts, rng.randrange(len(parts)))
        replacement = rng.choice(
            ([], parts[begin:end] * 2, parts[other_begin:other_end], [rng.choice(GDL_PIECES)])
        )
        parts[begin:end] = replacement
        if not parts:
            return ""
    return "\n".join(parts)


def _expression(parts: list[str], begin: int) -> tuple[int, int]:
    """Return the range of the expression that begins at a token: a word or a parenthesis."""
    depth = 0
    for end in range(begin, len(parts)):
        depth += (parts[end] == "(") - (parts[end] == ")")
        if depth <= 0:
            return begin, end + 1
    return begin, len(parts)
