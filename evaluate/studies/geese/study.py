"""Study of agents for Hungry Geese (Martín Miralles, UIB, 2021), and beyond it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import fingerprint, shipped_weights
from ludoteca.envs.params import choice
from ludoteca.evaluate.studies.geese import names, tables
from ludoteca.evaluate.studies.geese.names import (
    BEST_FLAT,
    FINALS,
    FLAT,
    LITERAL,
    LITERAL_TAIL,
    LOOPS,
    OPPONENT,
    OUTSIDERS,
    SHIPPED,
    SIMULATIONS,
    called,
    flat,
    is_shipped,
)
from ludoteca.evaluate.studies.runner import run_study
from ludoteca.evaluate.studies.study import GAMES as GAMES_FILE
from ludoteca.evaluate.studies.study import Study, Task, Tasks, match_task, read_metrics
from ludoteca.files import read_json, write_whole

GAMES = 2_000  # of a competition
FINAL_GAMES = {"final": (LITERAL, 500), "final-tail": (LITERAL_TAIL, 500),
               "final-default": ("deterministic", GAMES)}  # fmt: skip
IMITATED_GAMES = 1_000  # that a network learns from; the deterministic agent's are twice as long
SEARCH = "simulations=32"  # of the network of self-play
# A move may take 1 s in the competition; games of agents that take all of it would take days.
SECONDS = 0.05
TIMED_SEARCH = f"simulations=100000,seconds={SECONDS}"
# Competitions of the network of self-play -> by what their number of games is divided.
FEWER = {
    "ours": 1,
    "ours-search": 2,
    "ours-timed": 20,
    "ours-search-or-not": 8,
    "ours-timed-or-not": 20,
    "ours-mcts": 4,
    "ours-random-safe": 4,
    "tree": 2,
}
TREE = "mcts:simulations=1000"  # the tree search without a network, in the same competition
# Whose moves of recorded games a network learns, the weakest first, as in the thesis: names of
# agents of the public episodes that come closest to its ratings.
BANDS = (
    "kaggle-greedy+crazy-goose+straightforward-bfs+risk-averse-greedy",
    "thesis-deterministic+boilergoose",
    "smart-geese-rl",
    "league-net",
)
RATINGS = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?|inf)")  # of a band given by ratings


def reproduce(
    episodes: tuple[Path, ...] = (),
    bands: tuple[str, str, str, str] = BANDS,
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    part: str = "all",
    precision: str = "auto",
    processes: int | None = None,
    executor: str = "local",
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Play all competitions of the thesis and train its networks; then what goes beyond it.

    Interrupted or killed, it resumes when the same command is given again. The report is written
    after each task: it has the sections whose tasks are all finished.

    Args:
        episodes: recorded games to learn from, see `python -m ludoteca.train.data convert`.
            Without any, tasks that need them are left out.
        bands: whose moves in them the four networks learn, the weakest first: names of agents,
            joined by `+`, or ratings as in the thesis, `900-1000 1001-1100 1101-1200 1201-inf`.
            The report only keeps records of the same bands.
        out: folder for the report; by default docs/results/geese, and for fast runs a folder in
            `runs`.
        runs: folder for games, networks and matches.
        fast: learn from few games and play few, in some minutes, to check that all of it runs.
        part: "uib2021", flat Monte Carlo and the networks that imitate it; "real", networks that
            imitate recorded games, and the final; "beyond", self-play from random weights, and the
            network that learned by self-play and comes with the package; or "all". The report keeps
            its records of the other parts.
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many commands run at a time; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out tasks that the report has records of, even if `runs` is empty.
        rewrite: run nothing: write the report again from its results.json and from the tasks that
            are finished in `runs`.

    Raises:
        ValueError: if an option is unknown, or what a `part` needs is missing.
    """
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    for path in episodes:
        if not path.exists():
            raise FileNotFoundError(f"there is no {str(path)!r}")
    study = make_study(episodes, bands, fast, precision)
    if episodes and part in ("all", "real") and not rewrite:
        check_sources(runs / f"geese{'_fast' if fast else ''}" / "sources.json", episodes, bands)
    run_study(study, out, runs, part, processes, executor, keep, rewrite)


def check_sources(file: Path, episodes: tuple[Path, ...], bands: tuple[str, ...]) -> None:
    """Write what the networks in a folder learn from, so that no others are taken for them.

    Raises:
        ValueError: if it was something else before.
    """
    sources = {"episodes": sorted(path.name for path in episodes), "bands": list(bands)}
    if not file.exists():
        write_whole(file, json.dumps(sources, indent=1) + "\n")
        return
    before = read_json(file)
    if before != sources:
        raise ValueError(
            f"the networks in {file.parent} learn from {before}, not from {sources}: give another "
            "folder with --runs, or delete this one"
        )


def make_study(
    episodes: tuple[Path, ...] = (),
    bands: tuple[str, ...] = BANDS,
    fast: bool = False,
    precision: str = "auto",
) -> Study:
    """Return the study.

    Args:
        episodes: files, archives and folders of recorded games.
        bands: four groups of agents, the weakest first: names joined by `+`, or ratings such as
            `900-1000`.
        fast: learn from few games and play few.
        precision: of the networks' numbers.
    """
    parts = {
        "uib2021": thesis_tasks(fast, precision),
        "real": real_tasks(episodes, bands, fast, precision),
        "beyond": beyond_tasks(fast, precision),
    }
    unavailable = {}
    if not episodes:
        unavailable["real"] = "part real needs recorded games: --episodes FILE ..."
    if not is_shipped():
        unavailable["beyond"] = f"part beyond needs the network ac:{SHIPPED}, which is not there"
    left_out = set[str]()  # what needs recorded games, or tasks that do
    for name, task in {} if episodes else (parts["real"] | parts["beyond"]).items():
        if name == "games-real" or not left_out.isdisjoint(task.requires):
            left_out.add(name)
    return Study(
        "geese",
        parts,
        (names, tables),
        fast=fast,
        unavailable=unavailable,
        left_out=frozenset(left_out),
    )


def thesis_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the competitions of flat Monte Carlo and of networks that imitate it, by name."""
    best, agents = flat(*BEST_FLAT), {f"{count}": flat(count, 6) for count in SIMULATIONS}
    teachers = agents | {"deterministic": "deterministic"}
    tasks = [
        competition(name, tuple(flat(*one) for one in agents), fast)
        for name, agents in FLAT.items()
    ]
    count = 24 if fast else IMITATED_GAMES
    data = {
        name: generated_games(f"games-{name}", spec, count // (1 if name in agents else 2))
        for name, spec in teachers.items()
    }
    # Those that take longest first: nothing waits for them in the end.
    tasks += [data[name] for name in reversed(teachers)]
    tasks += [
        network(f"net-{name}", data[name], f"network of {called(spec)}", learning(fast, precision))
        for name, spec in teachers.items()
    ]
    # With more answers to each question, the most frequent one is estimated better.
    options = {"games": 40, "moves": 2_000, "repeats": 64}
    if fast:
        options = {"games": 4, "moves": 100, "repeats": 8}
    asked = {"agents": tuple(teachers.values()), "seed": 0, **options}
    module = "ludoteca.evaluate.studies.geese.agreement"
    tasks.append(Task("agreement", module, asked | {"out": "{artifact}"}, asked, kind="agreement"))
    nets = {name: cnn(f"net-{name}", precision) for name in teachers}
    tasks += [
        competition("simulated", tuple(nets[name] for name in agents), fast, nets_of(agents)),
        competition(
            "teachers", (best, nets["1000"], "deterministic", nets["deterministic"]), fast,
            nets_of(("1000", "deterministic")),
        ),
        competition(
            "without-real", ("deterministic", best, "{simulated}", "greedy"), fast,
            ("simulated", *nets_of(agents)), {"simulated": "simulated"},
        ),
    ]  # fmt: skip
    return {task.name: task for task in tasks}


def real_tasks(
    sources: tuple[Path, ...],
    bands: tuple[str, ...] = BANDS,
    fast: bool = False,
    precision: str = "auto",
) -> Tasks:
    """Return the networks that imitate recorded games, and their competitions, by name."""
    data, options = recorded_games("games-real", sources), learning(fast, precision)
    tasks = [data]
    for k, band in enumerate(bands):
        first, *others = band.split("+")
        label = f"network of group {k + 1}: {first}{', ...' if others else ''}"
        tasks.append(network(f"net-real-{k}", data, label, {**selected(band), **options}))
    tasks.append(network("net-real-all", data, "network of all", options))
    names = tuple(f"net-real-{k}" for k in range(len(bands)))
    strongest = names[-1]
    requires = (*names, *nets_of(map(str, SIMULATIONS)), "real", "simulated")
    tasks += [
        competition("real", tuple(cnn(name, precision) for name in names), fast, names),
        competition(
            "all-or-best", (cnn("net-real-all", precision), cnn(strongest, precision)), fast,
            ("net-real-all", strongest),
        ),
        *(
            competition(
                name, (goose, flat(*BEST_FLAT), "{simulated}", "{real}"), fast, requires,
                {"simulated": "simulated", "real": "real"}, games,
            )
            for name, (goose, games) in FINAL_GAMES.items()
        ),
    ]  # fmt: skip
    assert [name for name in FINAL_GAMES] == list(FINALS)
    return {task.name: task for task in tasks}


def beyond_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the loops of self-play, and the competitions of the shipped network, by name."""
    ours = f"ac:{SHIPPED}"
    players = {
        "ours": f"{ours},precision={precision}",
        "ours-search": f"{ours},{SEARCH},precision={precision}",
        "ours-timed": f"{ours},{TIMED_SEARCH},precision={precision}",
    }
    simulated = ("simulated", *nets_of(map(str, SIMULATIONS)))
    real = ("real", *(f"net-real-{k}" for k in range(len(BANDS))))
    tasks = [
        self_play(name, preset, games, every, fast, precision)
        for name, (preset, games, every) in LOOPS.items()
    ]
    file = shipped_weights("ac").get(SHIPPED)
    shipped = {ours: fingerprint(file)} if file else {}
    others = ("deterministic", flat(*BEST_FLAT))
    for name, spec in players.items():
        tasks.append(
            competition(
                name, (spec, *others, "{simulated}"), fast, simulated,
                {"simulated": "simulated"}, GAMES // FEWER[name], shipped,
            )
        )  # fmt: skip
        if name == "ours":
            agents = (spec, *others, "{real}")
            tasks.append(
                competition("ours-real", agents, fast, real, {"real": "real"}, networks=shipped)
            )
        else:
            match, against = f"{name}-or-not", (spec, players["ours"])
            games = GAMES // FEWER[match]
            tasks.append(competition(match, against, fast, games=games, networks=shipped))
    for name, rival in OUTSIDERS.items():
        agents = (players["ours"], rival, rival, rival)
        games = GAMES // FEWER[name]
        tasks.append(competition(name, agents, fast, games=games, networks=shipped))
    winners, games = {"simulated": "simulated"}, GAMES // FEWER["tree"]
    tasks.append(
        competition("tree", (TREE, *others, "{simulated}"), fast, simulated, winners, games)
    )
    return {task.name: task for task in tasks}


def generated_games(name: str, agent: str, games: int) -> Task:
    """Return games of an agent against itself, to learn from."""
    settings = {"agents": agent, "games": games, "seed": 0}
    more = {"game": "hungry_geese", "num_workers": 1, "out": "{artifact}"}
    return Task(
        name, "ludoteca.train.data", settings | more, settings, ("generate",),
        kind="games", product=GAMES_FILE, recorded=False,
    )  # fmt: skip


def recorded_games(name: str, sources: tuple[Path, ...]) -> Task:
    """Return games that others recorded, from files of the user, to learn from."""
    words = ("convert", *map(str, sources))
    return Task(
        name, "ludoteca.train.data", {"out": "{artifact}", "num_workers": 1}, {}, words,
        kind="games", product=GAMES_FILE, recorded=False,
    )  # fmt: skip


def network(name: str, data: Task, label: str, options: Mapping[str, Any]) -> Task:
    """Return the training of the thesis' convolutional network to imitate the moves of others."""
    settings = {"data": data.settings, "seed": 0, **options}
    places = {"data": f"{{folder}}/{data.name}/{data.product}", "run_dir": f"{{folder}}/{name}"}
    return Task(
        name, "ludoteca.train.imitation", settings | places, settings, ("uib2021",),
        (data.name,), kind="network", label=label, kept=("about", "data", "training"),
    )  # fmt: skip


def self_play(name: str, preset: str, games: int, every: int, fast: bool, precision: str) -> Task:
    """Return a training by self-play from random weights."""
    options = {
        "seed": 0,
        "games": games // 40 if fast else games,
        "eval_interval": every // 40 if fast else every,
        "eval_games": 4 if fast else 50,
        "final_eval_games": 8 if fast else 250,
        "eval_opponents": (OPPONENT,),
        "threads": 1,
        "precision": precision,
    }
    sizes = {"log_interval": 1_024, "past_opponent_interval": 5_120} if preset == "default" else {}
    return Task(
        name, "ludoteca.train.ppo", {**sizes, **options, "run_dir": f"{{folder}}/{name}"},
        {"preset": preset, **options}, (preset,), kind="self-play",
        kept=("about", "training", "evaluation"), summarize=evaluation_curve,
    )  # fmt: skip


def evaluation_curve(folder: Path) -> dict[str, Any]:
    """Return the wins in each evaluation of self-play, and how many networks were accepted."""
    column, tests = f"{OPPONENT}__any", ("candidates_tested", "candidates_accepted")
    curve = [
        {
            "games": int(row["step"]),
            "win_rate": float(row[column]),
            # Only the thesis' loop tests its networks.
            **{key: int(row[key]) for key in tests if key in row},
        }
        for row in read_metrics(folder, column)
    ]
    return {"curve": curve}


def competition(
    name: str,
    agents: tuple[str, ...],
    fast: bool,
    requires: tuple[str, ...] = (),
    winners: Mapping[str, str] | None = None,
    games: int = GAMES,
    networks: Mapping[str, str] | None = None,
) -> Task:
    """Return a match of Hungry Geese whose record has the outcome of each goose."""
    return match_task(
        name, agents, min(20, max(4, games // 50)) if fast else games, requires, winners=winners,
        networks=networks, module="ludoteca.evaluate.studies.geese.match",
    )  # fmt: skip


def cnn(name: str, precision: str) -> str:
    """Return the spec string of an agent that plays a network."""
    return f"cnn:{{folder}}/{name},precision={precision}"


def nets_of(teachers: Any) -> tuple[str, ...]:
    """Return the names of the networks of some teachers."""
    return tuple(f"net-{name}" for name in teachers)


def learning(fast: bool, precision: str) -> dict[str, Any]:
    """Return how long networks learn."""
    few = {"positions_per_epoch": 4_000} if fast else {}
    return {"epochs": 2 if fast else 15, "precision": precision, **few}


def selected(band: str) -> dict[str, Any]:
    """Return the options of learning only the moves of a band, see `make_study`."""
    ratings = RATINGS.fullmatch(band)
    return {"rating_range": ratings.groups()} if ratings else {"agents": tuple(band.split("+"))}
