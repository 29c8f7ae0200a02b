"""Recorder of games of Hungry Geese in the interpreter of kaggle-environments.

Run it in a virtual environment of its own, because kaggle-environments pins many packages; without
its dependencies, these are enough:

    python -m venv .venv-kaggle
    .venv-kaggle/bin/pip install --no-deps kaggle-environments==1.33.2
    .venv-kaggle/bin/pip install jsonschema numpy requests
    .venv-kaggle/bin/python tests/oracles/record_geese.py

The file is an `.npz` of flat arrays, concatenated over games, steps and geese, in this order. G is
the number of games, S of all steps, P of all geese, and S x P of all geese of all steps.

=============  =======  ==========================================================================
`config`       [G, 7]   columns as in `CONFIG`
`steps`        [G]      steps played
`heads`        [P]      cell of each goose at the start, `row * columns + column`
`died`         [P]      step at which the goose died, counted from 1; 0 if it did not
`rewards`      [P]      kaggle's reward at the end
`actions`      [S x P]  0 north, 1 east, 2 south, 3 west; 0 for the dead
`lengths`      [S x P]  of each goose after the step; 0 for the dead
`checksums`    [S]      see `checksum`; after the step
`food_counts`  [S + G]  foods at the start of each game and after each of its steps
`food`         [...]    cells of those foods, in kaggle's order
`placed`       [S]      number of foods placed in the step, which come last
=============  =======  ==========================================================================

The same seed records the same games.
"""

import argparse
import contextlib
import io
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

with contextlib.redirect_stdout(io.StringIO()):  # kaggle reports games that cannot be loaded
    import kaggle_environments
    from kaggle_environments.envs.hungry_geese import hungry_geese

CONFIG = (
    "num_players",
    "rows",
    "columns",
    "hunger_rate",
    "min_food",
    "max_length",
    "episode_steps",
)
DEFAULT = (4, 7, 11, 40, 2, 99, 200)
# Boards of many games: players, rows, columns, `min_food`, `max_length` (None: any).
BOARDS = (
    (4, 7, 11, 2, None),
    (2, 7, 11, 2, None),
    (8, 7, 11, 2, None),
    (3, 3, 3, 1, None),
    (2, 5, 5, 1, None),
    (4, 4, 6, 30, None),
    (5, 9, 8, 12, None),
    (4, 7, 11, 2, 1),
    (4, 7, 11, 2, 3),
    (3, 6, 5, 3, 8),
)
NAMES = ("NORTH", "EAST", "SOUTH", "WEST")
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


@dataclass
class View:
    """Observation of an agent: the board, its index, and its last action or None."""

    rows: int
    columns: int
    geese: list[list[int]]
    food: list[int]
    index: int
    last: int | None

    def ahead(self, cell: int, action: int) -> int:
        """Return the cell one step away in the direction of an action."""
        row, column = divmod(cell, self.columns)
        down, right = STEPS[action]
        return (row + down) % self.rows * self.columns + (column + right) % self.columns

    def distance(self, cell: int, other: int) -> int:
        """Return the number of steps between two cells."""
        down = abs(cell // self.columns - other // self.columns)
        right = abs(cell % self.columns - other % self.columns)
        return min(down, self.rows - down) + min(right, self.columns - right)

    def others(self) -> list[list[int]]:
        """Return the living opponents."""
        return [goose for i, goose in enumerate(self.geese) if goose and i != self.index]

    def safe(self) -> dict[int, int]:
        """Return safe actions and the cells they lead to; if there are none, less safe ones.

        Tails are assumed to move, and cells that other heads can reach are avoided if possible.
        """
        head = self.geese[self.index][0]
        forward = {a: self.ahead(head, a) for a in range(4) if a != opposite(self.last)}
        walls = {cell for goose in self.geese for cell in goose[:-1]}
        free = {a: cell for a, cell in forward.items() if cell not in walls}
        contested = {self.ahead(goose[0], a) for goose in self.others() for a in range(4)}
        uncontested = {a: cell for a, cell in free.items() if cell not in contested}
        return uncontested or free or forward


def opposite(action: int | None) -> int | None:
    """Return the reverse action, or None."""
    return None if action is None else (action + 2) % 4


def uniform(view: View) -> int:
    """Sample any action, so that the goose soon turns back."""
    return random.randrange(4)


def forward(view: View) -> int:
    """Sample an action that does not turn back."""
    return random.choice([a for a in range(4) if a != opposite(view.last)])


def careful(view: View) -> int:
    """Sample a safe action."""
    return random.choice(list(view.safe()))


def hungry(view: View) -> int:
    """Move towards food by safe actions."""
    safe = view.safe()
    return min(
        safe, key=lambda a: min((view.distance(safe[a], cell) for cell in view.food), default=0)
    )


def fasting(view: View) -> int:
    """Avoid food, and so starve."""
    safe = view.safe()
    return random.choice([a for a, cell in safe.items() if cell not in view.food] or list(safe))


def chasing(view: View) -> int:
    """Move towards the head of another goose."""
    head = view.geese[view.index][0]
    heads = [goose[0] for goose in view.others()]
    actions = [a for a in range(4) if a != opposite(view.last)]
    random.shuffle(actions)
    return min(
        actions,
        key=lambda a: min((view.distance(view.ahead(head, a), h) for h in heads), default=0),
    )


def tailing(view: View) -> int:
    """Follow the nearest tail, its own or another's."""
    safe = view.safe()
    tails = [goose[-1] for goose in view.geese if goose]
    return min(safe, key=lambda a: min(view.distance(safe[a], tail) for tail in tails))


def reckless(view: View) -> int:
    """Move towards food; with probability 0.03, sample any action."""
    return random.randrange(4) if random.random() < 0.03 else hungry(view)


def kaggle_greedy() -> Callable[[View], int]:
    """Return the greedy agent of kaggle-environments, which needs food on the board."""
    agents: list[Any] = []

    def greedy(view: View) -> int:
        if not view.food:
            return careful(view)
        if not agents:
            shape = {"rows": view.rows, "columns": view.columns}
            agents.append(hungry_geese.GreedyAgent(hungry_geese.Configuration(shape)))
        observation = {"geese": view.geese, "food": view.food, "index": view.index}
        return NAMES.index(agents[0](hungry_geese.Observation(observation)))

    return greedy


SIMPLE = (uniform, forward, careful, hungry, fasting, chasing, tailing, reckless)


def sample_config(number: int) -> tuple[int, ...]:
    """Sample a configuration: the default for even games, else one of `BOARDS`, or any."""
    if number % 2 == 0:
        return DEFAULT
    hunger_rate = random.choice((1, 2, 3, 5, 10, 17, 39, 40, 40, 41, 60, 100))
    episode_steps = random.choice((2, 3, 5, 20, 40, 41, 42, 80, 100, 199, 200, 200, 200))
    if number % 16 == 1:
        rows, columns = random.choice(((3, 3), (3, 9), (9, 3), (4, 4), (5, 12), (7, 11), (16, 13)))
        players = random.randint(1, 8)
        min_food = random.choice((1, 2, 3, 7, rows * columns - players, rows * columns, 500))
        max_length = random.choice((1, 2, 3, 4, 6, 10, 20, 99))
    else:
        players, rows, columns, min_food, limit = random.choice(BOARDS)
        max_length = limit or random.choice((rows * columns, rows * columns + 1, 99, 300))
    return (players, rows, columns, hunger_rate, min_food, max_length, episode_steps)


def sample_agents(players: int) -> list[Callable[[View], int]]:
    """Sample the agents: all of one kind, or a mixture; games of careful agents last long."""
    if random.random() < 0.15:
        kind = random.choice(SIMPLE)
        return [kind] * players
    kinds = random.choices((*SIMPLE, None), weights=(1, 2, 5, 8, 2, 2, 5, 5, 6), k=players)
    return [kind or kaggle_greedy() for kind in kinds]


def checksum(geese: list[list[int]], rewards: list[int]) -> int:
    """Return the CRC-32 of the cells, head first, 65535 after each goose, and the rewards.

    Cells are little-endian uint16, rewards little-endian int32.
    """
    cells = [cell for goose in geese for cell in (*goose, 0xFFFF)]
    return zlib.crc32(np.array([*rewards], "<i4").tobytes(), zlib.crc32(np.array(cells, "<u2")))


@dataclass
class Record:
    """Arrays of the file, as lists."""

    config: list[tuple[int, ...]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    died: list[int] = field(default_factory=list)
    rewards: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    checksums: list[int] = field(default_factory=list)
    food_counts: list[int] = field(default_factory=list)
    food: list[int] = field(default_factory=list)
    placed: list[int] = field(default_factory=list)

    def play(self, config: tuple[int, ...], agents: list[Callable[[View], int]]) -> None:
        """Play one game and append it."""
        players, rows, columns, hunger_rate, min_food, max_length, episode_steps = config
        env = kaggle_environments.make(
            "hungry_geese",
            {
                "rows": rows,
                "columns": columns,
                "hunger_rate": hunger_rate,
                "min_food": min_food,
                "max_length": max_length,
                "episodeSteps": episode_steps,
            },
        )
        env.reset(players)
        board = env.state[0].observation
        self.config.append(config)
        self.heads += [goose[0] for goose in board.geese]
        self.food_counts.append(len(board.food))
        self.food += board.food
        last: list[int | None] = [None] * players
        died = [0] * players
        steps = 0
        while not env.done:
            alive = [p for p in range(players) if env.state[p].status == "ACTIVE"]
            actions = [0] * players
            for p in alive:
                actions[p] = agents[p](View(rows, columns, board.geese, board.food, p, last[p]))
                last[p] = actions[p]
            PLACED.clear()
            env.step([NAMES[action] for action in actions])
            board = env.state[0].observation
            steps += 1
            for p in alive:
                died[p] = 0 if board.geese[p] else steps
            self.actions += actions
            self.lengths += [len(goose) for goose in board.geese]
            self.checksums.append(checksum(board.geese, [agent.reward for agent in env.state]))
            self.food_counts.append(len(board.food))
            self.food += board.food
            self.placed.append(sum(PLACED))
        self.steps.append(steps)
        self.died += died
        self.rewards += [agent.reward for agent in env.state]

    def save(self, file: Path) -> None:
        """Write the arrays, in integer types that hold all values."""
        types = {"actions": np.int8, "rewards": np.int32, "checksums": np.uint32}
        arrays = {
            name: np.array(values, types.get(name, np.int16)) for name, values in vars(self).items()
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, **arrays)


PLACED: list[int] = []  # numbers of foods that the interpreter has placed in this step


def count_placed_food() -> None:
    """Count the foods that the interpreter places, which may not follow from the lists of foods."""
    sample = hungry_geese.sample

    def counting_sample(cells: Any, count: int) -> Any:
        PLACED.append(count)
        return sample(cells, count)

    hungry_geese.sample = counting_sample


def skip_validation() -> None:
    """Turn off the validation of actions and states against schemas: ten times as fast."""
    kaggle_environments.utils.jsonschema.validate = lambda data, schema: None


def main() -> None:
    """Record games and save them."""
    parser = argparse.ArgumentParser(description="Record games of Hungry Geese by kaggle's rules.")
    golden = Path(__file__).parents[1] / "golden" / "hungry_geese.npz"
    parser.add_argument("--games", type=int, default=2200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=golden)
    arguments = parser.parse_args()
    skip_validation()
    count_placed_food()
    record = Record()
    for number in range(arguments.games):
        random.seed(f"{arguments.seed} {number}")  # for the interpreter, too
        config = sample_config(number)
        record.play(config, sample_agents(config[0]))
        if (number + 1) % 100 == 0:
            print(f"{number + 1} games, {len(record.checksums)} steps", flush=True)
    record.save(arguments.out)
    print(f"{arguments.out}: {arguments.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
