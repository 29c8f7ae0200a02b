"""Manager of General Game Playing (GGP): it plays matches between players over HTTP.

Players may be those of this package (`ludoteca ggp-player`) or other programs that speak the HTTP
protocol of GGP-Base (https://github.com/ggp-org/ggp-base).
"""

import random
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.parse import TOKEN, parse, show
from ludoteca.evaluate.gdl.machine import StateMachine
from ludoteca.evaluate.protocols.ggp_agent import JointMove
from ludoteca.evaluate.protocols.ggp_messages import MessageError, split_list

# Seconds beyond the start clock and the play clock, for the network and busy machines.
START_GRACE, PLAY_GRACE = 20.0, 2.0
INFO_SECONDS = 10.0
CHANCE = "random"  # role of GDL-II without a player
MAX_ANSWER = 1 << 16  # bytes


@dataclass(frozen=True)
class RemotePlayer:
    """Player at a URL, with its own clocks.

    Attributes:
        url: address of the player.
        start_clock: seconds until it must be ready.
        play_clock: seconds for a move.
    """

    url: str
    start_clock: int
    play_clock: int


@dataclass(frozen=True)
class ManagedMatch:
    """Result of a match.

    Attributes:
        seats: for each role, the number of its player.
        goals: goal of each role; empty if the game exceeded the maximum number of plies.
        moves: the joint moves.
        faults: the answers that were replaced by random moves, and why.
    """

    seats: tuple[int, ...]
    goals: tuple[int, ...]
    moves: tuple[JointMove, ...]
    faults: tuple[str, ...]


def ask(url: str, message: str, seconds: float) -> str:
    """Send a message as GGP-Base does, and return the answer.

    Raises:
        OSError: if there is no answer in time, or its status is an error.
    """
    headers = {"Sender": "GAMESERVER", "Receiver": "PLAYER", "Content-Type": "text/acl"}
    request = urllib.request.Request(url, message.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            text: str = answer.read(MAX_ANSWER).decode(errors="replace").strip()
    except HTTPException as error:
        raise OSError(f"{url} sent no HTTP answer: {error!r}") from None
    return text


def player_name(url: str) -> str:
    """Return the name of a player as it answers `INFO`, or its URL if it answers otherwise.

    Raises:
        OSError: if there is no answer.
    """
    answer = ask(url, "( INFO )", INFO_SECONDS)
    try:
        pairs = [split_list(pair) for pair in split_list(answer)]
    except MessageError:
        return url
    return next((pair[1] for pair in pairs if len(pair) == 2 and pair[0].lower() == "name"), url)


def one_line_rules(text: str) -> str:
    """Return the text of a sheet in one line, without comments, as GGP-Base sends it."""
    words = (token.group() for token in TOKEN.finditer(text))
    return " ".join(word for word in words if word[0] != ";")


def play_series(
    machine: StateMachine,
    rules: str,
    players: Sequence[RemotePlayer],
    games: int,
    *,
    name: str = "ludoteca",
    seed: int = 0,
    max_plies: int = 1000,
) -> Iterator[ManagedMatch]:
    """Play matches in which the players change roles in turn, and yield their results.

    Args:
        machine: state machine of the sheet.
        rules: the sheet in one line, see `one_line_rules`.
        players: as many players as roles.
        games: number of matches.
        name: beginning of the names of the matches.
        seed: seed of the moves that replace missing ones.
        max_plies: joint moves after which a match is stopped.

    Raises:
        ValueError: if the number of players is wrong, or the sheet has chance.
        OSError: if a player does not start.
    """
    if CHANCE in machine.roles:
        raise ValueError(f"the sheet has the role {CHANCE}: there are no matches with chance")
    if len(players) != len(machine.roles):
        raise ValueError(
            f"expected {len(machine.roles)} players for the roles {', '.join(machine.roles)}, "
            f"got {len(players)}"
        )
    rng = random.Random(seed)
    for game in range(games):
        seats = tuple((role + game) % len(players) for role in range(len(players)))
        match = f"{name}.{rng.getrandbits(32):08x}.{game}"
        yield play_managed_match(machine, rules, players, seats, match, rng, max_plies)


def play_managed_match(
    machine: StateMachine,
    rules: str,
    players: Sequence[RemotePlayer],
    seats: tuple[int, ...],
    match: str,
    rng: random.Random,
    max_plies: int,
) -> ManagedMatch:
    """Play one match, in which player `seats[r]` has role r; for other arguments see `play_series`.

    A missing or illegal move is replaced by a random one.

    Raises:
        OSError: if a player does not start.
    """
    seated = [players[seat] for seat in seats]
    history: list[JointMove] = []
    faults: list[str] = []
    machine.reset()

    def start(role: int) -> str:
        player = seated[role]
        clocks = f"{player.start_clock} {player.play_clock}"
        message = f"( START {match} {machine.roles[role]} ( {rules} ) {clocks} )"
        return ask(player.url, message, player.start_clock + START_GRACE)

    def play(role: int) -> str:
        player, last = seated[role], _joint(history)
        seconds = player.play_clock + PLAY_GRACE
        return ask(player.url, f"( PLAY {match} {last} )", seconds)

    def stop(role: int) -> str:
        return ask(seated[role].url, f"( STOP {match} {_joint(history)} )", INFO_SECONDS)

    def abort(role: int) -> str:
        return ask(seated[role].url, f"( ABORT {match} )", INFO_SECONDS)

    with ThreadPoolExecutor(len(seats)) as threads:
        try:
            for player, answer in zip(
                seated, _all_answers(threads, start, len(seats)), strict=True
            ):
                if isinstance(answer, OSError):
                    raise answer
                if answer.lower() != "ready":
                    raise OSError(f"{player.url} did not start: it answered {answer!r:.200}")
            while not machine.is_terminal() and len(history) < max_plies:
                moves = []
                answers = _all_answers(threads, play, len(seats))
                for role, (answer, legal) in enumerate(zip(answers, machine.legal(), strict=True)):
                    move = _read_move(answer)
                    if move not in legal:
                        faults.append(f"ply {len(history)}, {machine.roles[role]}: {answer!r:.200}")
                        move = rng.choice(legal)
                    moves.append(move)
                machine.step(moves)
                history.append(tuple(moves))
        except BaseException:
            _all_answers(threads, abort, len(seats))
            raise
        _all_answers(threads, stop, len(seats))  # the result does not depend on the answers
    goals = tuple(goals[0] for goals in machine.goals()) if machine.is_terminal() else ()
    return ManagedMatch(seats, goals, tuple(history), tuple(faults))


def _joint(history: list[JointMove]) -> str:
    """Return the last joint move as the players get it."""
    return f"( {' '.join(history[-1])} )" if history else "NIL"


def _all_answers(
    threads: ThreadPoolExecutor, request: Callable[[int], str], count: int
) -> list[str | OSError]:
    """Return the answers to `request(role)` for all roles at the same time, errors included."""

    def answer(role: int) -> str | OSError:
        try:
            return request(role)
        except OSError as error:
            return error

    return list(threads.map(answer, range(count)))


def _read_move(answer: str | OSError) -> str:
    """Return a move in this package's notation, or `""` if the answer is not a term."""
    if isinstance(answer, OSError):
        return ""
    try:
        (statement,) = parse(answer, "move")
    except (GDLError, ValueError):
        return ""
    return show(statement.term)
