"""What the report on Hungry Geese tells of networks that learned by self-play."""

from itertools import zip_longest

from ludoteca.evaluate.intervals import wilson
from ludoteca.evaluate.markdown import percent, table
from ludoteca.evaluate.reproduce.geese_runs import LOOPS, OPPONENT, SHIPPED, TARGET, called
from ludoteca.evaluate.reproduce.geese_tables import (
    MATCH_HEADINGS,
    Names,
    competition_table,
    match_rows,
    share,
)
from ludoteca.evaluate.reproduce.study import Records

OURS = ("ours", "ours-real", "ours-search", "ours-timed", "tree")
GAINS = ("ours-search-or-not", "ours-timed-or-not")


def ours_section(found: Records, names: Names) -> str:
    """Return what the network of self-play reaches."""
    rows, tables = [], []
    for name in OURS:
        if name in found:
            match = found[name]
            ours = match["agents"][0]
            lives, others = ours["lives"], match["agents"][1:]
            lived = lives["geese"] - lives["deaths"]
            rows.append(
                (
                    called(ours["agent"], names),
                    "; ".join(called(one["agent"], names) for one in others),
                    f"{lives['geese']:,}",
                    share(lives["wins"], lives["geese"]),
                    share(lived, lives["geese"]),
                    f"{1000 * ours['seconds_per_move']:.1f}",
                    both_targets((lives["wins"], lived), lives["geese"]),
                )
            )
            tables.append(competition_table(match, names))
    headings = (
        "agent", "rivals", "games", "wins, %", "survives, %", "ms a move", "both targets",
    )  # fmt: skip
    gains = list(match_rows(found, GAINS, names))
    searched = (
        f"""

Does a search help? Both kinds have two geese in a game, and have won if the better one comes first,
alone; equal ones are draws, worth half a point.

{table(MATCH_HEADINGS, gains, texts=2)}"""
        if gains
        else ""
    )
    return f"""## Beyond the thesis: self-play

The network `ac:{SHIPPED}` comes with the package. It was first taught the moves of public agents,
and has since learned from games that it played itself, in the end against agents of other kinds.
Its targets: to win {percent(TARGET, 0)} of the games, and to survive {percent(TARGET, 0)} of them;
`yes` and `no` mean that the whole intervals say so. Four equal agents would each win about a
quarter. Decoupled UCT, where it has a row, is a tree search without a network, in the network's
place.

{table(headings, rows, texts=2)}

Milliseconds are those of a core whose neighbor was busy with another piece.

With a search it looks at several plies before it moves. Its rivals in these games, table by table:

{(chr(10) + chr(10)).join(tables)}{searched}"""


def both_targets(counts: tuple[int, int], games: int) -> str:
    """Return whether both shares reach the target, by their Wilson 95 % intervals."""
    intervals = [wilson(count, games) for count in counts]
    if all(low >= TARGET for low, _ in intervals):
        return "yes"
    return "**no**" if any(high < TARGET for _, high in intervals) else "cannot be told"


def loops_section(found: Records, names: Names) -> str:
    """Return what self-play learns from nothing."""
    rows = []
    for name, (preset, *_) in LOOPS.items():
        one = found[name]
        last = one["curve"][-1]
        tested = f"{last['gate_passed']} of {last['gate_tried']}" if "gate_tried" in last else "-"
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
    return f"""## Self-play from nothing (section 5)

The thesis' loop: a network plays 500 games against itself, learns one epoch of them, and is kept
only if it then wins more than half of its games against what it was; else it learns from these
games and new ones together. Its loss, the logarithm of an action's probability times the advantage,
has no least value where that is negative; probabilities are clipped at 1e-7, without which the
network soon is no numbers. Its author reports that it did not learn. Beside it the `modern` preset
of `python -m ludoteca.train.actor_critic`: proximal policy optimization, with past networks and
agents of fixed rules as opponents. Four equal agents would each win about a quarter.

{table(headings, rows)}

Wins against three `{OPPONENT}` on the way:

{table(over, points, texts=0)}"""
