"""Shortening and wrapping of text to a width, estimated from the mean width of characters.

The font size `size` and the `width` of a line are in pixels.
"""

CHARACTER_WIDTH = 0.56  # mean width of a character, as a fraction of the font size


def shorten(text: str, size: float, width: float) -> str:
    """Return a text, cut and ended with dots if it is likely to be wider than `width`."""
    length = int(width / (CHARACTER_WIDTH * size))
    return text if len(text) <= length else text[: max(length - 2, 1)].rstrip() + ".."


def wrap(text: str, size: float, width: float) -> list[str]:
    """Return the lines of a text; words that are longer than a line are cut."""
    length = max(int(width / (CHARACTER_WIDTH * size)), 1)
    lines = [""]
    for word in text.split():
        while len(word) > length:
            lines.append(word[:length])
            word = word[length:]
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= length:
            lines[-1] = joined
        else:
            lines.append(word)
    return [line for line in lines if line]
