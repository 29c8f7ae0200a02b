"""Names typed by users: tolerant comparison, and suggestions for unknown ones."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import takewhile

CUTOFF = 0.6  # similarity from which a name is suggested, as in difflib
SHORTENED = 0.65  # similarity of a name and an abbreviation of it
WORD = 0.85  # factor of the similarity to one word of a name


def plain_name(name: str) -> str:
    """Return a name without case, hyphens, underscores and spaces.

    So `"Tic-Tac-Toe"`, `"tic_tac_toe"` and `"tictactoe"` are the same name.
    """
    return "".join(c for c in name.lower() if c not in "-_ ")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `" (did you mean 'hex'?)"` for the known name most similar to `name`, or `""`.

    Args:
        name: the unknown name.
        known: the names to choose from.
    """
    ranked = [(_similarity(name, other), other) for other in known]
    best, nearest = max(ranked, key=lambda pair: pair[0], default=(0.0, ""))
    return f" (did you mean {nearest!r}?)" if best >= CUTOFF else ""


def _similarity(name: str, other: str) -> float:
    """Return the similarity of two names, in [0, 1].

    A common beginning counts more, as in the Jaro-Winkler similarity. One word of the other name
    may match, too: `"sise"` is near `"board_size"`.
    """
    typed, whole = plain_name(name), plain_name(other)
    if not typed or not whole:
        return 0.0
    score = SequenceMatcher(None, typed, whole).ratio()
    common = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(typed, whole, strict=False))
    )
    score += 0.1 * min(common, 4) * (1 - score)
    if len(typed) >= 3 and typed[0] == whole[0] and _abbreviates(typed, whole):
        score = max(score, SHORTENED)
    for word in other.replace("-", "_").split("_"):
        score = max(score, WORD * SequenceMatcher(None, typed, word.lower()).ratio())
    return score


def _abbreviates(short: str, long: str) -> bool:
    """Return whether the letters of `short` come in `long` in the same order."""
    letters = iter(long)
    return all(letter in letters for letter in short)
