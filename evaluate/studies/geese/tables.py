"""Tables and figures of the report on Hungry Geese."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from textwrap import fill
from typing import Any

from ludoteca.agents.networks.cards import load_card, trained_against
from ludoteca.evaluate.markdown import percent, table
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.geese.conclusions import conclusions
from ludoteca.evaluate.studies.geese.lives import CAUSES
from ludoteca.evaluate.studies.geese.names import (
    BEST_FLAT,
    FINALS,
    FLAT,
    LOOPS,
    OPPONENT,
    SHIPPED,
    SIMULATIONS,
    TARGET,
    called,
    flat,
)
from ludoteca.evaluate.studies.geese.outcomes import Z, rate_all, read_outcomes
from ludoteca.evaluate.studies.geese.uib2021 import (
    GAMES,
    REAL_ACCURACY,
    RESULTS,
    SECONDS,
    SIMULATED_ACCURACY,
)
from ludoteca.evaluate.studies.report import points_share, strength, wilson_share
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import LEVEL, OPEN

Labels = Mapping[str, str]  # of networks, by their tasks' names
OURS = ("ours", "ours-real", "ours-search", "ours-timed", "tree")  # with rivals of its training
SEARCH_GAINS = ("ours-search-or-not", "ours-timed-or-not")
IMITATORS = (*(f"net-{count}" for count in SIMULATIONS), "net-deterministic")
REAL_NETS = tuple(f"net-real-{k}" for k in range(len(REAL_ACCURACY)))
NETWORK_HEADINGS = ("moves of", "games", "moves", "epochs", "minutes", "predicted, %")
MATCH_HEADINGS = (
    "agent", "against", "games", "won, draws, lost", "points, %", "result", "ms a move",
)  # fmt: skip
TARGET_HEADINGS = (
    "agent", "rivals", "trained against", "games", "wins, %", "survives, %", "ms a move",
    "both targets",
)  # fmt: skip
CURVE_HEADINGS = [
    text for preset, *_ in LOOPS.values() for text in (f"`{preset}`: games", "wins, %")
]


def conclusion_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the thesis' conclusions, whether they hold, and the numbers."""
    return [(one.claim, f"**{one.verdict}**", one.evidence) for one in conclusions(found)]


def competition_table(match: Mapping[str, Any], labels: Labels, thesis: str = "") -> str:
    """Return the outcomes of the agents of a competition, beside the thesis if it has the same one.

    Args:
        match: its record.
        labels: of networks.
        thesis: name of the competition in `RESULTS`.
    """
    agents = match["agents"]
    few, all_games = agents[0]["first"]["geese"], agents[0]["lives"]["geese"]
    headings = ["agent"]
    for measure in ("wins", "deaths", "length"):
        headings += [f"{measure}: thesis", f"of {few}"] if thesis else []
        headings.append(f"{measure}{'' if measure == 'length' else ', %'} of {all_games:,}")
    rows = []
    for k, agent in enumerate(agents):
        first, lives = agent["first"], agent["lives"]
        row = [called(agent["agent"], labels)]
        for place, measure in enumerate(("wins", "deaths")):
            row += [str(RESULTS[thesis][k][place]), str(first[measure])] if thesis else []
            row.append(wilson_share(lives[measure], lives["geese"]))
        row += [str(RESULTS[thesis][k][2]), _length(first)] if thesis else []
        rows.append([*row, _length(lives, interval=True)])
    return table(headings, rows)


def _length(lives: Mapping[str, Any], interval: bool = False) -> str:
    """Return the mean length of survivors, with a normal 95 % interval if asked for."""
    mean, deviation = lives["mean_length"], lives["length_deviation"]
    if mean is None:
        return "-"
    if not interval or deviation is None:
        return f"{mean:.1f}"
    reach = Z * deviation / math.sqrt(lives["geese"] - lives["deaths"])
    return f"{mean:.1f} ({mean - reach:.1f} to {mean + reach:.1f})"


def beside_thesis(found: Records, competitions: Sequence[str], labels: Labels) -> str:
    """Return a sentence on which counts of the thesis differ significantly from ours."""
    from scipy.stats import fisher_exact

    tests: list[tuple[str, float]] = []
    for name in competitions:
        for agent, theirs in zip(found[name]["agents"], RESULTS[name], strict=True):
            lives = agent["lives"]
            for place, measure in enumerate(("wins", "deaths")):
                ours = (lives[measure], lives["geese"] - lives[measure])
                p = fisher_exact([(theirs[place], GAMES - theirs[place]), ours]).pvalue
                rate = 100 * lives[measure] / lives["geese"]
                who = called(agent["agent"], labels)
                tests.append((f"{measure} of {who} ({theirs[place]}, {rate:.1f})", float(p)))
    corrected = holm([p for _, p in tests])
    apart = [text for (text, _), p in zip(tests, corrected, strict=True) if p < LEVEL]
    brackets = "; in brackets the thesis' and ours in %" if apart else ""
    listed = f": {', '.join(apart)}" if apart else ""
    return (
        f"Of the thesis' {len(tests)} counts of wins and deaths, {len(apart) or 'none'} "
        f"{'differs' if len(apart) < 2 else 'differ'} from ours by more than chance (Fisher's "
        f"exact test, Holm's correction, p < {LEVEL:g}{brackets}){listed}."
    )


def match_rows(found: Records, matches: Sequence[str], labels: Labels) -> list[tuple[str, ...]]:
    """Return a row of `MATCH_HEADINGS` for each match of two agents that has a record."""
    rows: list[tuple[str, ...]] = []
    for match in (found[name] for name in matches if name in found):
        ours, theirs = match["agents"]
        total = ours["total"]
        rows.append(
            (
                called(ours["agent"], labels),
                called(theirs["agent"], labels),
                f"{total['games']:,}",
                f"{total['wins']:,}, {total['draws']:,}, {total['losses']:,}",
                points_share(total),
                strength(total),
                f"{1000 * ours['seconds_per_move']:.1f}, {1000 * theirs['seconds_per_move']:.1f}",
            )
        )
    return rows


def time_rows(found: Records) -> list[tuple[Any, ...]]:
    """Return the time per move of flat Monte Carlo."""
    pairs = [
        (SECONDS[setting], agent)
        for name in ("depth-4", "depth-6")
        for setting, agent in zip(FLAT[name], found[name]["agents"], strict=True)
    ]
    return [
        (called(agent["agent"]), theirs, f"{1000 * ours:.3f}", f"{theirs / ours:,.0f}")
        for theirs, agent in pairs
        for ours in (agent["seconds_per_move"],)
    ]


def _network_cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of `NETWORK_HEADINGS` after the first, of a network's record."""
    data, training = one["data"], one["training"]
    return (
        f"{data['games']:,}",
        f"{data['training_positions']:,}",
        f"{training['best']['epoch']} of {training['epochs']}",
        f"{training['seconds'] / 60:.1f}",
        f"{100 * training['best']['accuracy']:.1f}",
    )


def imitator_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the networks that imitate flat Monte Carlo, and how predictable it is."""
    answers = {one["agent"]: one for one in found["agreement"]["agents"]}
    teachers = [*(flat(count, BEST_FLAT[1]) for count in SIMULATIONS), "deterministic"]
    accuracies = [*(f"{100 * x:.1f}" for x in SIMULATED_ACCURACY.values()), "-"]
    return [
        (
            called(spec),
            *_network_cells(found[name]),
            accuracy,
            f"{100 * answers[spec]['predictable']:.1f}",
            f"{100 * answers[spec]['agreement']:.1f}",
        )
        for name, spec, accuracy in zip(IMITATORS, teachers, accuracies, strict=True)
    ]


def real_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the networks that imitate recorded games."""
    accuracies = [*(f"{100 * x:.1f} ({band})" for band, x in REAL_ACCURACY.items()), "-"]
    rows = []
    for name, accuracy in zip((*REAL_NETS, "net-real-all"), accuracies, strict=True):
        settings = found[name]["settings"]
        players = settings.get("agents", [" to ".join(settings.get("rating_range", ["all"]))])
        rows.append((", ".join(players), *_network_cells(found[name]), accuracy))
    return rows


def slowest(found: Records) -> str:
    """Return the milliseconds per move of the slowest agent of the final.

    Other work on the machine slows agents down, not in all of these competitions.
    """
    finals = [found[name]["agents"] for name in FINALS if name in found]
    seconds = min(max(agent["seconds_per_move"] for agent in agents) for agents in finals)
    return f"{1000 * seconds:.1f}"


def note(record: Mapping[str, Any]) -> str:
    """Return what a record notes about differences from its plan, as a paragraph."""
    text = fill(f"Note: {record.get('note')}", width=100, break_on_hyphens=False)
    return f"\n\n{text}" if "note" in record else ""


def origin() -> str:
    """Return the paragraph on the training of the network of self-play."""
    return (
        f"The network `ac:{SHIPPED}` comes with the package. "
        f"{load_card('ac', SHIPPED)['trained_by']} So it was trained against rivals of the next "
        "table: `trained against` says of each, in order, whether it was (`yes`), or only against "
        "the same agent with other settings or another network (`its kind`), or neither (`no`)."
    )


def target_rows(found: Records, names: Iterable[str], labels: Labels) -> list[tuple[str, ...]]:
    """Return a row of `TARGET_HEADINGS` for each competition that has a record."""
    card = load_card("ac", SHIPPED)
    rows: list[tuple[str, ...]] = []
    for match in (found[name] for name in names if name in found):
        ours, *others = match["agents"]
        lives = ours["lives"]
        survived = lives["geese"] - lives["deaths"]
        # A tree search has not learned from any agent.
        learned = ours["agent"].startswith("ac:")
        relations = [trained_against(card, one["agent"]) for one in others] if learned else ["-"]
        rivals = [called(one["agent"], labels) for one in others]
        if len(set(rivals)) == 1:
            rivals, relations = [f"three {rivals[0]}"], relations[:1]
        rows.append(
            (
                called(ours["agent"], labels),
                "; ".join(rivals),
                "; ".join(relations),
                f"{lives['geese']:,}",
                wilson_share(lives["wins"], lives["geese"]),
                wilson_share(survived, lives["geese"]),
                f"{1000 * ours['seconds_per_move']:.1f}",
                both_targets((lives["wins"], survived), lives["geese"]),
            )
        )
    return rows


def both_targets(counts: tuple[int, int], games: int) -> str:
    """Return whether both shares reach the target, by their Wilson 95 % intervals."""
    intervals = [wilson(count, games) for count in counts]
    if all(low >= TARGET for low, _ in intervals):
        return "yes"
    return "**no**" if any(high < TARGET for _, high in intervals) else OPEN


def loop_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the networks that learned by self-play from random weights."""
    rows = []
    for name, (preset, *_) in LOOPS.items():
        one = found[name]
        last, training = one["curve"][-1], one["training"]
        accepted, tested = last.get("candidates_accepted"), last.get("candidates_tested")
        results = {part["opponent"]: part["seats"][0] for part in one["evaluation"]}
        wins = [wilson_share(results[k]["wins"], results[k]["games"]) for k in ("random", OPPONENT)]
        minutes, kept = f"{training['seconds'] / 60:.1f}", f"{accepted} of {tested}"
        kept = "-" if tested is None else kept
        rows.append((f"`{preset}`", f"{training['games']:,}", minutes, kept, *wins))
    return rows


def loop_precision(found: Records) -> str:
    """Return the numerical precision of the loops of self-play."""
    return ", ".join(sorted({found[name]["training"]["precision"] for name in LOOPS}))


def curve_rows(found: Records) -> list[tuple[str, ...]]:
    """Return the wins of the loops of self-play by games."""
    curves = [
        [(f"{at['games']:,}", f"{100 * at['win_rate']:.0f}") for at in found[name]["curve"]]
        for name in LOOPS
    ]
    return [sum(line, ()) for line in zip_longest(*curves, fillvalue=("", ""))]


def ways_out(found: Records) -> str:
    """Return the range of the shares of deaths without a way out of the best flat Monte Carlo."""
    shares = [
        sum(agent["lives"]["forced"].values()) / max(agent["lives"]["deaths"], 1)
        for match in competitions_of_four(found).values()
        for agent in match["agents"]
        if agent["agent"] == flat(*BEST_FLAT)
    ]
    return f"{percent(min(shares))} to {percent(max(shares))}" if shares else "-"


def deaths_table(found: Records, labels: Labels) -> str:
    """Return the causes of death of each agent, in all competitions of four together."""
    totals = total_lives(found, labels)
    shown = [cause for cause in CAUSES if any(sums[cause] for sums in totals.values())]
    rows = [
        (
            name,
            f"{sums['geese']:,}",
            f"{100 * sums['deaths'] / sums['geese']:.1f}",
            *(f"{100 * sums[cause] / max(sums['deaths'], 1):.1f}" for cause in shown),
            wilson_share(sums["forced"], sums["deaths"]) if sums["deaths"] else "-",
        )
        for name, sums in totals.items()
    ]
    return table(("agent", "geese", "died, %", *shown, "no way out"), rows)


def rating_rows(found: Records, labels: Labels) -> list[tuple[str, ...]]:
    """Return the ratings of all agents of competitions of four different agents, best first."""
    rated = {
        name: match
        for name, match in competitions_of_four(found).items()
        if len({one["agent"] for one in match["agents"]}) == len(match["agents"])
    }
    ratings = rate_all(
        {
            name: (
                [called(agent["agent"], labels) for agent in match["agents"]],
                read_outcomes(match["outcomes"]),
            )
            for name, match in rated.items()
        }
    )
    totals = total_lives(rated, labels)
    return [
        (
            name,
            f"{one.elo:+.0f} ({one.low:+.0f} to {one.high:+.0f})",
            *(f"{totals[name][key]:,}" for key in ("geese", "wins", "deaths")),
        )
        for name, one in sorted(ratings.items(), key=lambda item: -float(item[1].elo))
    ]


def total_lives(found: Records, labels: Labels) -> dict[str, dict[str, int]]:
    """Return the counts of the geese of each agent, in all competitions of four together."""
    totals: dict[str, dict[str, int]] = {}
    for match in competitions_of_four(found).values():
        for agent in match["agents"]:
            lives = agent["lives"]
            counts = {key: lives[key] for key in ("geese", "wins", "deaths")}
            counts |= {"forced": sum(lives["forced"].values()), **lives["causes"]}
            sums = totals.setdefault(called(agent["agent"], labels), dict.fromkeys(counts, 0))
            for key, count in counts.items():
                sums[key] += count
    return totals


def competitions_of_four(found: Records) -> dict[str, dict[str, Any]]:
    """Return the matches in which every agent has one goose."""
    return {name: one for name, one in found.items() if "outcomes" in one}
