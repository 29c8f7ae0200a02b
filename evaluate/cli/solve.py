"""The command `ludoteca solve`."""

from collections.abc import Callable, Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import OptionalFile

if TYPE_CHECKING:
    from ludoteca.evaluate.solve import Solution


def solve_command(parameters: Any) -> Callable[..., None]:
    """Return the command `solve`, with options for the game's parameters."""

    def solve(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        moves: Annotated[tuple[str, ...], arg(metavar="[MOVE ...]", help_behavior_hint="")] = (),
        capacity: int = 1 << 22,
        json: OptionalFile = None,
    ) -> None:
        """Solve a small game for two players: perfect play, and the value of each move.

        The search goes to the ends of the game, so games of up to a few million positions can be
        solved: tictactoe, hex --board-size 4, connect4 --rows 4 --columns 5.

        Args:
            game: the game, such as tictactoe or hex:board_size=3.
            rules: Parameters of the game.
            moves: moves before the position to solve, by name, such as b2 a1; by default none.
            capacity: maximum number of positions in the transposition table.
            json: also write the results to this file.
        """
        from json import dumps
        from shutil import get_terminal_size

        from ludoteca.evaluate.play.session import HUMAN, Session
        from ludoteca.evaluate.solve import solve as solve_position
        from ludoteca.files import write_atomically
        from ludoteca.provenance import run_provenance

        loaded_game = make_game(game, **rules)
        check_integer("capacity", capacity, 1, 10**9)
        session = Session(loaded_game, [HUMAN] * loaded_game.num_players)
        session.play_named(moves)
        solution = solve_position(loaded_game, from_state=session.current, capacity=capacity)
        assert session.mover is not None
        for line in solution_text(
            loaded_game, solution, session.mover, moves, get_terminal_size().columns
        ):
            print(line)
        if json is not None:
            content = {
                "game": loaded_game.spec,
                "moves": list(moves),
                "returns": list(solution.returns),
                "actions": solution.actions,
                "positions": solution.positions,
                **run_provenance(),
            }
            write_atomically(json, dumps(content, indent=1) + "\n")
            print(f"all numbers: {json}")

    return solve


def solution_text(
    game: Game, solution: "Solution", mover: int, moves: tuple[str, ...] = (), width: int = 80
) -> Iterator[str]:
    """Yield lines that describe a solution: the result, and the moves that win, draw and lose.

    Args:
        game: the game.
        solution: solution of a position of the game.
        mover: the player to move in this position.
        moves: names of the moves played before it.
        width: maximum length of a line.
    """
    from ludoteca.envs.render.status import player_name
    from ludoteca.evaluate.match_table import title_with_params

    game_value = solution.returns[mover]
    after_moves = f", after {' '.join(moves)}" if moves else ""
    yield fill(
        f"{title_with_params(game)}{after_moves}: {player_name(game, mover)} to move "
        f"{_verb(game_value, 1)} with perfect play",
        width,
    )
    for move_value in sorted(set(solution.actions.values()), reverse=True):
        names = [name for name, value in solution.actions.items() if value == move_value]
        num_moves = "1 move" if len(names) == 1 else f"{len(names)} moves"
        text = f"{num_moves} {_verb(move_value, len(names))}: {' '.join(names)}"
        yield fill(text, width, subsequent_indent="  ", break_on_hyphens=False)
    yield f"{solution.positions:,} positions searched"


def _verb(value: float, count: int) -> str:
    """Return the verb for one or several moves or players with a value, such as `"win"`."""
    verb = {1.0: "win", 0.0: "draw", -1.0: "lose"}.get(value)
    if verb is None:
        return f"get{'s' * (count == 1)} {value:g}"
    return f"{verb}s" if count == 1 else verb
