"""Manager of General Game Playing (GGP): it plays matches between players over HTTP.

Players may be those of this package (`ludoteca ggp-player`) or other programs that speak the HTTP
protocol of GGP-Base (https://github.com/ggp-org/ggp-base).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from secrets import token_hex

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.parse import TOKEN, parse, show
from ludoteca.envs.gdl.rules import RANDOM
from ludoteca.evaluate.gdl.machine import StateMachine
from ludoteca.evaluate.protocols.ggp_agent import JointMove
from ludoteca.evaluate.protocols.ggp_client import INFO_SECONDS, Request, ask_all

# Seconds beyond the start clock and the play clock, for the network and busy machines.
START_GRACE, PLAY_GRACE = 20.0, 2.0
ABORT_SECONDS = 2.0


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
        ValueError: if the number of players is wrong, or the sheet has chance or is faulty.
        OSError: if a player does not start.
    """
    if RANDOM in machine.roles:
        raise ValueError(f"the sheet has the role {RANDOM}: there are no matches with chance")
    if len(players) != len(machine.roles):
        raise ValueError(
            f"expected {len(machine.roles)} players for the roles {', '.join(machine.roles)}, "
            f"got {len(players)}"
        )
    rng = random.Random(seed)
    for game in range(games):
        seats = tuple((role + game) % len(players) for role in range(len(players)))
        # Not from `seed`: a player ends a match by its name, so no other run may have the same.
        match = f"{name}.{token_hex(4)}.{game}"
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

    A missing or illegal move is replaced by a random one. If the match cannot be played to its end,
    it is aborted, but not for players that have refused it.

    Raises:
        ValueError: if the sheet is faulty: a role has no legal moves, or not exactly one goal.
        OSError: if a player does not start.
    """
    seated = [players[seat] for seat in seats]
    history: list[JointMove] = []
    faults: list[str] = []
    goals: tuple[int, ...] = ()
    machine.reset()
    started = seated
    try:
        answers = ask_all([_start(machine, rules, match, role, p) for role, p in enumerate(seated)])
        replies = list(zip(seated, answers, strict=True))
        started = [p for p, reply in replies if isinstance(reply, OSError) or _is_ready(reply)]
        for player, reply in replies:
            if isinstance(reply, OSError):
                raise reply
            if not _is_ready(reply):
                raise OSError(f"{player.url} did not start: it answered {reply!r:.200}")
        while not machine.is_terminal() and len(history) < max_plies:
            moves = []
            all_legal = _legal_moves(machine, len(history))
            play = f"( PLAY {match} {_joint(history)} )"
            answers = ask_all([Request(p.url, play, p.play_clock + PLAY_GRACE) for p in seated])
            for role, answer, legal in zip(machine.roles, answers, all_legal, strict=True):
                move = _read_move(answer)
                if move not in legal:
                    faults.append(f"ply {len(history)}, {role}: {answer!r:.200}")
                    move = rng.choice(legal)
                moves.append(move)
            machine.step(moves)
            history.append(tuple(moves))
        if machine.is_terminal():
            goals = _final_goals(machine)
    except BaseException:
        ask_all([Request(p.url, f"( ABORT {match} )", ABORT_SECONDS) for p in started])
        raise
    # The result does not depend on the answers.
    ask_all([Request(p.url, f"( STOP {match} {_joint(history)} )", INFO_SECONDS) for p in seated])
    return ManagedMatch(seats, goals, tuple(history), tuple(faults))


def _start(
    machine: StateMachine, rules: str, match: str, role: int, player: RemotePlayer
) -> Request:
    """Return the request that starts a match."""
    clocks = f"{player.start_clock} {player.play_clock}"
    message = f"( START {match} {machine.roles[role]} ( {rules} ) {clocks} )"
    return Request(player.url, message, player.start_clock + START_GRACE)


def _is_ready(answer: str) -> bool:
    return answer.lower() == "ready"


def _legal_moves(machine: StateMachine, ply: int) -> tuple[JointMove, ...]:
    """Return the legal moves of each role.

    Raises:
        ValueError: if a role has none.
    """
    all_legal = machine.legal()
    for role, legal in zip(machine.roles, all_legal, strict=True):
        if not legal:
            raise ValueError(f"{role} has no legal moves at ply {ply}, though the game is not over")
    return all_legal


def _final_goals(machine: StateMachine) -> tuple[int, ...]:
    """Return the goal of each role at the end of the game.

    Raises:
        ValueError: if a role does not have exactly one.
    """
    for role, goals in zip(machine.roles, machine.goals(), strict=True):
        if len(goals) != 1:
            raise ValueError(f"{role} has {len(goals)} goals {goals} at the end of the game")
    return tuple(goals[0] for goals in machine.goals())


def _joint(history: list[JointMove]) -> str:
    """Return the last joint move as the players get it."""
    return f"( {' '.join(history[-1])} )" if history else "NIL"


def _read_move(answer: str | OSError) -> str:
    """Return a move in this package's notation, or `""` if the answer is not a term."""
    if isinstance(answer, OSError):
        return ""
    try:
        (statement,) = parse(answer, "move")
    except (GDLError, ValueError):
        return ""
    return show(statement.term)
