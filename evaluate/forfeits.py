"""Games that agents left: how many, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Forfeit:
    """A game that an agent left in one of its seats.

    Attributes:
        game: number of the game.
        agent: number of the agent.
        seat: the seat it left.
        ply: how many plies had been played.
        kind: what kind of reason it had, such as `"timeout"`.
        message: the reason.
    """

    game: int
    agent: int
    seat: int
    ply: int
    kind: str
    message: str


def forfeit_counts(forfeits: Sequence[Forfeit], agent: int) -> dict[str, int]:
    """Return how often an agent left for each kind of reason, the most frequent first."""
    counts = Counter(sorted(one.kind for one in forfeits if one.agent == agent))
    return dict(counts.most_common())


def forfeit_text(forfeits: Sequence[Forfeit], agent: int, name: str) -> str:
    """Return a line about the games that an agent left, or `""` if it left none."""
    mine = [one for one in forfeits if one.agent == agent]
    if not mine:
        return ""
    counts = ", ".join(f"{count} {kind}" for kind, count in forfeit_counts(mine, agent).items())
    first = min(mine, key=lambda one: (one.game, one.ply, one.seat))
    where = f"game {first.game}, seat {first.seat}, ply {first.ply}"
    reason = f": {first.message}" if first.message else ""
    return f"{name} forfeited {len(mine):,} times ({counts}); first in {where}{reason}"


def forfeits_json(forfeits: Sequence[Forfeit]) -> list[dict[str, Any]]:
    """Return all as JSON values."""
    return [asdict(one) for one in forfeits]
