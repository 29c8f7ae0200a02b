"""Study of value networks in Othello (University of Seville, 2019), and AlphaZero."""

from collections.abc import Mapping
from typing import Any

from ludoteca.agents.networks.weights import shipped_weights
from ludoteca.evaluate.studies.othello import names, plots
from ludoteca.evaluate.studies.othello.names import LEAVES, NETWORKS, SIZES, UCT
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import (
    GAMES_FILE,
    SecondsPerMove,
    Study,
    Task,
    Tasks,
    match_task,
)

GAMES = {50: 1_000, 200: 400, 800: 400}  # games of a match, by iterations per move
TIMED_GAMES = 400  # games of a match at equal time
TEST_GAMES = 2_000  # games against each opponent in which a network predicts the result


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: learn from few games and play few games, in some minutes, to check that everything
            runs.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    parts = {
        "seville2019": paper_tasks(fast, precision),
        "alphazero": alphazero_tasks(fast, precision),
        "readings": readings_tasks(fast),
    }
    missing = f"part alphazero needs the network az:{names.SHIPPED}, which this package lacks"
    unavailable = {} if is_shipped() else {"alphazero": missing}
    return Study(
        "othello", parts, vars(names), plots.draw, fast, unavailable, processes={"readings": 1}
    )


def paper_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the tasks of the paper: games, training of networks, tests and matches, by name."""
    scale = 1 / 50 if fast else 1
    max_games: dict[str, int] = {}
    for opponent, games, _ in NETWORKS.values():
        max_games[opponent] = max(max_games.get(opponent, 0), round(games * scale))
    data = {
        opponent: generated_games(f"data-{opponent}", games, opponent)
        for opponent, games in max_games.items()
    }
    tasks = list(data.values())
    # The longest training runs come first, so that no worker is idle at the end.
    for name, (opponent, games, view) in sorted(NETWORKS.items(), key=lambda item: -item[1][1]):
        options = {
            "epochs": 2 if fast else 12, "positions_per_epoch": 4_000 if fast else 200_000,
            # Validation on 2,000 of 100,000 games, 1,000 of 10,000, or 100 of 1,000.
            "validation_fraction": 0.02 if games == 100_000 else 0.1, "precision": precision,
        }  # fmt: skip
        tasks.append(network(f"net-{name}", data[opponent], round(games * scale), view, options))
    tasks += [network_test(name, 100 if fast else TEST_GAMES) for name in NETWORKS]
    for iterations in reversed(names.ITERATIONS):
        for name in NETWORKS if iterations < 800 else SIZES:  # variants only with few iterations
            ours = f"uctnet:{{folder}}/net-{name},simulations={iterations},precision={precision}"
            # Few concurrent games give small batches for the network; leaf batches enlarge them.
            ours += f",leaf_batch={LEAVES}" if fast else ""
            agents = (ours, f"{UCT},simulations={iterations}")
            games = 8 if fast else GAMES[iterations]
            tasks.append(match_task(f"{name}-{iterations}", agents, games, (f"net-{name}",)))
    for name in SIZES:
        agents = (timed_uctnet(name, names.SECONDS, precision), f"{UCT},seconds={names.SECONDS}")
        games = 8 if fast else TIMED_GAMES
        tasks.append(match_task(f"{name}-time", agents, games, (f"net-{name}",), {"probe": True}))
    return {task.name: task for task in tasks}


def alphazero_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the matches of each of `COMPETITORS`, by name.

    All games are played one at a time. A first match measures the competitor's time per move. In
    the others, this package's MCTS has ten times that time, and the paper's UCT with a network has
    the same time.
    """
    tasks, games, options = [], 4 if fast else TIMED_GAMES, {"batch": 1, "probe": True}
    paper = timed_uctnet(names.MOST_GAMES, "{seconds}", precision)
    for name, spec in names.COMPETITORS.items():
        pace, agents = f"{name}-pace", (spec, "mcts:simulations=1000")
        tasks.append(match_task(pace, agents, 2 if fast else 20, options=options))
        for match, other, time_factor, requires in (
            (f"{name}-mcts", "mcts:seconds={seconds}", names.TIME_FACTOR, (pace,)),
            (f"{name}-uctnet", paper, 1, (pace, f"net-{names.MOST_GAMES}")),
        ):
            seconds = SecondsPerMove(pace, time_factor)
            tasks.append(match_task(match, (spec, other), games, requires, options, seconds))
    return {task.name: task for task in tasks}


def readings_tasks(fast: bool = False) -> Tasks:
    """Return the matches of other readings of the paper, by name.

    In some, the network chooses the moves of the playouts, in others its value replaces playouts.
    In some, the tree has one level, as that of the paper's program, in others it is a full tree.
    """
    iterations = names.PLAYOUT_ITERATIONS
    value = "uctnet:{folder}/small-net"
    budget, one_level = f"simulations={iterations}", "max_depth=1"
    timed = f"seconds={names.PLAYOUT_SECONDS},leaf_batch={LEAVES}"
    level_time = f"seconds={names.LEVEL_SECONDS}"
    # Both agents and the number of games of each match.
    matches: dict[str, tuple[str, str, int]] = {
        "playout-softmax": (f"{value},{budget},playout=softmax", f"{value},{budget}", 60),
        "playout-greedy": (f"{value},{budget},playout=greedy", f"{value},{budget}", 60),
        "playout-uct": (f"{value},{budget},playout=softmax", f"{UCT},{budget}", 60),
        "value-uct": (f"{value},{budget}", f"{UCT},{budget}", 400),
        "playout-time": (f"{value},{timed},playout=softmax", f"{value},{timed}", 20),
        "level-50": (f"{UCT},simulations=50,{one_level}", f"{UCT},simulations=50", 1_000),
        "level-800": (f"{UCT},simulations=800,{one_level}", f"{UCT},simulations=800", 200),
        "level-time": (f"{UCT},{level_time},{one_level}", f"{UCT},{level_time}", 100),
        "level-value": (f"{value},simulations=50,{one_level}", f"{value},simulations=50", 400),
    }
    opponent, games = "self", round(10_000 * (1 / 50 if fast else 1))
    data = generated_games(f"data-{opponent}", games, opponent)
    options = {
        "network.filters": names.SMALL_FILTERS, "network.hidden": names.SMALL_HIDDEN,
        "network.dropout": 0.0, "epochs": 2 if fast else 4,
        "positions_per_epoch": 4_000 if fast else 100_000, "precision": "float32",
    }  # fmt: skip
    tasks = [network("small-net", data, games, "mover", options)]
    for name, (first, second, count) in matches.items():
        requires = ("small-net",) if "uctnet" in first else ()
        more = {"probe": True} if name.endswith("time") else {}
        tasks.append(match_task(name, (first, second), 2 if fast else count, requires, more))
    return {task.name: task for task in tasks}


def generated_games(name: str, games: int, opponent: str) -> Task:
    """Return the task that generates training games of UCT with 50 iterations.

    Args:
        name: name of the task.
        games: number of games.
        opponent: UCT's opponent, `"random"` or `"self"`.
    """
    # With the names in the records of the report, which other names would invalidate.
    settings = {"games": games, "iterations": 50, "side": "both", "opponent": opponent, "seed": 0}
    agents = (f"{UCT},simulations=50", *(() if opponent == "self" else (opponent,)))
    options = {"agents": agents, "learn_from": 0, "games": games, "seed": 0, "num_workers": 1}
    return Task(
        name, "ludoteca.train.data", options | {"out": "{artifact}"}, settings,
        ("generate",), kind="games", artifact_name=GAMES_FILE, has_record=False,
    )  # fmt: skip


def network(name: str, data: Task, games: int, view: str, options: Mapping[str, Any]) -> Task:
    """Return the task that trains a value network on the first `games` of the generated games.

    Args:
        name: name of the task.
        data: the task that generates the games.
        games: number of games to learn from.
        view: the player from whose view the network sees the board: `"second"`, which is white, as
            in the paper, or `"mover"`, the player to move.
        options: further options of the training.
    """
    settings = {"data": data.settings, "games": games, "network.view": view, **options}
    paths = {
        "data": f"{{folder}}/{data.name}/{data.artifact_name}", "run_dir": f"{{folder}}/{name}"
    }  # fmt: skip
    return Task(
        name, "ludoteca.train.value_regression", settings | paths, settings, (), (data.name,),
        kind="network", record_keys=("about", "game", "data", "training", "validation", "metrics"),
    )  # fmt: skip


def network_test(name: str, games: int) -> Task:
    """Return the test of a network on new games of UCT, against random moves and against UCT."""
    settings = {
        "player": f"{UCT},simulations=50", "opponents": ("random", "self"), "games": games,
        "seed": 10**6,  # unlike that of the training games, 0
    }  # fmt: skip
    return Task(
        f"test-{name}", "ludoteca.evaluate.value_errors",
        settings | {"network": f"{{folder}}/net-{name}", "out": "{artifact}"}, settings, (),
        (f"net-{name}",), kind="test",
    )  # fmt: skip


def timed_uctnet(name: str, seconds: float | str, precision: str) -> str:
    """Return the spec string of UCT with the value network `name` and a time limit per move."""
    agent = f"uctnet:{{folder}}/net-{name}"
    return f"{agent},seconds={seconds},leaf_batch={LEAVES},precision={precision}"


def is_shipped() -> bool:
    """Return whether the package comes with an AlphaZero network for Othello."""
    return names.SHIPPED in shipped_weights("az")


reproduce = study_command(
    make_study,
    "Generate games of UCT, train value networks on them, and play all matches. Some matches have "
    "a time limit per move: no other program should run on the same cores.",
)
