"""Controllers, agents and user input for tests of interactive games."""

import time
from collections.abc import Iterator

import numpy as np

from ludoteca.agents.agent import Agent
from ludoteca.envs.registry import make_game
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.scene import CAPTION_HEIGHT
from ludoteca.envs.render.window import BoardWindow
from ludoteca.evaluate.play.action_picker import is_on_board
from ludoteca.evaluate.play.controller import GameController
from ludoteca.evaluate.play.session import HUMAN, Session

# One game for each kind of input: cells, columns, moved pieces, and actions without a cell.
KINDS = [
    "tictactoe",
    "connect4:rows=4,columns=4,connect=3",
    "sheep_and_wolf:board_size=4",
    "free_for_all:board_size=3,plies=6",
    "hex:board_size=2,swap=True",
    "othello:board_size=4",
]
TIMEOUT = 60  # seconds for a controller to settle


class First(Agent):
    """Agent that plays the first legal action."""

    def act(self, states, seats, rngs, env_indices):
        return np.array([self.game.legal(s)[0] for s in states.view(np.recarray)])


class Illegal(Agent):
    """Agent that plays action 0 whether it is legal or not."""

    def act(self, states, seats, rngs, env_indices):
        return np.zeros(len(states), np.int64)


class Throwing(Agent):
    """Agent that raises an error."""

    def act(self, states, seats, rngs, env_indices):
        raise RuntimeError("out of\nmemory")


class Sleeping(Agent):
    """Agent that thinks for longer than any test takes."""

    def act(self, states, seats, rngs, env_indices):
        time.sleep(600)
        return np.zeros(len(states), np.int64)


class Following(First):
    """Agent of Othello that fails if it misses one of its turns, like OpenSpiel's search."""

    def __init__(self, game):
        super().__init__(game)
        self.discs = self.starts = 0

    def reset(self, env_indices):
        self.discs = 0
        self.starts += 1

    def act(self, states, seats, rngs, env_indices):
        discs = int((states["board"] >= 0).sum())
        if not 0 <= discs - self.discs <= 2:  # one disc of each player since its last turn
            raise ValueError(f"{discs} discs after {self.discs}")
        self.discs = discs
        return super().act(states, seats, rngs, env_indices)


def sit(game, agent=None, human=0, adviser=None, **options):
    """Return a controller with a human in one seat and an agent in the other."""
    game = make_game(game) if isinstance(game, str) else game
    agent = agent or First(game)
    players = ["agent", "agent"]
    players[human] = HUMAN
    session = Session(game, players)
    adviser = None if adviser is None else ("adviser", adviser)
    return GameController(session, {1 - human: agent}, adviser, **{"move_delay": 0} | options)


def settle(controller):
    """Tick a controller until a human is to move or nothing more happens; return it."""
    end = time.monotonic() + TIMEOUT
    while not controller.is_settled:
        assert time.monotonic() < end
        controller.tick()
        time.sleep(0.001)
    return controller


def pixel(screen, cell):
    """Return a pixel `(x, y)` of a cell, `row * columns + column`, off its center."""
    scene = screen.draw()
    layout = screen.controller.session.game.layout
    geometry = board_geometry(layout)
    x, y = geometry.center(*divmod(cell, layout.columns))
    top = (scene.height - (geometry.height + CAPTION_HEIGHT)) // 2
    return int(x + 0.3 * geometry.cell), int(y + top - 0.2 * geometry.cell)


def inputs(screen, action):
    """Yield what a user clicks or presses for an action, one at a time."""
    session = screen.controller.session
    layout = session.game.layout
    if not is_on_board(session.game, action):
        screen.draw()
        key = next(k for k, a in screen.controller.picker.keys().items() if a == action)
        button = next(area for area in screen.areas if area.key == key)
        # Player 1 presses keys, player 0 clicks buttons, inside their corner.
        yield key if session.mover else (int(button.x + 5), int(button.y + 5))
    elif layout.column_actions:
        yield pixel(screen, layout.columns + action)  # anywhere in the column
    elif layout.cell_actions:
        yield pixel(screen, action)
    else:
        for cell in layout.moves[action]:
            yield pixel(screen, cell)


def do(screen, action):
    """Play an action by clicks and keys."""
    for user_input in inputs(screen, action):
        if isinstance(user_input, str):
            screen.controller.key(user_input)
        else:
            screen.click(*user_input)


class User(BoardWindow):
    """Window whose user follows a script, an iterator of keys, pixels and None (no input).

    The script may look at the controller. At its end, the user quits.
    """

    def __init__(self, pygame, script: Iterator[object]):
        super().__init__()
        self._pygame, self._script = pygame, script

    def events(self):
        pygame = self._pygame
        user_input = next(self._script, "q")
        if isinstance(user_input, str):
            event = pygame.event.Event(pygame.KEYDOWN, key=pygame.key.key_code(user_input))
            pygame.event.post(event)
        elif user_input is not None:
            event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=user_input)
            pygame.event.post(event)
        return super().events()
