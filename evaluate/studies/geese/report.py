"""The report on Hungry Geese: the thesis' competitions beside ours, and what goes beyond them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from ludoteca.evaluate.markdown import percent, table
from ludoteca.evaluate.studies.geese.conclusions import conclusions
from ludoteca.evaluate.studies.geese.miralles2021 import REAL_ACCURACY, SECONDS, SIMULATED_ACCURACY
from ludoteca.evaluate.studies.geese.plan import (
    BANDS,
    BEST_FLAT,
    FINALS,
    FLAT,
    LITERAL,
    LOOPS,
    SHIPPED,
    SIMULATIONS,
    called,
    flat,
    is_shipped,
)
from ludoteca.evaluate.studies.geese.records import is_recorded
from ludoteca.evaluate.studies.geese.self_play import loops_section, ours_section
from ludoteca.evaluate.studies.geese.tables import (
    MATCH_HEADINGS,
    Names,
    beside_thesis,
    competition_table,
    deaths_table,
    match_rows,
    ratings_table,
)
from ludoteca.evaluate.studies.geese.tasks import Network, Tasks
from ludoteca.evaluate.studies.study import Records, provenance, provenance_lines, write_study

REAL_NETS = tuple(f"net-real-{k}" for k in range(len(BANDS)))


def write(
    records: Mapping[str, Records], planned: Mapping[str, Tasks], out: Path, fast: bool = False
) -> None:
    """Write `report.md` and `results.json`.

    Args:
        records: what is kept of the finished tasks, by part and name.
        planned: all tasks, by part and name; sections whose tasks are not all finished are left
            out.
        out: where the report goes.
        fast: whether the tasks are too small to tell anything.
    """
    found = {name: one for part in records.values() for name, one in part.items()}
    names = {
        name: task.label
        for tasks in planned.values()
        for name, task in tasks.items()
        if isinstance(task, Network)
    }
    made, parts = provenance(out, records), [HEAD]
    if fast:
        parts.append("**A fast run, to see that all of it works: its numbers tell nothing.**")
    parts += [section(found, names) for needed, section in SECTIONS if found.keys() >= set(needed)]
    if any("outcomes" in one for one in found.values()):
        parts += [deaths_section(found, names), ratings_section(found, names)]
    parts.append(missing_section(records))
    if found:
        parts.append(how_section(records, planned, made["versions"]))
    write_study(out, "\n\n".join(filter(None, parts)) + "\n", records, made)


HEAD = f"""# Hungry Geese: flat Monte Carlo, networks it teaches, and a network of self-play

Four geese on one board, and who lives longest, then is longest, wins. A master's thesis of the
University of the Balearic Islands (Martín Miralles, 2021) lets agents compete in it, 100 games each
time: flat Monte Carlo (random games of all geese, up to some depth, after each move) with more or
fewer simulations, convolutional networks that learn its moves or those of recorded games, and an
agent of fixed rules. It ends with a network that was to learn by itself, but did not.

Here are the same competitions, and others that tell its explanations apart. Agents sit in every
seat equally often. Beside the thesis stand the first games alone, as many as it has, and all.

- **wins**: games in which the goose lives to the end and nobody has a higher reward. If several are
  equal, each of them has won; if all have died, nobody. The thesis does not say how it counts; this
  is the simplest way that gives sums like its own (105 wins in 100 games with depth 6, and in
  figure 9 wins and deaths that make up 100 for each agent).
- **deaths**: games in which it does not live to the end.
- **length**: mean number of segments at the end, of those that live.

Brackets hold 95 % intervals: Wilson's of shares, normal ones of means. `{called(flat(*BEST_FLAT))}`
is flat Monte Carlo with {BEST_FLAT[0]} simulations of {BEST_FLAT[1]} plies, the thesis' best.
`{called(LITERAL)}` is the thesis' agent of fixed rules to the letter, `deterministic` ours
after its description, with two rules more, which is much stronger."""


def conclusions_section(found: Records, names: Names) -> str:
    """Return which of the thesis' conclusions hold."""
    rows = [(one.claim, f"**{one.verdict}**", one.evidence) for one in conclusions(found)]
    return f"""## What holds of the thesis' conclusions

A score is the mean over the three rivals of 1 if the goose comes in ahead of it and -1 if behind.
Differences are between agents in the same games. A conclusion holds, or does not, if the whole
interval says so.

{table(("the thesis", "here", "numbers"), rows, texts=3)}"""


def flat_section(found: Records, names: Names) -> str:
    """Return the competitions of flat Monte Carlo."""
    intro = """The thesis plays random "valid" moves, and does not say what makes them valid. Here
they are moves onto cells that are free now, with which games become about as long as its own; only
not to turn back, the other reading, makes them much shorter."""
    parts = [
        f"### {title}\n\n{competition_table(found[name], names, name)}"
        for name, title in FLAT_TITLES.items()
    ]
    factors = f"""### What depth and simulations are worth

Not in the thesis: its mixed competition changes both at once.

{competition_table(found["factors"], names)}"""
    return "\n\n".join(
        (
            f"## Flat Monte Carlo (figures 7 and 8)\n\n{intro}",
            *parts,
            factors,
            beside_thesis(found, tuple(FLAT_TITLES), names),
        )
    )


FLAT_TITLES = {
    "depth-4": "Depth 4 (figure 7a)",
    "depth-6": "Depth 6 (figure 7b)",
    "mixed": "Both depths (figure 8)",
}


def seconds_section(found: Records, names: Names) -> str:
    """Return how long flat Monte Carlo thinks."""
    rows = []
    for name in ("depth-4", "depth-6"):
        for setting, told in zip(FLAT[name], found[name]["agents"], strict=True):
            ours, theirs = told["seconds_per_move"], SECONDS[setting]
            rows.append(
                (called(told["agent"]), theirs, f"{1000 * ours:.3f}", f"{theirs / ours:,.0f}")
            )
    headings = ("agent", "thesis, s a move", "ours, ms a move", "times faster")
    return f"""## Time (table 1)

In the competitions above, one core for each. The competition of Kaggle allows 1 s a move.

{table(headings, rows)}"""


def simulated_section(found: Records, names: Names) -> str:
    """Return the networks that flat Monte Carlo taught."""
    told = {one["agent"]: one for one in found["agreement"]["agents"]}
    teachers = {str(count): flat(count, 6) for count in SIMULATIONS}
    rows = []
    for name, spec in (teachers | {"deterministic": "deterministic"}).items():
        accuracy = SIMULATED_ACCURACY[int(name)] if name.isdecimal() else None
        rows.append(
            (
                called(spec),
                *network_cells(found[f"net-{name}"]),
                "-" if accuracy is None else f"{100 * accuracy:.1f}",
                f"{100 * told[spec]['foretold']:.1f}",
                f"{100 * told[spec]['agreement']:.1f}",
            )
        )
    headings = (*NETWORK_HEADINGS, "thesis, %", "could be predicted, %", "agrees with itself, %")
    asked = found["agreement"]["agents"][0]["moves"]
    first = found[TAUGHT[0]]
    epochs, precision = first["settings"]["epochs"], first["training"]["precision"]
    return f"""## Networks that flat Monte Carlo teaches (figure 9)

The thesis' network: six convolutions with 24 filters, means over the board, layers of 1024 and 512.
It learns the moves of agents in games against themselves, with the thesis' optimizer, but for
{epochs} epochs at most and in {precision}, which the thesis does not speak of; a best epoch near
the last one means that more would have helped a little. Each network is one training run with one
seed. `predicted`: the share of moves that it predicts, in games that it did not learn from;
the thesis' best beside it.

A teacher that chooses by chance does not always answer the same. {asked:,} positions of such games
were put to each teacher again and again: `agrees with itself` is the share of pairs of answers that
are equal, and `could be predicted` how often an answer is the most frequent of all others, about
the most that a pupil can reach. The deterministic agent is a teacher without chance, for
comparison.

{table(headings, rows)}

Four of the networks against each other:

{competition_table(found["simulated"], names, "simulated")}

{beside_thesis(found, ("simulated",), names)}

Two teachers and their networks:

{competition_table(found["teachers"], names)}

The network with the most points, flat Monte Carlo and the agents of fixed rules (`greedy` is the
one that comes with Kaggle's environment):

{competition_table(found["without-real"], names)}"""


NETWORK_HEADINGS = ("moves of", "games", "moves", "epochs", "minutes", "predicted, %")


def network_cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what `NETWORK_HEADINGS` announce after the first, of a network's record."""
    data, training = one["data"], one["training"]
    return (
        f"{data['games']:,}",
        f"{data['training_positions']:,}",
        f"{training['best']['epoch']} of {training['epochs']}",
        f"{training['seconds'] / 60:.1f}",
        f"{100 * training['best']['accuracy']:.1f}",
    )


def real_section(found: Records, names: Names) -> str:
    """Return the networks that recorded games taught."""
    rows = [
        (", ".join(whose(found[name])), *network_cells(found[name]), theirs)
        for name, theirs in zip(
            (*REAL_NETS, "net-real-all"),
            (*(f"{100 * x:.1f} ({band})" for band, x in REAL_ACCURACY.items()), "-"),
            strict=True,
        )
    ]
    return f"""## Networks that recorded games teach (figure 10)

The thesis' network again, with the moves of four groups of agents, the weakest first. The thesis
takes games of Kaggle's competition, and agents by their ratings. The games here are not of the
competition: public agents played them offline, against each other, in Kaggle's environment. Groups
that are chosen by name stand for the thesis' only in their order. An article of its author has 75 %
after 10 epochs and 81.0 % after 13. Each network is one training run with one seed, and computed in
{found["net-real-0"]["training"]["precision"]}.

{table((*NETWORK_HEADINGS, "thesis, % (ratings)"), rows)}

{competition_table(found["real"], names, "real")}

All moves, or only the best players'? Each network has two geese in a game, and has won if the
better one comes first, alone. Both had as many epochs; those of all moves are longer.

{table(MATCH_HEADINGS, match_rows(found, ("all-or-best",), names), texts=2)}

These are two networks, one of each kind: whether other trainings would differ so, one match does
not show."""


def whose(one: Mapping[str, Any]) -> list[str]:
    """Return whose recorded moves a network has learned, from its record."""
    settings = one["settings"]
    return list(settings.get("agents", [" to ".join(settings.get("ratings", ["all"]))]))


def final_section(found: Records, names: Names) -> str:
    """Return the thesis' last competition."""
    # Other work on the machine slows agents down, not in all of these competitions.
    slowest = min(
        max(told["seconds_per_move"] for told in found[name]["agents"])
        for name in FINALS
        if name in found
    )
    others = "".join(
        f"\n\n{text}\n\n{competition_table(found[name], names)}{note(found[name])}"
        for name, text in OTHER_FINALS.items()
        if name in found
    )
    return f"""## The final (figure 11)

The deterministic agent, flat Monte Carlo, and of both kinds of networks the one with the most
points in its competition. The deterministic agent is the thesis' to the letter,
`{LITERAL}`: it ignores a food that another goose is nearer to, and its
corridors do not depend on where rivals may go. The slowest of them takes {1000 * slowest:.1f} ms a
move.

{competition_table(found["final"], names, "final")}{note(found["final"])}

{beside_thesis(found, ("final",), names)}{others}"""


def note(record: Mapping[str, Any]) -> str:
    """Return what a record has to say that differs from its plan, as a paragraph."""
    if "note" not in record:
        return ""
    return "\n\n" + fill(f"Note: {record['note']}", width=100, break_on_hyphens=False)


OTHER_FINALS = {
    "final-tail": """The thesis says that a goose without a food of its own "simply moves to a valid
position", and describes following one's tail as what others do. Above it takes the first of the
valid moves with the deepest corridors; here it follows its tail:""",
    "final-default": """With the default of our `deterministic`, which goes for any food while it is
short, and whose corridors keep three steps away from rivals, which the thesis does not give:""",
}


def deaths_section(found: Records, names: Names) -> str:
    """Return how geese die."""
    return f"""## How geese die

In all competitions of four agents together, causes in % of the deaths. `no way out`: no other
move would have saved the goose in the step in which it died, the others moving as they did. A dead
end has such a death at its end; a collision of heads mostly could have been avoided. How often
there is no way out depends on the rivals: flat Monte Carlo, with 1000 simulations and depth 6, had
none in {ways_out(found)} of its deaths, by the competition.

{deaths_table(found, names)}"""


def ways_out(found: Records) -> str:
    """Return the range of the shares of deaths without a way out of the best flat Monte Carlo."""
    shares = [
        sum(told["lives"]["forced"].values()) / max(told["lives"]["deaths"], 1)
        for match in found.values()
        if "outcomes" in match
        for told in match["agents"]
        if told["agent"] == flat(*BEST_FLAT)
    ]
    return f"{percent(min(shares))} to {percent(max(shares))}" if shares else "-"


def ratings_section(found: Records, names: Names) -> str:
    """Return the ratings."""
    return f"""## Ratings

Elo points by the model of Plackett and Luce, from the orders in which the geese came in in all
competitions of four different agents; ties count as every order in equal parts. 100 points more
mean to come in ahead of the other in 64 % of the games; the mean of all is 0. The ratings are the
most likely ones over all games at once, so that they have confidence intervals and do not depend on
the order of the games, as those of OpenSkill would.

{ratings_table(found, names)}"""


def missing_section(records: Mapping[str, Records]) -> str:
    """Return what is not there, and what it takes."""
    lines = []
    if not records["real"]:
        lines.append(
            "- Networks that recorded games teach, and the final: they need files of recorded "
            "games, `--episodes FILE ...`."
        )
    if not is_shipped():
        lines.append(f"- Self-play: the package has no network `ac:{SHIPPED}` yet.")
    return "\n".join(("## What is not here", "", *lines)) if lines else ""


def how_section(
    records: Mapping[str, Records], planned: Mapping[str, Tasks], versions: Mapping[str, str]
) -> str:
    """Return what is needed to do it again."""
    every = [one for part in records.values() for one in part.values()]
    training = sum(one["training"]["seconds"] for one in every if "training" in one) / 60
    playing = sum(one["seconds"] for one in every if "seconds" in one) / 60
    counts = ", ".join(
        f"{len(found)} of {sum(map(is_recorded, planned[part].values()))} of part {part}"
        for part, found in records.items()
        if found
    )
    return f"""## How it was done

- Command: `python -m ludoteca.evaluate.studies geese`; every task's own command is in its
  record. Tasks: {counts}.
- Time, one core each: {training:.1f} minutes of training, {playing:.1f} of competitions; games to
  learn from come on top.
{provenance_lines(records, versions)}
- Every task's settings and results are in [results.json](results.json)."""


# Names of the tasks that a section needs, and what writes it, in the report's order.
TAUGHT = (*(f"net-{count}" for count in SIMULATIONS), "net-deterministic")
SECTIONS: tuple[tuple[tuple[str, ...], Callable[[Records, Names], str]], ...] = (
    (("factors",), conclusions_section),
    (("ours",), ours_section),
    (tuple(FLAT), flat_section),
    (("depth-4", "depth-6"), seconds_section),
    ((*TAUGHT, "agreement", "simulated", "teachers", "without-real"), simulated_section),
    ((*REAL_NETS, "net-real-all", "real", "all-or-best"), real_section),
    (("final",), final_section),
    (tuple(LOOPS), loops_section),
)
