"""Tests of the check of the language, `language.py`."""

import pytest
from language import violations


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("the agent goes on with the next game", "goes on"),
        ('"""Tell whether a move is legal."""', "Tell"),
        ("the words tell(s) which", "tell"),
        ("optimizer.tell_final(scores)", "tell"),
        ("x = config.warm_up_steps", "warm_up"),
        ("def test_it_goes_on_exactly():", "goes_on"),
        ("for lane in lanes:", "lane"),
        ("raise ValueError('seven is no number')", "is no number"),
        ("class Config:", "Config"),
    ],
)
def test_banned_words_are_found_with_their_line(line, word):
    messages = list(violations("file.py", f"first line\n{line}\n"))
    assert any("file.py:2: " in text and repr(word) in text for text in messages)


@pytest.mark.parametrize(
    "line",
    [
        "class DQNConfig:",
        "planes, masks = observe(state)",
        "there is no draw",
        "a storyteller",
        "optimizer.tell(scores)",
        "def tell(self):",
    ],
)
def test_terms_of_the_field_are_not_found(line):
    assert not list(violations("file.py", line))
