"""Grid world of the textbook: twelve cells, of which one is the goal, one a trap, one an obstacle.

Stuart Russell and Peter Norvig, "Artificial Intelligence: A Modern Approach", 3rd edition, section
17.1, where the agent slips (`slip=0.2`) and every move costs 0.04 (`living_reward=-0.04`). It is
not a `Game` of this package, but a small Gymnasium environment for `ludoteca.train.q_learning`.
"""

from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.validation import check_options, check_seed

LAYOUT = (  # S start, + goal, - trap, # obstacle; on the right the numbers of the cells
    "...+",  # 0  1  2  3
    ".#.-",  # 4  5  6  7
    "S...",  # 8  9 10 11
)
ROWS, COLUMNS = len(LAYOUT), len(LAYOUT[0])
CELLS = "".join(LAYOUT)
START, GOAL, TRAP, OBSTACLE = (CELLS.index(symbol) for symbol in "S+-#")
FREE = tuple(cell for cell in range(len(CELLS)) if cell not in (GOAL, TRAP, OBSTACLE))
"""Cells from which the agent moves: all but the goal and the trap (terminal) and the obstacle."""

ACTIONS = ("north", "east", "south", "west")
DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Change of row and column of each action; cyclic neighbors in this list are at right angles."""


class Transition(NamedTuple):
    """One possible outcome of an action; `cell` is the next cell."""

    probability: float
    cell: int
    reward: float
    terminated: bool


class GridWorld(gymnasium.Env[int, int]):
    """Grid world in which an agent moves between neighboring cells until the goal or the trap.

    Observations are the agent's cell, 0 to 11, row after row; actions are 0 north, 1 east, 2 south
    and 3 west. `info["action_mask"]` (int8 `[4]`) marks the legal actions: those that neither leave
    the board nor enter the obstacle; when the episode is over, none is legal. An illegal action
    leaves the agent in its cell (unless it slips).
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array", "svg"],
        "render_fps": 4,
    }

    def __init__(
        self,
        *,
        goal_reward: float = 1.0,
        trap_reward: float = -1.0,
        living_reward: float = 0.0,
        slip: float = 0.0,
        random_start: bool = False,
        illegal_action: str = "stay",
        render_mode: str | None = None,
    ):
        """Make the environment.

        Args:
            goal_reward: reward of the move into the goal.
            trap_reward: reward of the move into the trap.
            living_reward: reward of every other move, also if the agent stays in its cell.
            slip: probability that the agent moves at right angles to its action, half for each
                side; 0.2 in the textbook.
            random_start: whether episodes begin in any free cell, instead of the one at the bottom
                left.
            illegal_action: `"stay"`: the agent stays in its cell, or slips to a side as with a
                legal action; `"raise"`: a `ValueError`, and nothing changes.
            render_mode: one of `metadata["render_modes"]`.

        Raises:
            ValueError: if a parameter is out of range.
        """
        self._living_reward = check_real("living_reward", living_reward, -1e6, 1e6)
        self._rewards = {
            GOAL: check_real("goal_reward", goal_reward, -1e6, 1e6),
            TRAP: check_real("trap_reward", trap_reward, -1e6, 1e6),
        }
        self._slip = check_real("slip", slip, 0, 1)
        self._random_start = bool(check_choice("random_start", random_start, (False, True)))
        self._illegal_action = check_choice("illegal_action", illegal_action, ("stay", "raise"))
        self.render_mode = check_choice(
            "render_mode", render_mode, (None, *self.metadata["render_modes"])
        )
        self.observation_space: spaces.Space[Any] = spaces.Discrete(len(CELLS))
        self.action_space: spaces.Space[Any] = spaces.Discrete(len(ACTIONS))
        self._cell: int | None = None  # cell of the agent; None before the first `reset`

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Reset the episode; a seed also determines later episodes that are reset without one."""
        check_options(options)
        super().reset(seed=None if seed is None else check_seed(seed))
        self._cell = int(self.np_random.choice(FREE)) if self._random_start else START
        return self._cell, {"action_mask": action_mask(self._cell)}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move the agent.

        Raises:
            ValueError: if no episode is in progress, if there is no such action, or if it is
                illegal and `illegal_action="raise"`. Nothing has then changed.
        """
        if self._cell is None:
            raise ValueError("call reset before step")
        if self._cell not in FREE:
            raise ValueError(f"the episode is over in cell {self._cell}: call reset before step")
        action = check_integer("action", action, 0, len(ACTIONS) - 1)
        if self._illegal_action == "raise" and not action_mask(self._cell)[action]:
            legal = np.flatnonzero(action_mask(self._cell))
            raise ValueError(
                f"action {action} is illegal in cell {self._cell}: the legal actions are {legal}"
            )
        outcomes = self.transitions(self._cell, action)
        probabilities = [outcome.probability for outcome in outcomes]
        sampled = 0
        if len(outcomes) > 1:
            sampled = int(self.np_random.choice(len(outcomes), p=probabilities))
        _, self._cell, reward, terminated = outcomes[sampled]
        return self._cell, reward, terminated, False, {"action_mask": action_mask(self._cell)}

    def transitions(self, cell: int, action: int) -> list[Transition]:
        """Return the possible outcomes of an action: the model of the environment.

        Model-free learning does not use it.

        Args:
            cell: one of `FREE`.
            action: 0 to 3, legal or not.

        Raises:
            ValueError: if there is no such action, or if `cell` is not one of `FREE`.
        """
        check_choice("cell", int(cell), FREE)
        action = check_integer("action", action, 0, len(ACTIONS) - 1)
        sides = ((action - 1) % len(ACTIONS), (action + 1) % len(ACTIONS))
        moves = [(1 - self._slip, action), *((self._slip / 2, side) for side in sides)]
        next_cells = [(p, next_cell(cell, move)) for p, move in moves if p > 0]
        return [
            Transition(p, next_, self._rewards.get(next_, self._living_reward), next_ not in FREE)
            for p, next_ in next_cells
        ]

    def render(self) -> Any:
        """Return the board as text, pixels `[height, width, 3]` or an SVG document.

        Raises:
            ImportError: if Pillow is not installed (render mode `"rgb_array"`).
            ValueError: before the first `reset`.
        """
        if self._cell is None:
            raise ValueError("call reset before render")
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return board_text(self._cell)
        from ludoteca.envs.render import rgb_array, svg

        return svg(scene(self._cell)) if self.render_mode == "svg" else rgb_array(scene(self._cell))


def next_cell(cell: int, action: int) -> int:
    """Return the cell after a move; moves off the board or into the obstacle change nothing."""
    row, column = cell // COLUMNS + DIRECTIONS[action][0], cell % COLUMNS + DIRECTIONS[action][1]
    next_ = row * COLUMNS + column
    return next_ if 0 <= row < ROWS and 0 <= column < COLUMNS and next_ != OBSTACLE else cell


def action_mask(cell: int) -> NDArray[np.int8]:
    """Return 1 for each legal action of a cell and 0 for the others, shape `[4]`."""
    legal = [cell in FREE and next_cell(cell, action) != cell for action in range(len(ACTIONS))]
    return np.array(legal, np.int8)


def board_text(cell: int) -> str:
    """Return the board in three lines, with `A` in the cell of the agent."""
    marks = CELLS.replace("S", ".")
    marks = marks[:cell] + "A" + marks[cell + 1 :]
    return "\n".join(" ".join(marks[row * COLUMNS :][:COLUMNS]) for row in range(ROWS)) + "\n"


def scene(cell: int) -> Any:
    """Return the board as a `Scene` of `ludoteca.envs.render`, with the agent as a circle."""
    from ludoteca.envs.render.shapes import Circle, Rectangle, Scene

    size, gap = 60, 2  # pixels: cells, of which the lines between them take 2
    colors = {"+": "#2e9e5b", "-": "#d6452b", "#": "#3a3a3a"}
    squares = [
        Rectangle(column * size + gap, row * size + gap, size - gap, size - gap, color)
        for row in range(ROWS)
        for column in range(COLUMNS)
        for color in [colors.get(LAYOUT[row][column], "#f4f1ea")]
    ]
    row, column = divmod(cell, COLUMNS)
    center = (size + gap) / 2
    agent = Circle(column * size + center, row * size + center, size / 3, "#1f77d0")
    return Scene(COLUMNS * size + gap, ROWS * size + gap, "#9a9a9a", tuple(squares), (agent,))
