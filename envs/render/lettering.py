"""Fitting of text to a width, estimated from the mean width of letters."""

CHARACTER = 0.56  # mean width of a character, in font sizes


def fit(text: str, size: float, width: float) -> str:
    """Return a text, shortened with dots if it is likely to be wider than `width`."""
    room = int(width / (CHARACTER * size))
    return text if len(text) <= room else text[: max(room - 2, 1)].rstrip() + ".."


def wrap(text: str, size: float, width: float) -> list[str]:
    """Return the lines of a text; words that are longer than a line are cut."""
    room = max(int(width / (CHARACTER * size)), 1)
    lines = [""]
    for word in text.split():
        while len(word) > room:
            lines.append(word[:room])
            word = word[room:]
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= room:
            lines[-1] = joined
        else:
            lines.append(word)
    return [line for line in lines if line]
