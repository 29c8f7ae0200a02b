"""Messages and matches of General Game Playing, for tests of players."""

import random
import urllib.error
import urllib.request
from pathlib import Path

from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.evaluate.gdl.machine import RuleMachine
from ludoteca.evaluate.protocols.ggp_manager import (
    RemotePlayer,
    one_line_rules,
    play_managed_match,
)


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
    return f"( START {match} {role} ( {one_line_rules(sheet.read_text())} ) {clocks})"


def play_whole_match(
    sheet: Path, urls: list[str], match: str = "test.1", clocks: str = "30 10"
) -> tuple[tuple[int, ...], tuple[tuple[str, ...], ...]]:
    """Play a match to its end; return the goals and all joint moves.

    Every move is checked by the rules.
    """
    machine = RuleMachine(compile_sheet(sheet, use_cache=False))
    players = [RemotePlayer(url, *map(int, clocks.split())) for url in urls]
    seats = tuple(range(len(urls)))
    rules = one_line_rules(sheet.read_text())
    result = play_managed_match(machine, rules, players, seats, match, random.Random(0), 1000)
    assert result.faults == ()
    return result.goals, result.moves
