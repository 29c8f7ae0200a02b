"""Calls of the command line in tests."""

from ludoteca.__main__ import main

MATCH = ["match", "tictactoe", "--agents", "random", "greedy"]


def run(capsys, *arguments):
    """Run the command; return its exit status and what it printed, on one line."""
    try:
        status = main(list(arguments))
    except SystemExit as end:
        status = end.code
    captured = capsys.readouterr()
    return status, " ".join(captured.out.split()), captured.err
