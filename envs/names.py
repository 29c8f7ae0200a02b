"""Comparison of names that users type, and suggestions for unknown ones."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import takewhile

MIN_SIMILARITY = 0.6  # of a suggested name, as in difflib
ABBREVIATION_SIMILARITY = 0.65  # of a name and an abbreviation of it, at least
WORD_WEIGHT = 0.85  # the similarity to a single word of a name is multiplied by this


def plain_name(name: str) -> str:
    """Return a name in lower case, without hyphens, underscores and spaces.

    Names are compared in this form: `"Tic-Tac-Toe"`, `"tic_tac_toe"` and `"tictactoe"` are equal.
    """
    return "".join(c for c in name.lower() if c not in "-_ ")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion such as `" (did you mean 'hex'?)"`, or `""` if no name is similar.

    Args:
        name: the unknown name.
        known: the names to choose from.
    """
    ranked = [(_similarity(name, other), other) for other in known]
    best, nearest = max(ranked, key=lambda pair: pair[0], default=(0.0, ""))
    return f" (did you mean {nearest!r}?)" if best >= MIN_SIMILARITY else ""


def _similarity(name: str, other: str) -> float:
    """Return the similarity of two names, in [0, 1].

    A common prefix increases it as in the Jaro-Winkler similarity, by a tenth of the missing
    similarity for each of the first four characters. `name` is also compared with each word of
    `other`: `"sise"` is similar to `"board_size"`.
    """
    a, b = plain_name(name), plain_name(other)
    if not a or not b:
        return 0.0
    score = SequenceMatcher(None, a, b).ratio()
    common_prefix = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
    )
    score += 0.1 * min(common_prefix, 4) * (1 - score)
    if len(a) >= 3 and a[0] == b[0] and _abbreviates(a, b):
        score = max(score, ABBREVIATION_SIMILARITY)
    for word in other.replace("-", "_").split("_"):
        score = max(score, WORD_WEIGHT * SequenceMatcher(None, a, word.lower()).ratio())
    return score


def _abbreviates(short: str, long: str) -> bool:
    """Return whether the letters of `short` are a subsequence of those of `long`."""
    letters = iter(long)
    return all(letter in letters for letter in short)
