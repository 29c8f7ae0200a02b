"""What the report on Hungry Geese tells of networks that learned by self-play."""

from collections.abc import Mapping
from itertools import zip_longest
from textwrap import fill
from typing import Any

from ludoteca.agents.networks.cards import load_card, trained_against
from ludoteca.evaluate.markdown import percent, table
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.geese.plan import (
    LOOPS,
    OPPONENT,
    OUTSIDERS,
    SHIPPED,
    TARGET,
    called,
)
from ludoteca.evaluate.studies.geese.tables import (
    MATCH_HEADINGS,
    Names,
    competition_table,
    match_rows,
    share,
)
from ludoteca.evaluate.studies.study import Records

OURS = ("ours", "ours-real", "ours-search", "ours-timed", "tree")  # with rivals of its training
GAINS = ("ours-search-or-not", "ours-timed-or-not")


def ours_section(found: Records, names: Names) -> str:
    """Return what the network of self-play reaches."""
    card = load_card("ac", SHIPPED)
    rows, tables = [], []
    for name in OURS:
        if name in found:
            match = found[name]
            rows.append(_row(match, names, card))
            tables.append(competition_table(match, names))
    outside = [_row(found[name], names, card) for name in OUTSIDERS if name in found]
    apart = (
        f"""

Against three of a kind that it was never trained against:

{table(HEADINGS, outside, texts=3)}"""
        if outside
        else ""
    )
    gains = list(match_rows(found, GAINS, names))
    searched = (
        f"""

Does a search help? Both kinds have two geese in a game, and have won if the better one comes first,
alone; equal ones are draws, worth half a point.

{table(MATCH_HEADINGS, gains, texts=2)}"""
        if gains
        else ""
    )
    origin = fill(
        f"The network `ac:{SHIPPED}` comes with the package. {card['trained_by']} So it was "
        "trained against rivals of the next table: `trained against` says of each, in order, "
        "whether it was (`yes`), or only against the same agent with other settings or another "
        "network (`its kind`), or neither (`no`).",
        width=100,
        break_on_hyphens=False,
    )
    return f"""## Beyond the thesis: self-play, and games against other agents

{origin}

Its targets: to win {percent(TARGET, 0)} of the games, and to survive {percent(TARGET, 0)} of them;
`yes` and `no` mean that the whole intervals say so. Four equal agents would each win about a
quarter. Decoupled UCT, where it has a row, is a tree search without a network, in the network's
place.

{table(HEADINGS, rows, texts=3)}{apart}

Milliseconds are those of a core whose neighbor was busy with another task.

With a search it looks at several plies before it moves. Its rivals in the games of the first table,
match by match:

{(chr(10) + chr(10)).join(tables)}{searched}"""


HEADINGS = (
    "agent", "rivals", "trained against", "games", "wins, %", "survives, %", "ms a move",
    "both targets",
)  # fmt: skip


def _row(match: Mapping[str, Any], names: Names, card: dict[str, Any]) -> tuple[str, ...]:
    """Return a line of what the first agent of a competition reaches, as `HEADINGS` announce."""
    ours, *others = match["agents"]
    lives = ours["lives"]
    lived = lives["geese"] - lives["deaths"]
    # A tree search has not learned from anyone.
    learned = ours["agent"].startswith("ac:")
    relations = [trained_against(card, one["agent"]) for one in others] if learned else ["-"]
    rivals = [called(one["agent"], names) for one in others]
    if len(set(rivals)) == 1:
        rivals, relations = [f"three {rivals[0]}"], relations[:1]
    return (
        called(ours["agent"], names),
        "; ".join(rivals),
        "; ".join(relations),
        f"{lives['geese']:,}",
        share(lives["wins"], lives["geese"]),
        share(lived, lives["geese"]),
        f"{1000 * ours['seconds_per_move']:.1f}",
        both_targets((lives["wins"], lived), lives["geese"]),
    )


def both_targets(counts: tuple[int, int], games: int) -> str:
    """Return whether both shares reach the target, by their Wilson 95 % intervals."""
    intervals = [wilson(count, games) for count in counts]
    if all(low >= TARGET for low, _ in intervals):
        return "yes"
    return "**no**" if any(high < TARGET for _, high in intervals) else "inconclusive"


def loops_section(found: Records, names: Names) -> str:
    """Return what networks learn without a teacher, from random weights."""
    rows = []
    for name, (preset, *_) in LOOPS.items():
        one = found[name]
        last = one["curve"][-1]
        tested = (
            f"{last['candidates_accepted']} of {last['candidates_tested']}"
            if "candidates_tested" in last
            else "-"
        )
        results = {part["opponent"]: part["seats"][0] for part in one["evaluation"]}
        rates = (share(results[k]["wins"], results[k]["games"]) for k in ("random", OPPONENT))
        minutes = f"{one['training']['seconds'] / 60:.1f}"
        rows.append((f"`{preset}`", f"{one['training']['games']:,}", minutes, tested, *rates))
    headings = (
        "preset", "games", "minutes", "networks kept", "wins against three random, %",
        f"against three {OPPONENT}, %",
    )  # fmt: skip
    curves = [
        [(f"{at['games']:,}", f"{100 * at['win_rate']:.0f}") for at in found[name]["curve"]]
        for name in LOOPS
    ]
    points = [sum(line, ()) for line in zip_longest(*curves, fillvalue=("", ""))]
    over = [text for preset, *_ in LOOPS.values() for text in (f"`{preset}`: games", "wins, %")]
    precision = ", ".join(sorted({found[name]["training"]["precision"] for name in LOOPS}))
    return f"""## Networks without a teacher (section 5)

The thesis' loop: a network plays 500 games against itself, learns one epoch of them, and is kept
only if it then wins more than half of its games against what it was; else it learns from these
games and new ones together. Its loss, the logarithm of an action's probability times the advantage,
has no least value where that is negative; probabilities are clipped at 1e-7, without which the
weights soon are not finite. Its author reports that it did not learn. Beside it the `default`
preset of `python -m ludoteca.train.actor_critic`: proximal policy optimization. Both begin with
random weights, but only the loop is self-play alone. In a quarter of the games of `default`, other
seats
are taken by its own past networks and by the agents `greedy` and `{OPPONENT}`, so that it is
trained against the very agent that the table tests it against; and it sees features made by hand
(how far geese can go, how soon cells are reached), the loop only the 17 planes. Each is one
training run with one seed: how much others would differ is not measured. They computed in
{precision}, which is our choice; the thesis does not speak of it. Four equal agents would each win
about a quarter.

{table(headings, rows)}

Wins against three `{OPPONENT}` on the way:

{table(over, points, texts=0)}"""
