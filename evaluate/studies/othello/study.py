"""Study of value networks in Othello (University of Seville, 2019), and AlphaZero."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import shipped_weights
from ludoteca.envs.params import choice
from ludoteca.evaluate.studies.othello import names, plots, tables
from ludoteca.evaluate.studies.othello.names import (
    COMPETITORS,
    ITERATIONS,
    LEAVES,
    MOST_GAMES,
    NETWORKS,
    SECONDS,
    SHIPPED,
    SIZES,
    TIMES,
    UCT,
)
from ludoteca.evaluate.studies.runner import run_study
from ludoteca.evaluate.studies.study import (
    GAMES as GAMES_FILE,
)
from ludoteca.evaluate.studies.study import (
    SecondsPerMove,
    Study,
    Task,
    Tasks,
    match_task,
)

# Games of a match with so many iterations, and of one at equal time.
GAMES = {50: 1_000, 200: 400, 800: 400}
TIMED_GAMES = 400
TEST_GAMES = 2_000


def reproduce(
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
    """Generate games of UCT, train value networks on them, and play all matches.

    Interrupted or killed, it resumes when the same command is given again. The report is written
    after each task: it has the sections whose tasks are all finished. Some matches are by the
    clock: nothing else should run on the same cores.

    Args:
        out: folder for the report; by default docs/results/othello, and for fast runs a folder in
            `runs`.
        runs: folder for games, networks and matches.
        fast: learn from a small part of the games and play few, in some minutes, to check that
            all of it runs.
        part: "seville2019", the paper's pipeline and the matches of its agents; "alphazero", those
            of the network that comes with the package; or "all". The report keeps its records of
            the other part.
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many commands run at a time; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out tasks that the report has records of, even if `runs` is empty.
        rewrite: run nothing: write the report again from its results.json and from the tasks that
            are finished in `runs`.

    Raises:
        ValueError: if an option is unknown, or `part` is "alphazero" and there is no such network.
    """
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    study = make_study(fast, precision)
    run_study(study, out, runs, part, processes, executor, keep, rewrite)


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: learn from a fiftieth of the games and play few.
        precision: of the networks' numbers.
    """
    missing = f"part alphazero needs the network az:{SHIPPED}, which is not there"
    return Study(
        "othello",
        {
            "seville2019": paper_tasks(fast, precision),
            "alphazero": alphazero_tasks(fast, precision),
        },
        {**vars(names), **vars(tables)},
        plots.draw,
        fast,
        unavailable={} if is_shipped() else {"alphazero": missing},
    )


def paper_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the paper's pipeline and the matches of its networks, by name."""
    scale = 1 / 50 if fast else 1
    most: dict[str, int] = {}
    for opponent, games, _ in NETWORKS.values():
        most[opponent] = max(most.get(opponent, 0), round(games * scale))
    data = {
        opponent: generated_games(f"data-{opponent}", games, opponent)
        for opponent, games in most.items()
    }
    tasks = list(data.values())
    # The largest first: nothing waits for it in the end.
    for name, (opponent, games, view) in sorted(NETWORKS.items(), key=lambda item: -item[1][1]):
        options = {
            "epochs": 2 if fast else 12,
            "positions_per_epoch": 4_000 if fast else 200_000,
            # 1,000 or 2,000 games, or 100 of 1,000.
            "validation_fraction": 0.02 if games == 100_000 else 0.1,
            "precision": precision,
        }
        tasks.append(network(f"net-{name}", data[opponent], round(games * scale), view, options))
    tasks += [
        fresh_games(f"test-{name}", f"net-{name}", 100 if fast else TEST_GAMES) for name in NETWORKS
    ]
    for iterations in reversed(ITERATIONS):
        games = 8 if fast else GAMES[iterations]
        for name in NETWORKS if iterations < 800 else SIZES:
            ours = f"uctnet:{{folder}}/net-{name},simulations={iterations},precision={precision}"
            if fast:  # a small batch of games is slow otherwise
                ours += f",leaf_batch={LEAVES}"
            agents = (ours, f"{UCT},simulations={iterations}")
            tasks.append(match_task(f"{name}-{iterations}", agents, games, (f"net-{name}",)))
    for name in SIZES:
        agents = (timed_uctnet(name, SECONDS, precision), f"{UCT},seconds={SECONDS}")
        games = 8 if fast else TIMED_GAMES
        tasks.append(match_task(f"{name}-time", agents, games, (f"net-{name}",), {"probe": True}))
    return {task.name: task for task in tasks}


def alphazero_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the matches of each of `COMPETITORS`, by name.

    All games are played one by one. First its time per move is measured; our own UCT then has ten
    times as much, and the paper's UCT with a network as much.
    """
    games, tasks = 4 if fast else TIMED_GAMES, []
    for name, spec in COMPETITORS.items():
        options = {"batch": 1, "probe": True}
        paced = 2 if fast else 20
        pace = match_task(f"{name}-pace", (spec, "mcts:simulations=1000"), paced, options=options)
        opponents = {
            f"{name}-mcts": ("mcts:seconds={seconds}", TIMES, ()),
            f"{name}-uctnet": (
                timed_uctnet(MOST_GAMES, "{seconds}", precision), 1, (f"net-{MOST_GAMES}",),
            ),
        }  # fmt: skip
        tasks.append(pace)
        tasks += [
            match_task(
                match, (spec, other), games, (pace.name, *requires), options,
                SecondsPerMove(pace.name, times),
            )
            for match, (other, times, requires) in opponents.items()
        ]  # fmt: skip
    return {task.name: task for task in tasks}


def generated_games(name: str, games: int, opponent: str) -> Task:
    """Return games to learn from: UCT with 50 iterations against `"random"` or `"self"`."""
    settings = {"games": games, "iterations": 50, "side": "both", "opponent": opponent, "seed": 0}
    agents = (f"{UCT},simulations=50", *(() if opponent == "self" else (opponent,)))
    options = {"agents": agents, "learn_from": 0, "games": games, "seed": 0, "num_workers": 1}
    return Task(
        name, "ludoteca.train.data", options | {"out": "{artifact}"}, settings, ("generate",),
        kind="games", product=GAMES_FILE, recorded=False,
    )  # fmt: skip


def network(name: str, data: Task, games: int, view: str, options: Mapping[str, Any]) -> Task:
    """Return the training of a value network on the first games of some data.

    Args:
        name: of the task.
        data: the games.
        games: number of them.
        view: `"second"`, as in the paper, or `"mover"`.
        options: further options of the training.
    """
    settings = {"data": data.settings, "games": games, "network.view": view, **options}
    places = {"data": f"{{folder}}/{data.name}/{data.product}", "run_dir": f"{{folder}}/{name}"}
    kept = ("about", "game", "data", "training", "validation", "metrics")
    return Task(
        name, "ludoteca.train.value_regression", settings | places, settings, (), (data.name,),
        kind="network", kept=kept,
    )  # fmt: skip


def fresh_games(name: str, network: str, games: int) -> Task:
    """Return the test of a network on fresh games of UCT, against random play and itself."""
    settings = {
        "player": f"{UCT},simulations=50",
        "opponents": ("random", "self"),
        "games": games,
        "seed": 10**6,
    }
    places = {"network": f"{{folder}}/{network}", "out": "{artifact}"}
    module = "ludoteca.evaluate.studies.othello.fresh_games"
    return Task(name, module, settings | places, settings, (), (network,), kind="test")


def timed_uctnet(name: str, seconds: float | str, precision: str) -> str:
    """Return the spec string of UCT with a network and a time per move."""
    place = f"uctnet:{{folder}}/net-{name}"
    return f"{place},seconds={seconds},leaf_batch={LEAVES},precision={precision}"


def is_shipped() -> bool:
    """Return whether the package comes with an AlphaZero network for Othello."""
    return SHIPPED in shipped_weights("az")
