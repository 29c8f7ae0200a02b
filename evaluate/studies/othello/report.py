"""The report on Othello: what UCT gains from a value network, and from which games."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.studies.othello import plots as othello_plots
from ludoteca.evaluate.studies.othello.plan import (
    COMPETITORS,
    DOCUMENTS,
    ITERATIONS,
    LEAVES,
    NETWORKS,
    SECONDS,
    SIZES,
    TIMES,
    UCT,
    Data,
    Network,
    Task,
    Tasks,
)
from ludoteca.evaluate.studies.study import Records, provenance, provenance_lines, write_study
from ludoteca.files import write_whole

# The networks of 10,000 games: what their games were, and who looks.
NOISE = ("random-10k", "random-10k-mover", "self-10k", "self-10k-mover")
NOISE_ITERATIONS = (50, 200)
OPPONENTS = {"random": "random moves", "self": "itself"}
VIEWS = {"second": "white", "mover": "who moves"}
BUDGETS = (*map(str, ITERATIONS), "time")


def write(
    records: Mapping[str, Records], planned: Mapping[str, Tasks], out: Path, fast: bool = False
) -> None:
    """Write `report.md`, `results.json` and the pictures.

    Args:
        records: what is kept of the finished tasks, by part and name.
        planned: all tasks, by part and name; sections whose tasks are not all finished are left
            out.
        out: where the report goes.
        fast: whether the tasks are too small to tell anything.
    """
    found, beyond = records["document"], records["alphazero"]
    made, parts = provenance(out, records), [HEAD]
    if fast:
        parts.append("**A fast run, to see that all of it works: its numbers tell nothing.**")
    parts.append(choices_section(planned["document"]))
    for needed, section in SECTIONS:
        if found.keys() >= set(needed):
            parts.append(section(found))
    if beyond and beyond.keys() == planned["alphazero"].keys():
        parts.append(alphazero_section(beyond))
    if found.keys() >= {f"net-{name}" for name in NETWORKS}:
        write_whole(out / "learning_curves.png", othello_plots.learning_curves(found))
    if found.keys() >= set(SIZE_MATCHES):
        write_whole(out / "strength.png", othello_plots.strength(found))
    if found or beyond:
        parts.append(how_section(records, planned, made["versions"]))
    write_study(out, "\n\n".join(parts) + "\n", records, made)


HEAD = """# Othello: a value network from games of UCT

A document of the University of Seville (Sancho Cebrero and Fernández Limárquez) lets UCT play
Othello against random moves, teaches a value network how the games ended, and puts the network's
value in the place of UCT's random playouts. Its sections on training and experiments are blank:
there are no figures of its own to stand beside these. Here: how much stronger the network makes
UCT, with how many games, and what it costs that the games are played against random moves."""


def choices_section(planned: Mapping[str, Task]) -> str:
    """Return what the document specifies, and what it leaves open and was chosen here."""
    networks = [task for task in planned.values() if isinstance(task, Network)]
    epochs, size = (networks[0].options[key] for key in ("epochs", "positions_per_epoch"))
    sizes = ", ".join(f"{one.games:,}" for one in sorted_networks(networks, SIZES))
    rows = (
        (
            "UCT",
            "`Q/N + C sqrt(2 ln N(parent) / N(child))`, C = sqrt 2, children without visits first, "
            "random playouts, rewards -1, 0, 1, at the end the best mean; 50 iterations",
            "the same; the tree grows as deep as it likes, where the document's program stops one "
            "level below the root",
        ),
        ("games", "UCT against random moves, how many is open", f"{sizes}; UCT has each color in "
         "half of them; other games of UCT against itself"),
        ("label of a position", "how the game ended for UCT",
         "how it ended for white: the network does not see which side UCT has"),
        ("network", "planes of white and of black, 3x3 convolutions, the last with 128 filters, "
         "dropout 0.5, a layer of 256, one tanh",
         "the same; two convolutions before it, with 32 and 64 filters"),
        ("view", "the two colors, not whose move it is", "the same; also that of who moves"),
        ("training", "Adam, mean squared error; the rest is open",
         f"batches of 256, rate 0.001, at most {epochs} epochs of at most {size:,} positions, "
         "until validation gets no better for 3 epochs; validated with other games"),
        ("UCT + network", "the network's value instead of the playout", "the same"),
    )  # fmt: skip
    return f"""## What the document says, and what was chosen here

{table(("what", "the document", "here"), rows, texts=3)}"""


def sorted_networks(networks: Iterable[Network], names: Iterable[str]) -> list[Network]:
    """Return the networks of these names, in their order."""
    by_name = {one.name: one for one in networks}
    return [by_name[f"net-{name}"] for name in names]


def short_section(found: Records) -> str:
    """Return the main results in sentences."""
    rows = [
        (games_of(found, name), *(interval(total(found[f"{name}-{budget}"])) for budget in BUDGETS))
        for name in SIZES
    ]
    headings = (
        "training games", *(f"{count} iterations" for count in ITERATIONS), f"{SECONDS:g} s a move",
    )  # fmt: skip
    verdicts = [
        f"{verdict(total(found[f'{DOCUMENTS}-{budget}']))} at {title}"
        for budget, title in zip(BUDGETS, headings[1:], strict=True)
    ]
    return f"""## In short

Games that UCT + network won against plain UCT, in % with 95 % intervals, by the games against
random moves that the network learned from:

{table(headings, rows, texts=0)}

With the network of most games, UCT is {", ".join(verdicts)}."""


def iterations_section(found: Records) -> str:
    """Return the matches at equal iterations."""
    rows = [
        (games_of(found, name), iterations, *match_cells(found[f"{name}-{iterations}"]))
        for name in SIZES
        for iterations in ITERATIONS
    ]
    return f"""## Equal iterations

UCT + network against plain UCT, both with as many iterations a move. The network's games are of
UCT against random moves; it sees what the document's sees. Agents: `uctnet:NETWORK,simulations=N`
and `{UCT},simulations=N`.

{table(("training games", "iterations", *MATCH_HEADINGS), rows)}

{READ_MATCHES}

![Strength by training games](strength.png)"""


MATCH_HEADINGS = (
    "games", "won, draws, lost", "won, %", "as black, %", "as white, %", "result",
)  # fmt: skip
READ_MATCHES = """Games won in % have 95 % Wilson intervals; black moves first. `stronger` and
`weaker`: the points, a draw being half a point, lie above or below one half with their whole 95 %
interval."""


def time_section(found: Records) -> str:
    """Return the matches at equal time."""
    rows = [(games_of(found, name), *time_cells(found[f"{name}-time"])) for name in SIZES]
    return f"""## Equal time

{SECONDS:g} s a move for both, one thread each, games searched one by one. The network sees {LEAVES}
leaves of the search at once: simulations under way count as lost, so that the next one goes
elsewhere. Simulations a second are the median of every fourth position of the match's first two
games. Agents:
`uctnet:NETWORK,seconds={SECONDS:g},leaf_batch={LEAVES}` and `{UCT},seconds={SECONDS:g}`.

{table(("training games", *TIME_HEADINGS), rows)}"""


TIME_HEADINGS = (
    "ms a move", "the other's", "simulations/s", "the other's", *MATCH_HEADINGS,
)  # fmt: skip


def time_cells(match: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how long both agents of a match thought, how fast, and what came of it."""
    pairs = [
        (f"{1000 * one['seconds_per_move']:.1f}", f"{one['simulations_per_second']:,.0f}")
        for one in match["agents"]
    ]
    (ours, our_speed), (theirs, their_speed) = pairs
    return (ours, theirs, our_speed, their_speed, *match_cells(match))


def networks_section(found: Records) -> str:
    """Return how the networks learned."""
    names = {name: found[f"net-{name}"] for name in NETWORKS}
    rows = []
    for name, one in names.items():
        best = one["training"]["best"]
        kept = next(row for row in one["metrics"] if row["step"] == best["epoch"])
        rows.append(
            (
                name,
                f"{one['data']['games']:,}",
                f"{one['data']['training_positions']:,}",
                f"{best['epoch']} of {one['training']['epochs']}",
                f"{kept['training_loss']:.3f}",
                f"{best['loss']:.3f}",
                f"{100 * best['accuracy']:.1f}",
                f"{one['training']['seconds'] / 60:.1f}",
            )
        )
    headings = (
        "network", "games", "positions", "kept epoch", "training loss", "validation loss",
        "winner told, %", "minutes",
    )  # fmt: skip
    precision = ", ".join(sorted({one["training"]["precision"] for one in names.values()}))
    fresh = found[f"test-{DOCUMENTS}"]["games"]
    by_phase = [
        f"Games of UCT against {opponent}:\n\n"
        f"{table(('moves played', *names), phase_rows(found, k))}"
        for k, opponent in enumerate(OPPONENTS.values())
    ]
    return f"""## Learning

Networks are called by the opponent of their games, how many these are, and `mover` where they see
the position as who moves. The loss is the mean squared error of results from -1 to 1; always saying
0 has a loss of nearly 1. `winner told`: of positions in decided games, those where the value has
the right sign. Validation is with games of the same kind that were not learned from, so that the
losses of `random` and `self` do not compare. Each network is one training run with one seed, and
computed in {precision}, of which the document does not speak.

{table(headings, rows)}

![Learning curves](learning_curves.png)

Loss and winner told on {fresh:,} fresh games of each kind, the same for all networks, by moves
played. Somebody is to move in all positions: the last one of a game is not among them.

{(chr(10) + chr(10)).join(by_phase)}"""


def phase_rows(found: Records, kind: int) -> list[tuple[str, ...]]:
    """Return a line for each phase of fresh games: what each network reached there.

    Args:
        found: records, by name of the task.
        kind: number of the kind of games.
    """
    tests = [found[f"test-{name}"]["tests"][kind] for name in NETWORKS]
    lines = [("all", tests), *zip_phases(tests)]
    return [
        (name, *(f"{one['loss']:.3f}, {100 * one['accuracy']:.1f} %" for one in parts))
        for name, parts in lines
    ]


def zip_phases(tests: list[Any]) -> list[tuple[str, list[Any]]]:
    """Return the phases of tests of the same games: each one's name, and what each test found."""
    together = zip(*(one["phases"] for one in tests), strict=True)
    return [(parts[0]["moves"], list(parts)) for parts in together]


def noise_section(found: Records) -> str:
    """Return what the labels of games against random moves cost, and the document's view."""
    rows, strengths, wins = [], [], {}
    for name in NOISE:
        opponent, _, view = NETWORKS[name]
        tests = {one["opponent"]: one for one in found[f"test-{name}"]["tests"]}
        wins = {key: f"{100 * one['player_won']:.0f} %" for key, one in tests.items()}
        about = (OPPONENTS[opponent], VIEWS[view])
        rows.append(
            (
                *about,
                *(f"{tests[kind]['loss']:.3f}" for kind in OPPONENTS),
                *(f"{100 * tests[kind]['accuracy']:.1f}" for kind in OPPONENTS),
            )
        )
        for iterations in NOISE_ITERATIONS:
            match = found[f"{name}-{iterations}"]
            strengths.append((*about, iterations, *match_cells(match)))
    fresh = found[f"test-{NOISE[0]}"]["games"]
    headings = (
        "UCT's opponent", "who looks", "loss, random", "loss, self", "winner told, random, %",
        "winner told, self, %",
    )  # fmt: skip
    return f"""## What the labels' noise costs

UCT wins {wins["random"]} of its games against random moves, whatever the position was: how a game
ended tells who played better from there on, more than who stood better. In games against itself
both play alike (the first of the two wins {wins["self"]}). Networks of {games_of(found, NOISE[0])}
games of each kind, with the document's view (white's, whose move it is remains unseen) and with
that of who moves, on the same {fresh:,} fresh games of each kind, all positions in which somebody
is to move:

{table(headings, rows, texts=2)}

UCT with these networks against plain UCT:

{table(("UCT's opponent", "who looks", "iterations", *MATCH_HEADINGS), strengths, texts=2)}"""


def alphazero_section(beyond: Records) -> str:
    """Return the matches of what goes beyond the document."""
    rows, told = [], []
    for name, spec in COMPETITORS.items():
        pace = beyond[f"{name}-pace"]["agents"][0]
        told.append(f"- `{name}` is `{spec}`, {1000 * pace['seconds_per_move']:.1f} ms a move.")
        for other, title in (
            (f"{name}-mcts", f"our own UCT, {TIMES} x its time"),
            (f"{name}-uctnet", "UCT + network of most games, equal time"),
        ):
            rows.append((name, title, *time_cells(beyond[other])))
    return f"""## AlphaZero

A policy-value network that learned from games of its own search, and comes with the package. It
plays against our own default UCT with {TIMES} times its time per move, and against UCT with the
document's network of most games and {LEAVES} leaves at once with the same time. Its time was
measured in games before; all games are played one by one.

{chr(10).join(told)}

{table(("agent", "against", *TIME_HEADINGS), rows, texts=2)}

{READ_MATCHES}"""


def how_section(
    records: Mapping[str, Records], planned: Mapping[str, Tasks], versions: Mapping[str, str]
) -> str:
    """Return what is needed to do it again."""
    every = [one for part in records.values() for one in part.values()]
    training = sum(one["training"]["seconds"] for one in every if "training" in one) / 60
    playing = sum(one["seconds"] for one in every if "agents" in one) / 60
    counts = ", ".join(
        f"{len(found)} of {sum(not isinstance(task, Data) for task in planned[part].values())} "
        f"of part {part}"
        for part, found in records.items()
        if found
    )
    return f"""## How it was done

- Command: `python -m ludoteca.evaluate.studies othello`; every task's own command is in its
  record. Tasks: {counts}.
- Time, one core each: {training:.0f} minutes of training, {playing:.0f} of matches.
{provenance_lines(records, versions)}
- Every task's settings and results are in [results.json](results.json)."""


# Names of the tasks that a section needs, and what writes it, in the report's order.
SIZE_MATCHES = [f"{name}-{budget}" for name in SIZES for budget in BUDGETS]
SIZE_NETWORKS = [f"net-{name}" for name in SIZES]
NOISE_PIECES = [f"{name}-{iterations}" for name in NOISE for iterations in NOISE_ITERATIONS] + [
    f"{kind}-{name}" for name in NOISE for kind in ("net", "test")
]
SECTIONS = (
    (SIZE_MATCHES + SIZE_NETWORKS, short_section),
    ([n for n in SIZE_MATCHES if not n.endswith("time")] + SIZE_NETWORKS, iterations_section),
    ([n for n in SIZE_MATCHES if n.endswith("time")] + SIZE_NETWORKS, time_section),
    ([f"{kind}-{name}" for name in NETWORKS for kind in ("net", "test")], networks_section),
    (NOISE_PIECES, noise_section),
)


def total(match: Mapping[str, Any]) -> dict[str, Any]:
    """Return all games of a match for its first agent."""
    return dict(match["agents"][0]["total"])


def match_cells(match: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what `MATCH_HEADINGS` announce, for the first agent of a match."""
    played, seats = total(match), match["agents"][0]["seats"]
    return (
        f"{played['games']:,}",
        f"{played['wins']:,}, {played['draws']:,}, {played['losses']:,}",
        *(interval(one) for one in (played, *seats)),
        verdict(played),
    )


def interval(tally: Mapping[str, Any]) -> str:
    """Return the games won in %, with Wilson's 95 % interval."""
    low, high = wilson(tally["wins"], tally["games"])
    return f"{100 * tally['wins'] / tally['games']:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def verdict(tally: Mapping[str, Any]) -> str:
    """Return whether an agent is stronger than the other, as far as the games tell."""
    low, high = score_interval(tally["wins"], tally["draws"], tally["games"])
    return "stronger" if low > 0.5 else "weaker" if high < 0.5 else "not told apart"


def games_of(found: Records, name: str) -> str:
    """Return how many games a network learned from, those for validation included."""
    return f"{found[f'net-{name}']['data']['games']:,}"
