"""The tasks of the study on Othello: games, networks, and matches between agents."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import shipped_weights
from ludoteca.evaluate.studies.match_task import Match
from ludoteca.evaluate.studies.study import FolderTask, GamesTask, command_line

ITERATIONS = (50, 200, 800)
# Games of a match with so many iterations, and of one at equal time.
GAMES = {50: 1_000, 200: 400, 800: 400}
TIMED_GAMES = 400
SECONDS = 0.02  # per move, at equal time
LEAVES = 16  # that a network sees at once, at equal time
UCT = "mcts:policy=uct,c=1.4142135623730951,action_selection=mean"  # the document's
TEST_GAMES = 2_000
SHIPPED = "othello"  # name of the AlphaZero network that comes with the package
# One line for each competitor that goes beyond the document: its name, and its spec string.
COMPETITORS = {
    "az": f"az:{SHIPPED},simulations=200,leaf_batch=8,solver_empties=10,precision=auto",
}
TIMES = 10  # how much more time than a competitor our own UCT gets


@dataclass(frozen=True)
class Data(GamesTask):
    """Games to learn from: UCT with 50 iterations against somebody.

    Attributes:
        name: of its folder.
        games: how many there are.
        opponent: `"random"` or `"self"`.
    """

    name: str
    games: int
    opponent: str
    requires: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {
            "games": self.games,
            "iterations": 50,
            "side": "both",
            "opponent": self.opponent,
            "seed": 0,
        }

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        agents = (f"{UCT},simulations={self.settings['iterations']}",)
        options = {
            "agents": agents if self.opponent == "self" else (*agents, self.opponent),
            "learn_from": 0,
            "games": self.games,
            "seed": self.settings["seed"],
            "num_workers": 1,
            "out": self.artifact(folder),
        }
        return command_line("ludoteca.train.data", ("generate",), options)


@dataclass(frozen=True)
class Network(FolderTask):
    """A value network that learns from the first games of some data.

    Attributes:
        name: of its folder.
        data: what it learns from.
        games: how many of these.
        view: `"second"`, as in the document, or `"mover"`.
        options: further options of the training.
    """

    name: str
    data: Data
    games: int
    view: str
    options: Mapping[str, Any]

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the tasks that it needs."""
        return (self.data.name,)

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {
            "data": self.data.settings,
            "games": self.games,
            "network.view": self.view,
            **self.options,
        }

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        places = {"data": self.data.artifact(folder), "run_dir": folder / self.name}
        return command_line("ludoteca.train.value_regression", (), self.settings | places)


@dataclass(frozen=True)
class FreshGames(FolderTask):
    """A network on fresh games, of UCT against random play and against itself.

    Attributes:
        name: of its folder.
        network: name of the network.
        games: how many of each kind.
    """

    name: str
    network: str
    games: int

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the tasks that it needs."""
        return (self.network,)

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        return {
            "player": f"{UCT},simulations=50",
            "opponents": ("random", "self"),
            "games": self.games,
            "seed": 10**6,
        }

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        places = {"network": folder / self.network, "out": self.artifact(folder)}
        return command_line(
            "ludoteca.evaluate.studies.othello.fresh_games", (), self.settings | places
        )


Task = Data | Network | FreshGames | Match
Tasks = dict[str, Task]
# Name of a network -> opponent of its games, how many games, and its view.
SIZES = {
    "random-1k": ("random", 1_000, "second"),
    "random-10k": ("random", 10_000, "second"),
    "random-100k": ("random", 100_000, "second"),
}
READINGS = {
    "random-10k-mover": ("random", 10_000, "mover"),
    "self-10k": ("self", 10_000, "second"),
    "self-10k-mover": ("self", 10_000, "mover"),
}
NETWORKS = SIZES | READINGS
# Name of the network that stands for the document's agent against others.
DOCUMENTS = "random-100k"


def document_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the document's pipeline and the matches of its networks, by name, in their order.

    Args:
        fast: learn from a fiftieth of the games and play few.
        precision: of the networks' numbers.
    """
    scale = 1 / 50 if fast else 1
    most: dict[str, int] = {}
    for opponent, games, _ in NETWORKS.values():
        most[opponent] = max(most.get(opponent, 0), round(games * scale))
    data = {opponent: Data(f"data-{opponent}", games, opponent) for opponent, games in most.items()}
    tasks: list[Task] = list(data.values())
    # The largest first: nobody waits for it in the end.
    for name, (opponent, games, view) in sorted(NETWORKS.items(), key=lambda item: -item[1][1]):
        options = {
            "epochs": 2 if fast else 12,
            "positions_per_epoch": 4_000 if fast else 200_000,
            # 1,000 or 2,000 games, or 100 of 1,000.
            "validation_fraction": 0.02 if games == 100_000 else 0.1,
            "precision": precision,
        }
        tasks.append(Network(f"net-{name}", data[opponent], round(games * scale), view, options))
    tasks += [
        FreshGames(f"test-{name}", f"net-{name}", 100 if fast else TEST_GAMES) for name in NETWORKS
    ]
    for iterations in reversed(ITERATIONS):
        games = 8 if fast else GAMES[iterations]
        for name in NETWORKS if iterations < 800 else SIZES:
            ours = f"uctnet:{{folder}}/net-{name},simulations={iterations},precision={precision}"
            if fast:  # few games side by side are slow otherwise
                ours += f",leaf_batch={LEAVES}"
            theirs = f"{UCT},simulations={iterations}"
            tasks.append(Match(f"{name}-{iterations}", (ours, theirs), games, (f"net-{name}",)))
    for name in SIZES:
        agents = (timed_uctnet(name, SECONDS, precision), f"{UCT},seconds={SECONDS}")
        games = 8 if fast else TIMED_GAMES
        tasks.append(Match(f"{name}-time", agents, games, (f"net-{name}",), {"probe": True}))
    return {task.name: task for task in tasks}


def alphazero_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the matches of each of `COMPETITORS`, by name, in their order.

    All games are played one by one. First its time per move is measured; our own UCT then has ten
    times as much, and the document's UCT with a network as much.

    Args:
        fast: play few games.
        precision: of the document's network.
    """
    games = 4 if fast else TIMED_GAMES
    tasks = []
    for name, spec in COMPETITORS.items():
        options = {"batch": 1, "probe": True}
        paced = 2 if fast else 20
        pace = Match(f"{name}-pace", (spec, "mcts:simulations=1000"), paced, options=options)
        opponents = {
            f"{name}-mcts": ("mcts:seconds={seconds}", TIMES, ()),
            f"{name}-uctnet": (
                timed_uctnet(DOCUMENTS, "{seconds}", precision), 1, (f"net-{DOCUMENTS}",),
            ),
        }  # fmt: skip
        tasks.append(pace)
        tasks += [
            Match(match, (spec, other), games, (pace.name, *after), options, pace.name, times)
            for match, (other, times, after) in opponents.items()
        ]
    return {task.name: task for task in tasks}


def timed_uctnet(name: str, seconds: float | str, precision: str) -> str:
    """Return the spec string of UCT with a network that thinks for a time."""
    place = f"uctnet:{{folder}}/net-{name}"
    return f"{place},seconds={seconds},leaf_batch={LEAVES},precision={precision}"


def is_shipped() -> bool:
    """Return whether the package comes with an AlphaZero network for Othello."""
    return SHIPPED in shipped_weights("az")
