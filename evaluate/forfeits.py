"""Forfeits: games that agents gave up or could not finish, with the reasons."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Forfeit:
    """Forfeit of an agent in one seat of a game.

    Attributes:
        game: number of the game; the first game of a match has the number `first_game` of
            `play_match`, by default 0.
        agent: index of the agent in the match.
        seat: the forfeited seat.
        ply: number of plies played before the forfeit.
        kind: kind of the reason, such as `"timeout"`.
        message: the reason in words; may be empty.
    """

    game: int
    agent: int
    seat: int
    ply: int
    kind: str
    message: str


def forfeit_counts(forfeits: Sequence[Forfeit], agent: int) -> dict[str, int]:
    """Return the number of an agent's forfeits by kind, the most frequent first."""
    counts = Counter(sorted(forfeit.kind for forfeit in forfeits if forfeit.agent == agent))
    return dict(counts.most_common())


def forfeit_text(forfeits: Sequence[Forfeit], agent: int, name: str) -> str:
    """Return a line about the forfeits of an agent: counts and first reason; `""` without any."""
    of_agent = [forfeit for forfeit in forfeits if forfeit.agent == agent]
    if not of_agent:
        return ""
    counts = ", ".join(f"{count} {kind}" for kind, count in forfeit_counts(of_agent, agent).items())
    first = min(of_agent, key=lambda forfeit: (forfeit.game, forfeit.ply, forfeit.seat))
    location = f"game {first.game}, seat {first.seat}, ply {first.ply}"
    reason = f": {first.message}" if first.message else ""
    return f"{name} forfeited {len(of_agent):,} times ({counts}); first in {location}{reason}"


def forfeits_json(forfeits: Sequence[Forfeit]) -> list[dict[str, Any]]:
    """Return forfeits as JSON values."""
    return [asdict(forfeit) for forfeit in forfeits]
