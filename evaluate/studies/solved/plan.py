"""The tasks of the study of AlphaZero in games whose results are known."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.match_task import Match
from ludoteca.evaluate.studies.study import FolderTask, command_line

# Of every training, however long; by default they would follow the number of games.
SIZES = {"games_per_iteration": 256, "learning_starts": 10_000, "buffer_size": 500_000}


@dataclass(frozen=True)
class Network(FolderTask):
    """A network that learns a game by AlphaZero.

    Attributes:
        name: of its folder.
        settings: options of the training.
    """

    name: str
    settings: Mapping[str, Any]
    requires: tuple[str, ...] = ()

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        options = {"run_dir": folder / self.name, **SIZES, **self.settings}
        return command_line("ludoteca.train.alphazero", (), options)


@dataclass(frozen=True)
class Perfection(FolderTask):
    """How perfectly a network plays, see `ludoteca.evaluate.exploit`.

    Attributes:
        name: of its folder.
        network: the network's name.
        what: `"best-response"` or `"positions"`.
        game: the game.
        simulations: of each search.
        options: of the command.
        endgame: number of empty squares up to which positions are solved instead of searched.
    """

    name: str
    network: str
    what: str
    game: str
    simulations: int
    options: Mapping[str, Any]
    endgame: int = 0

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the tasks that it needs."""
        return (self.network,)

    @property
    def settings(self) -> dict[str, Any]:
        """What it depends on."""
        solved = {"endgame": self.endgame} if self.endgame else {}
        return {"game": self.game, "simulations": self.simulations, **solved, **self.options}

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        agent = f"az:path={folder / self.network},simulations={self.simulations},precision=auto"
        agent += f",solver_empties={self.endgame}" if self.endgame else ""
        options = {"agent": agent, **self.options, "out": self.artifact(folder)}
        return command_line("ludoteca.evaluate.exploit", (self.what, self.game), options)


Task = Network | Perfection | Match
Tasks = dict[str, Task]

# Name of a network -> its game, and what differs from the defaults of the training.
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "tictactoe": (
        "tictactoe",
        {
            "games": 4_096,
            "network.filters": 32,
            "network.blocks": 2,
            "num_simulations": 16,
            "buffer_size": 20_000,
            "learning_starts": 1_000,
        },
    ),
    "hex": (
        "hex:board_size=5",
        {
            "games": 16_384,
            "network.filters": 32,
            "network.blocks": 4,
            "buffer_size": 200_000,
        },
    ),
    "connect4": (
        "connect4",
        {
            "games": 81_920,
            "network.filters": 64,
            "network.blocks": 4,
            "random_plies": 16,
        },
    ),
}
# A network, where it sits, and simulations of its searches: against everything.
LINES = [
    *(("tictactoe", seat, count) for seat in ("first", "second") for count in (0, 16)),
    *(("hex", "first", count) for count in (0, 4, 32)),
]
# Simulations in Connect Four, and empty squares up to which positions are solved instead.
SEARCHES = ((0, 0), (32, 0), (200, 0), (800, 0), (3_200, 0), (12_800, 0), (800, 30))
PLIES = ((12, 18), (19, 30))  # random ones before a position
POSITION_COUNT = 500
# Everybody plays Hex 5x5 against the network that moves first.
OPPONENTS = (
    "random",
    "greedy",
    "heuristic",
    "mixed:x=0.2",
    "dqn:hex5",
    "mcts:simulations=10000",
    "mcts:simulations=10000,solver=True,amaf=rave",
)
MATCH_GAMES = 200
# Of these, as of the network's own search, nothing is drawn at random: all games of a seat are one.
WITHOUT_CHANCE = ("heuristic", "dqn:hex5")


FAST_HEX = "hex:board_size=4"  # untrained networks leave too many lines on 5x5


def planned(scale: float) -> Tasks:
    """Return all tasks, by name.

    Args:
        scale: of the number of games; 1: the full study.
    """
    tasks: list[Task] = []
    games_of = {name: game for name, (game, _) in NETWORKS.items()}
    if scale < 1:
        games_of["hex"] = FAST_HEX
    for name, (_, settings) in NETWORKS.items():
        games = max(round(settings["games"] * scale), 512)
        shared = {
            "game": games_of[name],
            "log_interval": 1_024 if scale == 1 else 256,
            "eval_interval": max(games // 4, 256),
            "eval_games": 20,
            "eval_opponents": ("random", "mcts:simulations=2000"),
            "final_eval_games": 50,
        }
        tasks.append(Network(name, shared | settings | {"games": games}))
    for network, seat, count in LINES:
        name = f"lines-{network}-{seat}-{count}"
        options: dict[str, Any] = {"seat": seat}
        tasks.append(Perfection(name, network, "best-response", games_of[network], count, options))
    count = max(round(POSITION_COUNT * scale), 20)
    for (simulations, endgame), (least, most) in product(SEARCHES, PLIES):
        options = {"count": count, "min_plies": least, "max_plies": most, "seed": 1}
        name = positions_name(simulations, endgame, least, most)
        tasks.append(
            Perfection(name, "connect4", "positions", "connect4", simulations, options, endgame)
        )
    games = max(2 * round(MATCH_GAMES / 2 * scale), 10)
    for number, opponent in enumerate(OPPONENTS):
        agents = ("az:path={folder}/hex,simulations=32,precision=auto", opponent)
        options = {"game": games_of["hex"]}
        tasks.append(Match(f"match-{number}", agents, games, ("hex",), options))
    return {task.name: task for task in tasks}


def positions_name(simulations: int, endgame: int, least: int, most: int) -> str:
    """Return what the task is called that asks a network for its moves in solved positions."""
    return f"positions-{least}-{most}-{simulations}{f'-endgame-{endgame}' if endgame else ''}"
