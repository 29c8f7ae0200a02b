"""The command `ludoteca play`."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from ludoteca.envs.game import Game
from ludoteca.envs.params import check_real
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import OptionalFile

if TYPE_CHECKING:
    from ludoteca.evaluate.play.agent_thread import AgentFailure
    from ludoteca.evaluate.play.controller import GameController

Seat = Literal["first", "second", "both", "none"]
Agents = Annotated[tuple[str, ...], arg(metavar="AGENT [AGENT]")]
HUMAN_SEATS = {"first": (0,), "second": (1,), "both": (0, 1), "none": ()}


def play_command(parameters: Any) -> Callable[..., None]:
    """Return the command `play`, with options for the game's parameters."""

    def play(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        agent: Agents = ("mcts:simulations=1000",),
        seat: Seat = "first",
        seed: int = 0,
        moves: Annotated[tuple[str, ...], arg(metavar="[MOVE ...]", help_behavior_hint="")] = (),
        values: bool = False,
        move_delay: float = 0.5,
        replay: OptionalFile = None,
        terminal: bool = False,
        screenshot: OptionalFile = None,
    ) -> None:
        """Play against an agent, in a window or, without one, in the terminal.

        Args:
            game: the game, such as othello or hex:board_size=5; only sequential games.
            rules: Parameters of the game.
            agent: your opponent, which also gives hints; with --seat none, the two agents that play
                each other.
            seat: your seat, moving first or second; both for two people, none to watch agents.
            seed: the same seed and moves give the same game.
            moves: moves at the beginning, by name, such as f5 d6.
            values: show the agent's visit fractions or values of moves on the board from the start.
            move_delay: seconds for which an agent's analysis is shown before it moves.
            replay: file to save the game to; by default the game is saved only on request.
            terminal: play in the terminal even if a window could be opened.
            screenshot: write an image (.png) of the window when you are to move, and exit.
        """
        start_playing(
            make_game(game, **rules),
            agent,
            seat,
            seed=seed,
            moves=moves,
            values=values,
            move_delay=move_delay,
            replay=replay,
            terminal=terminal,
            screenshot=screenshot,
        )

    return play


def start_playing(
    game: Game,
    agents: tuple[str, ...],
    seat: Seat,
    *,
    seed: int = 0,
    moves: tuple[str, ...] = (),
    values: bool = False,
    move_delay: float = 0.5,
    replay: Path | None = None,
    terminal: bool = False,
    screenshot: Path | None = None,
) -> None:
    """Play a game; the arguments are the options of the command.

    Raises:
        ValueError: if the options do not fit together, an agent is unknown, or an agent failed.
        OSError: if a file cannot be written.
    """
    from ludoteca.agents.registry import make_agent
    from ludoteca.evaluate.play.controller import GameController
    from ludoteca.evaluate.play.session import HUMAN, Session

    humans = HUMAN_SEATS[seat]
    _validate_options(agents, seat, move_delay, screenshot)
    specs = {p: agents[p % len(agents)] for p in (0, 1) if p not in humans}
    session = Session(game, [specs.get(p, HUMAN) for p in (0, 1)], seed)
    session.play_named(moves)
    agents_by_seat = {p: make_agent(spec, game) for p, spec in specs.items()}
    adviser = (agents[0], make_agent(agents[0], game)) if humans else None
    controller = GameController(
        session, agents_by_seat, adviser, show_values=values, move_delay=move_delay, file=replay
    )
    try:
        if screenshot is not None:
            failure = _write_screenshot(controller, screenshot)
        else:
            failure = _play(controller, terminal)
    finally:
        if replay is not None and session.actions:
            print(f"saved: {session.save(replay)}")
    if failure is not None:
        raise ValueError(str(failure))


def _validate_options(
    agents: tuple[str, ...], seat: Seat, move_delay: float, screenshot: Path | None
) -> None:
    """Raise a `ValueError` unless the options fit together."""
    if not 1 <= len(agents) <= (2 if seat == "none" else 1):
        expected = "two agents play each other with --seat none; otherwise expected one agent"
        raise ValueError(f"{expected}, got {len(agents)} with --seat {seat}")
    check_real("move_delay", move_delay, 0, 60)
    if screenshot is not None and screenshot.suffix != ".png":
        raise ValueError(f"{screenshot} must end in .png")


def _play(controller: "GameController", terminal: bool) -> "AgentFailure | None":
    """Play in a window or, without one, in the terminal; return the failure of an agent."""
    from ludoteca.evaluate.play.terminal import Terminal
    from ludoteca.evaluate.play.window import open_window, play_in_window, why_no_window

    reason = "" if terminal else why_no_window()
    if not terminal and not reason:
        try:
            window = open_window(controller)
        except RuntimeError as error:
            reason = str(error)
        else:
            play_in_window(controller, window)
            return controller.failure
    if reason:
        print(f"{reason}; playing in the terminal", file=sys.stderr)
    terminal_game = Terminal(
        controller.session, controller.agent_threads, controller.adviser, controller.file
    )
    terminal_game.play()
    return terminal_game.failure


def _write_screenshot(controller: "GameController", file: Path) -> "AgentFailure | None":
    """Let agents play until the human is to move, and write an image of the window."""
    from ludoteca.envs.render.raster import png
    from ludoteca.evaluate.play.screen import Screen
    from ludoteca.files import write_atomically

    while not controller.is_settled:
        controller.tick()
        time.sleep(0.01)
    write_atomically(file, png(Screen(controller).draw()))
    print(f"{len(controller.session.actions)} plies: {file}")
    return controller.failure
