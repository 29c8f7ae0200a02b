"""Tables of the report on Hungry Geese: competitions, times, networks, deaths, and ratings."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.statistics.intervals import score_interval, wilson
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.geese.lives import CAUSES
from ludoteca.evaluate.studies.geese.miralles2021 import GAMES, RESULTS
from ludoteca.evaluate.studies.geese.outcomes import Z, rate_all, read_outcomes
from ludoteca.evaluate.studies.geese.plan import called
from ludoteca.evaluate.studies.study import Records

Names = Mapping[str, str]  # what networks are called, by the name of their folder
LEVEL = 0.05


def competition_table(match: Mapping[str, Any], names: Names, thesis: str = "") -> str:
    """Return what became of the agents of a competition, beside the thesis if it has the same one.

    Args:
        match: what is kept of it.
        names: of networks.
        thesis: name of the competition in `RESULTS`.
    """
    agents = match["agents"]
    few, all_games = agents[0]["first"]["geese"], agents[0]["lives"]["geese"]
    headings = ["agent"]
    for measure in ("wins", "deaths", "length"):
        headings += [f"{measure}: thesis", f"of {few}"] if thesis else []
        headings.append(f"{measure}{'' if measure == 'length' else ', %'} of {all_games:,}")
    rows = []
    for k, told in enumerate(agents):
        first, lives = told["first"], told["lives"]
        row = [called(told["agent"], names)]
        for place, measure in enumerate(("wins", "deaths")):
            row += [str(RESULTS[thesis][k][place]), str(first[measure])] if thesis else []
            row.append(share(lives[measure], lives["geese"]))
        row += [str(RESULTS[thesis][k][2]), length(first)] if thesis else []
        rows.append([*row, length(lives, interval=True)])
    return table(headings, rows)


def share(count: int, total: int) -> str:
    """Return a share in % with its Wilson 95 % interval."""
    low, high = wilson(count, total)
    return f"{100 * count / total:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def length(lives: Mapping[str, Any], interval: bool = False) -> str:
    """Return how long the survivors are on average, with a normal 95 % interval if asked for."""
    mean, deviation = lives["mean_length"], lives["length_deviation"]
    if mean is None:
        return "-"
    if not interval or deviation is None:
        return f"{mean:.1f}"
    reach = Z * deviation / math.sqrt(lives["geese"] - lives["deaths"])
    return f"{mean:.1f} ({mean - reach:.1f} to {mean + reach:.1f})"


def beside_thesis(found: Records, competitions: Sequence[str], names: Names) -> str:
    """Return a sentence on which counts of the thesis differ from ours by more than chance."""
    from scipy.stats import fisher_exact

    tests: list[tuple[str, float]] = []
    for name in competitions:
        for told, theirs in zip(found[name]["agents"], RESULTS[name], strict=True):
            lives = told["lives"]
            for place, measure in enumerate(("wins", "deaths")):
                ours = (lives[measure], lives["geese"] - lives[measure])
                p = fisher_exact([(theirs[place], GAMES - theirs[place]), ours]).pvalue
                rate = 100 * lives[measure] / lives["geese"]
                text = f"{measure} of {called(told['agent'], names)} ({theirs[place]}, {rate:.1f})"
                tests.append((text, float(p)))
    corrected = holm([p for _, p in tests])
    apart = [text for (text, _), p in zip(tests, corrected, strict=True) if p < LEVEL]
    brackets = "; in brackets the thesis' and ours in %" if apart else ""
    listed = f": {', '.join(apart)}" if apart else ""
    return (
        f"Of the thesis' {len(tests)} counts of wins and deaths, {len(apart) or 'none'} "
        f"{'differs' if len(apart) < 2 else 'differ'} from ours by more than chance (Fisher's "
        f"exact test, Holm's correction, p < {LEVEL:g}{brackets}){listed}."
    )


def match_rows(found: Records, matches: Sequence[str], names: Names) -> Iterator[tuple[str, ...]]:
    """Yield a line for each match of two agents that is there, as `MATCH_HEADINGS` announce."""
    for match in matches:
        if match in found:
            ours, theirs = found[match]["agents"]
            total = ours["total"]
            counts = (total["wins"], total["draws"], total["games"])
            low, high = score_interval(*counts)
            points = 100 * (total["wins"] + total["draws"] / 2) / total["games"]
            yield (
                called(ours["agent"], names),
                called(theirs["agent"], names),
                f"{total['games']:,}",
                f"{total['wins']:,}, {total['draws']:,}, {total['losses']:,}",
                f"{points:.1f} ({100 * low:.1f} to {100 * high:.1f})",
                "stronger" if low > 0.5 else "weaker" if high < 0.5 else "not told apart",
                f"{1000 * ours['seconds_per_move']:.1f}, {1000 * theirs['seconds_per_move']:.1f}",
            )


MATCH_HEADINGS = (
    "agent", "against", "games", "won, draws, lost", "points, %", "result", "ms a move",
)  # fmt: skip


def deaths_table(found: Records, names: Names) -> str:
    """Return how the geese of each agent died, in all competitions of four together."""
    totals = total_lives(found, names)
    shown = [cause for cause in CAUSES if any(sums[cause] for sums in totals.values())]
    rows = []
    for name, sums in totals.items():
        deaths = sums["deaths"]
        rows.append(
            (
                name,
                f"{sums['geese']:,}",
                f"{100 * deaths / sums['geese']:.1f}",
                *(f"{100 * sums[cause] / max(deaths, 1):.1f}" for cause in shown),
                share(sums["forced"], deaths) if deaths else "-",
            )
        )
    headings = ("agent", "geese", "died, %", *shown, "no way out")
    return table(headings, rows)


def ratings_table(found: Records, names: Names) -> str:
    """Return the ratings of all agents of competitions of four different agents, the best first."""
    rated = {
        name: match
        for name, match in competitions_of_four(found).items()
        if len({one["agent"] for one in match["agents"]}) == len(match["agents"])
    }
    ratings = rate_all(
        {
            name: (
                [called(told["agent"], names) for told in match["agents"]],
                read_outcomes(match["outcomes"]),
            )
            for name, match in rated.items()
        }
    )
    totals = total_lives(rated, names)
    rows = [
        (
            name,
            f"{one.elo:+.0f} ({one.low:+.0f} to {one.high:+.0f})",
            *(f"{totals[name][key]:,}" for key in ("geese", "wins", "deaths")),
        )
        for name, one in sorted(ratings.items(), key=lambda item: -float(item[1].elo))
    ]
    return table(("agent", "Elo", "games", "wins", "deaths"), rows)


def total_lives(found: Records, names: Names) -> dict[str, dict[str, int]]:
    """Return what became of the geese of each agent, in all competitions of four together."""
    totals: dict[str, dict[str, int]] = {}
    for match in competitions_of_four(found).values():
        for told in match["agents"]:
            lives = told["lives"]
            counts = {key: lives[key] for key in ("geese", "wins", "deaths")}
            counts |= {"forced": sum(lives["forced"].values()), **lives["causes"]}
            sums = totals.setdefault(called(told["agent"], names), dict.fromkeys(counts, 0))
            for key, count in counts.items():
                sums[key] += count
    return totals


def competitions_of_four(found: Records) -> dict[str, dict[str, Any]]:
    """Return the matches in which every agent has one goose."""
    return {name: one for name, one in found.items() if "outcomes" in one}
