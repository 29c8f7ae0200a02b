"""Small manager of General Game Playing: it plays matches with players over HTTP."""

import urllib.error
import urllib.request
from pathlib import Path

from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.evaluate.gdl.machine import RuleMachine


def ask(url: str, message: str, **headers: str) -> str:
    """Send a message as GGP-Base does, and return the reply; errors begin with the HTTP status."""
    request = urllib.request.Request(
        url, message.encode(), {"Sender": "GAMESERVER", "Content-Type": "text/acl"} | headers
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def start_message(sheet: Path, match: str, role: str, clocks: str = "30 10") -> str:
    """Return the message that starts a match, in one line as GGP-Base sends it."""
    lines = (line.partition(";")[0] for line in sheet.read_text().splitlines())
    return f"( START {match} {role} ( {' '.join(lines)} ) {clocks})"


def play_whole_match(
    sheet: Path, urls: list[str], match: str = "test.1", clocks: str = "30 10"
) -> tuple[tuple[int, ...], list[tuple[str, ...]]]:
    """Play a match to its end; return the goals and all joint moves.

    Every move is checked by the rules.
    """
    machine = RuleMachine(compile_sheet(sheet, use_cache=False))
    roles = machine.network.roles
    for role, url in zip(roles, urls, strict=True):
        answer = ask(url, start_message(sheet, match, role, clocks))
        assert answer == "READY", answer
    history: list[tuple[str, ...]] = []
    last = "NIL"
    while not machine.is_terminal():
        moves = tuple(ask(url, f"( PLAY {match} {last} )") for url in urls)
        for move, legal in zip(moves, machine.legal(), strict=True):
            assert move in legal, f"{move} is not among {legal}"
        machine.step(moves)
        history.append(moves)
        last = f"({' '.join(moves)} )"
    for url in urls:
        assert ask(url, f"( STOP {match} {last} )") == "DONE"
    return tuple(goals[0] for goals in machine.goals()), history
