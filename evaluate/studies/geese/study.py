"""Study of agents for Hungry Geese (Martín Miralles, UIB, 2021), with further experiments."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import fingerprint, shipped_weights
from ludoteca.evaluate.statistics import outcomes, repetitions
from ludoteca.evaluate.studies.geese import conclusions, names, plots, statistics, uib2021
from ludoteca.evaluate.studies.geese.names import agent_title, flat_spec, is_shipped
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import GAMES_FILE, Study, Task, Tasks, match_task, read_metrics
from ludoteca.files import read_json, write_atomically

GAMES = 2_000  # games of a competition
# Games of an agent that a network imitates; half as many for the deterministic agent, whose games
# are longer.
IMITATED_GAMES = 1_000
SEARCH = "simulations=32"  # search options of the self-play network
# Seconds per move of that network with a time limit. With Kaggle's limit, 1 s, the matches would
# take days.
SECONDS = 0.05
TIMED_SEARCH = f"simulations=100000,seconds={SECONDS}"
# Divisor of `GAMES` for each competition of the self-play network.
GAME_DIVISORS = {
    "ours": 1, "ours-search": 2, "ours-timed": 20, "ours-search-or-not": 8,
    "ours-timed-or-not": 20, "ours-mcts": 4, "ours-random-safe": 4, "tree": 2,
}  # fmt: skip
TREE = "mcts:simulations=1000"  # tree search without a network, in the competition of the network
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
    parts = {
        "uib2021": thesis_tasks(fast, precision),
        "real": real_tasks(episodes, bands, fast, precision),
        "beyond": beyond_tasks(fast, precision),
        "figures": figure_tasks(fast),
    }
    labels = {name: t.label for tasks in parts.values() for name, t in tasks.items() if t.label}
    unavailable, left_out = {}, set[str]()
    if not episodes:
        unavailable["real"] = "part real needs recorded games: --episodes FILE ..."
        for name, task in (parts["real"] | parts["beyond"]).items():
            if name == "games-real" or not left_out.isdisjoint(task.requires):
                left_out.add(name)
    if not is_shipped():
        unavailable["beyond"] = (
            f"part beyond needs the network ac:{names.SHIPPED}, which this package lacks"
        )

    def prepare(folder: Path) -> None:
        for path in episodes:
            if not path.exists():
                raise FileNotFoundError(f"there is no file of recorded games {str(path)!r}")
        check_sources(folder / "sources.json", episodes, bands)

    modules = (uib2021, names, outcomes, statistics, conclusions, repetitions)
    return Study(
        "geese",
        parts,
        {name: value for module in modules for name, value in vars(module).items()},
        partial(plots.draw, labels=labels),
        fast=fast,
        unavailable=unavailable,
        skipped_tasks=frozenset(left_out),
        prepare={"real": prepare} if episodes else {},
    )


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


def thesis_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the competitions of flat Monte Carlo and of networks that imitate it, by name.

    The competition "simulated" is between the networks that imitate flat Monte Carlo. Its best
    agent takes part in other competitions, as the placeholder `{simulated}`.
    """
    teachers = {f"{count}": flat_spec(count, 6) for count in names.SIMULATIONS}
    simulated, best = network_names(teachers), flat_spec(*names.BEST_FLAT)
    tasks = [
        competition(name, [flat_spec(*entry) for entry in names.FLAT[name]], fast)
        for name in names.FLAT
    ]
    count = 24 if fast else IMITATED_GAMES
    data = {name: generated_games(f"games-{name}", teachers[name], count) for name in teachers}
    teachers["deterministic"] = "deterministic"
    data["deterministic"] = generated_games("games-deterministic", "deterministic", count // 2)
    # The longest tasks come first, so that no worker is idle at the end.
    tasks += reversed(data.values())
    tasks += [
        network(
            f"net-{name}",
            data[name],
            f"network of {agent_title(spec)}",
            training_length(fast, precision),
        )
        for name, spec in teachers.items()
    ]
    # More samples per position (`repeats`) give a better estimate of the most frequent move.
    sizes = {"games": 40, "moves": 2_000, "repeats": 64}
    sizes = {"games": 4, "moves": 100, "repeats": 8} if fast else sizes
    settings = {"agents": tuple(teachers.values()), "seed": 0, **sizes}
    options = settings | {"out": "{artifact}"}
    module = "ludoteca.evaluate.agreement"
    tasks.append(Task("agreement", module, options, settings, kind="agreement"))
    nets = {name: cnn_spec(name, precision) for name in network_names(teachers)}
    students, winners = ("net-1000", "net-deterministic"), {"simulated": "simulated"}
    pairs = (best, nets["net-1000"], "deterministic", nets["net-deterministic"])
    four = ("deterministic", best, "{simulated}", "greedy")
    tasks += [
        competition("simulated", [nets[name] for name in simulated], fast, simulated),
        competition("teachers", pairs, fast, students),
        competition("without-real", four, fast, ("simulated", *simulated), winners),
    ]
    return {task.name: task for task in tasks}


def real_tasks(
    sources: tuple[Path, ...],
    bands: tuple[str, ...] = BANDS,
    fast: bool = False,
    precision: str = "auto",
) -> Tasks:
    """Return the networks that imitate recorded games, and their competitions, by name.

    The best agent of the competition "real" between these networks takes part in other
    competitions, as the placeholder `{real}`.

    Args:
        sources: files of recorded games.
        bands: groups of players whose moves a network learns, see `make_study`.
        fast: whether to train and play little.
        precision: numeric precision of the networks.
    """
    # Without settings: `check_sources` compares the files, which may lie in any folder.
    data = Task(
        "games-real", "ludoteca.train.data", {"out": "{artifact}", "num_workers": 1}, {},
        ("convert", *map(str, sources)), kind="games", artifact_name=GAMES_FILE, has_record=False,
    )  # fmt: skip
    tasks, options = [data], training_length(fast, precision)
    for k, band in enumerate(bands):
        first, *others = band.split("+")
        label = f"network of group {k + 1}: {first}{', ...' if others else ''}"
        tasks.append(network(f"net-real-{k}", data, label, {**band_options(band), **options}))
    tasks.append(network("net-real-all", data, "network of all", options))
    nets = tuple(f"net-real-{k}" for k in range(len(bands)))
    tasks.append(competition("real", [cnn_spec(name, precision) for name in nets], fast, nets))
    two = ("net-real-all", nets[-1])
    tasks.append(competition("all-or-best", [cnn_spec(name, precision) for name in two], fast, two))
    requires = (*nets, *network_names(names.SIMULATIONS), "real", "simulated")
    winners = {"simulated": "simulated", "real": "real"}
    for name, (goose, games) in names.FINALS.items():
        agents = (goose, flat_spec(*names.BEST_FLAT), "{simulated}", "{real}")
        tasks.append(competition(name, agents, fast, requires, winners, games))
    return {task.name: task for task in tasks}


def beyond_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the self-play training runs, and the competitions of the shipped network, by name."""
    ours = f"ac:{names.SHIPPED}"
    players = {
        "ours": f"{ours},precision={precision}",
        "ours-search": f"{ours},{SEARCH},precision={precision}",
        "ours-timed": f"{ours},{TIMED_SEARCH},precision={precision}",
    }
    file = shipped_weights("ac").get(names.SHIPPED)
    shipped = {ours: fingerprint(file)} if file else {}
    imitators = {
        "simulated": ("simulated", *network_names(names.SIMULATIONS)),
        "real": ("real", *(f"net-real-{k}" for k in range(len(BANDS)))),
    }
    tasks = [self_play(name, fast, precision) for name in names.LOOPS]

    def add(
        name: str, agents: tuple[str, ...], imitator: str = "", networks: Any = shipped
    ) -> None:
        """Add a competition; `imitator` is the placeholder `simulated` or `real` in `agents`.

        `networks` are the fingerprints of the shipped networks that play, see `match_task`.
        """
        requires, games = imitators.get(imitator, ()), GAMES // GAME_DIVISORS.get(name, 1)
        winners = {imitator: imitator} if imitator else None
        tasks.append(competition(name, agents, fast, requires, winners, games, networks))

    others = ("deterministic", flat_spec(*names.BEST_FLAT))
    for name, spec in players.items():
        add(name, (spec, *others, "{simulated}"), "simulated")
        if name == "ours":
            add("ours-real", (spec, *others, "{real}"), "real")
        else:
            add(f"{name}-or-not", (spec, players["ours"]))
    for name, rival in names.OUTSIDERS.items():
        add(name, (players["ours"], rival, rival, rival))
    add("tree", (TREE, *others, "{simulated}"), "simulated", None)
    return {task.name: task for task in tasks}


def figure_tasks(fast: bool = False) -> Tasks:
    """Return the task that finds example positions in a few games, by name."""
    network = f"cnn:{names.SHIPPED}"
    file = shipped_weights("cnn").get(names.SHIPPED)
    settings = {
        "agents": (flat_spec(1000, 4), flat_spec(*names.BEST_FLAT), network, "deterministic"),
        "games": 4 if fast else 100, "seed": 0,
    }  # fmt: skip
    networks = {network: fingerprint(file)} if file else {}
    task = Task(
        "examples", "ludoteca.evaluate.studies.geese.examples", settings | {"out": "{artifact}"},
        settings | {"networks": networks}, kind="examples",
        directory="-".join(("examples", *networks.values())),
    )  # fmt: skip
    return {task.name: task}


def generated_games(name: str, agent: str, games: int) -> Task:
    """Return the task that generates training games of an agent against itself."""
    settings = {"agents": agent, "games": games, "seed": 0}
    options = settings | {"game": "hungry_geese", "num_workers": 1, "out": "{artifact}"}
    return Task(
        name, "ludoteca.train.data", options, settings, ("generate",),
        kind="games", artifact_name=GAMES_FILE, has_record=False,
    )  # fmt: skip


def network(name: str, data: Task, label: str, options: Mapping[str, Any]) -> Task:
    """Return the task that trains the thesis' convolutional network to imitate recorded moves."""
    settings = {"data": data.settings, "seed": 0, **options}
    paths = {
        "data": f"{{folder}}/{data.name}/{data.artifact_name}", "run_dir": f"{{folder}}/{name}"
    }  # fmt: skip
    return Task(
        name, "ludoteca.train.imitation", settings | paths, settings, ("uib2021",),
        (data.name,), kind="network", label=label, record_keys=("about", "data", "training"),
    )  # fmt: skip


def self_play(name: str, fast: bool, precision: str) -> Task:
    """Return the task of one of `LOOPS`, a training run by self-play from random weights."""
    preset, games, eval_interval = names.LOOPS[name]
    divisor = 40 if fast else 1
    options = {
        "seed": 0, "games": games // divisor, "eval_interval": eval_interval // divisor,
        "eval_games": 4 if fast else 50, "final_eval_games": 8 if fast else 250,
        "eval_opponents": (names.OPPONENT,), "threads": 1, "precision": precision,
    }  # fmt: skip
    # Fixed, as their defaults depend on the number of games.
    sizes = {"log_interval": 1_024, "past_opponent_interval": 5_120} if preset == "default" else {}
    return Task(
        name, "ludoteca.train.ppo", {**sizes, **options, "run_dir": f"{{folder}}/{name}"},
        {"preset": preset, **options}, (preset,), kind="self-play",
        record_keys=("about", "training", "evaluation"), summarize=evaluation_curve,
    )  # fmt: skip


def evaluation_curve(folder: Path) -> dict[str, Any]:
    """Return the win rate in each evaluation of a training run, and the counts of its gatekeeper.

    The counts are those of the candidate networks that were tested, and of those accepted.
    """
    # The column has the win rates over all seats.
    column, gating = f"{names.OPPONENT}__any", ("candidates_tested", "candidates_accepted")
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


def competition(
    name: str,
    agents: Iterable[str],
    fast: bool,
    requires: tuple[str, ...] = (),
    winners: Mapping[str, str] | None = None,
    games: int = GAMES,
    networks: Mapping[str, str] | None = None,
) -> Task:
    """Return the task of a match of Hungry Geese whose record has the fates of the geese.

    The arguments are those of `match_task`; if `fast`, fewer games are played.
    """
    return match_task(
        name, tuple(agents), min(20, max(4, games // 50)) if fast else games, requires,
        winners=winners, networks=networks, module="ludoteca.evaluate.studies.geese.match",
    )  # fmt: skip


def cnn_spec(name: str, precision: str) -> str:
    """Return the spec string of an agent with the network of a task."""
    return f"cnn:{{folder}}/{name},precision={precision}"


def network_names(teachers: Iterable[object]) -> tuple[str, ...]:
    """Return the names of the tasks that train networks to imitate agents, by the agents' names."""
    return tuple(f"net-{name}" for name in teachers)


def training_length(fast: bool, precision: str) -> dict[str, Any]:
    """Return the training options for the number of epochs, their size, and the precision."""
    size = {"positions_per_epoch": 4_000} if fast else {}
    return {"epochs": 2 if fast else 15, "precision": precision, **size}


def band_options(band: str) -> dict[str, Any]:
    """Return the training options that select the moves of a group of players, see `make_study`."""
    ratings = RATING_RANGE.fullmatch(band)
    return {"rating_range": ratings.groups()} if ratings else {"agents": tuple(band.split("+"))}


reproduce = study_command(
    make_study,
    "Play all competitions of the thesis and train its networks; then run further experiments.",
)
