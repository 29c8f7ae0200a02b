"""Calls of the command line in tests."""

from ludoteca.__main__ import main

# Arguments of a short match.
MATCH = ["match", "tictactoe", "--agents", "random", "greedy"]


def run(capsys, *arguments):
    """Run a command; return its exit status, its output on one line, and its errors."""
    try:
        status = main(list(arguments))
    except SystemExit as system_exit:
        status = system_exit.code
    captured = capsys.readouterr()
    return status, " ".join(captured.out.split()), captured.err
