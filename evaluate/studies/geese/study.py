"""Study of agents for Hungry Geese (Martín Miralles, UIB, 2021), with further experiments."""

import json
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from ludoteca.agents.games.hungry_geese import lives
from ludoteca.evaluate.statistics import intervals, outcomes, repetitions, verdicts
from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.geese import agents, conclusions, dead_ends, plots, seeds
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.seeds import by_seed, of_first_seed
from ludoteca.evaluate.studies.study import Study, read_metrics
from ludoteca.files import read_json, write_atomically

# Groups of agents whose recorded moves a network learns, the weakest first; they replace the
# thesis' ranges of ratings. The names are those of agents in public recorded games ("episodes").
BANDS = (
    "kaggle-greedy+crazy-goose+straightforward-bfs+risk-averse-greedy",
    "thesis-deterministic+boilergoose",
    "smart-geese-rl",
    "league-net",
)
RATING_RANGE = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?|inf)")


def make_study(
    episodes: tuple[Path, ...] = (),
    bands: tuple[str, str, str, str] = BANDS,
    fast: bool = False,
    precision: str = "auto",
) -> Study:
    """Return the study.

    Args:
        episodes: files of recorded games to learn from, see `python -m ludoteca.train.data
            convert`. Without them, tasks that need them are skipped.
        bands: four groups of players in these games, the weakest first; a network learns the moves
            of each group. A group is names of agents joined by `+`, or a range of ratings as in the
            thesis, `900-1000 1001-1100 1101-1200 1201-inf`. The report only keeps results of the
            same groups.
        fast: learn from few games and play few games, in some minutes, to check that everything
            runs.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    options = {
        "precision": precision, "episodes": [str(path) for path in episodes],
        "groups": [group(number, band) for number, band in enumerate(bands)],
    }  # fmt: skip
    summaries = {"evaluation_curve": evaluation_curve}
    declaration = Declaration("geese", fast, options, summaries)
    parts = declaration.parts()
    left_out = set[str]()
    if not episodes:
        for name, task in (parts["real"] | parts["seeds"] | parts["beyond"]).items():
            if name == "games-real" or not left_out.isdisjoint(task.requires):
                left_out.add(name)

    def prepare(folder: Path) -> None:
        for path in episodes:
            if not path.exists():
                raise FileNotFoundError(f"there is no file of recorded games {str(path)!r}")
        check_sources(folder / "sources.json", episodes, bands)

    statistics = (intervals, lives, outcomes, repetitions, verdicts)
    modules = (*statistics, agents, dead_ends, conclusions, seeds)
    needed = {"real": "part real needs recorded games: --episodes FILE ..."}
    labels = {name: t.label for tasks in parts.values() for name, t in tasks.items() if t.label}
    return declaration.make_study(
        template_names={
            "document": agents.THESIS,
            "by_seed": by_seed,
            "of_first_seed": of_first_seed,
        }
        | {name: value for module in modules for name, value in vars(module).items()},
        draw=partial(plots.draw, labels=labels),
        unavailable={} if episodes else needed,
        skipped_tasks=frozenset(left_out),
        prepare=dict.fromkeys(("real", "seeds"), prepare) if episodes else {},
    )


def group(number: int, band: str) -> dict[str, Any]:
    """Return the declaration of the network of a group of players, see `make_study`."""
    first, *others = band.split("+")
    ratings = RATING_RANGE.fullmatch(band)
    return {
        "name": f"net-real-{number}",
        "label": f"network of group {number + 1}: {first}{', ...' if others else ''}",
        "settings": {"rating_range": ratings.groups()} if ratings else {"agents": [first, *others]},
    }


def check_sources(file: Path, episodes: Iterable[Path], bands: tuple[str, ...]) -> None:
    """Write the sources of the networks in a folder, unless the file has the same ones.

    Args:
        file: JSON file of the sources.
        episodes: files of recorded games.
        bands: groups of players whose moves the networks learn.

    Raises:
        ValueError: if the file has other sources.
    """
    sources = {"episodes": sorted(path.name for path in episodes), "bands": list(bands)}
    if not file.exists():
        write_atomically(file, json.dumps(sources, indent=1) + "\n")
    elif (before := read_json(file)) != sources:
        raise ValueError(
            f"the networks in {file.parent} learn from {before}, not from {sources}: give another "
            "folder with --runs, or delete that folder"
        )


def evaluation_curve(folder: Path) -> dict[str, Any]:
    """Return the win rate in each evaluation of a training run, and the counts of its gatekeeper.

    The counts are those of the candidate networks that were tested, and of those accepted.
    """
    # The column has the win rates over all seats.
    column, gating = "deterministic__any", ("candidates_tested", "candidates_accepted")
    curve = [
        {
            "games": int(row["step"]),
            "win_rate": float(row[column]),
            # Only the thesis' loop has a gatekeeper.
            **{key: int(row[key]) for key in gating if key in row},
        }
        for row in read_metrics(folder, column)
    ]
    return {"curve": curve}


reproduce = study_command(
    make_study,
    "Play the competitions of Martín Miralles (UIB, 2021), train the networks; then further ones.",
)
