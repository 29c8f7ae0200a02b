"""Game on a board of a notebook: its state as JSON values, and the messages of the board."""

from collections.abc import Callable, Sequence
from typing import Any

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import render
from ludoteca.evaluate.arena.board_view import board_view, position_view
from ludoteca.evaluate.play.action_picker import ActionPicker
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.session import HUMAN, Session


class NotebookGame:
    """Game of humans and agents on one board.

    Attributes:
        session: positions, actions and players.
        note: text below the board: which agent is thinking or has failed, or why the last message
            of the board was refused; else empty.
    """

    def __init__(self, game: str | Game, players: Sequence[str], seed: int = 0):
        """Begin the first game.

        Args:
            game: spec string of a sequential game, or the game.
            players: `"human"` or the spec string of an agent, by seat.
            seed: seed of the first game; the next game has the next seed.

        Raises:
            ValueError: if the game is simultaneous, the number of players is wrong, none of them is
                human, the seed is out of range, or a game or agent is unknown.
        """
        game = make_game(game) if isinstance(game, str) else game
        self.session = Session(game, players, seed)
        if HUMAN not in players:
            raise ValueError(f"players must include {HUMAN!r}, got {', '.join(players)}")
        self.note = ""
        self._agent_threads = {
            seat: AgentThread(make_agent(spec, game), spec)
            for seat, spec in enumerate(players)
            if spec != HUMAN
        }
        self._agent_has_failed = False
        self._picker = self._new_picker()

    def board(self) -> dict[str, Any]:
        """Return the shape of the board and its pieces as JSON values, see `board_view`."""
        return board_view(self.session.game)

    def position(self) -> dict[str, Any]:
        """Return the current position as JSON values.

        These are the values of `position_view`, and (cells are `row * columns + column`):
            targets: the cells to click.
            selected: the cell of the piece to move, or None.
            buttons: pairs `[action, name]` of the actions to choose from by buttons: those between
                which the clicked cells do not decide, or else those that no click selects.
            can_undo: whether a human has moved.
            note: the attribute `note`.
        """
        session, picker = self.session, self._picker
        ply, names = len(session.actions), session.game.action_names
        view = position_view(session.game, session.current, ply, session.last_action, standings=())
        return view | {
            "targets": list(picker.targets()),
            "selected": picker.selected,
            "buttons": [[action, names[action]] for action in picker.options or picker.buttons()],
            "can_undo": any(session.players[session.mover_at(k)] == HUMAN for k in range(ply)),
            "note": self.note,
        }

    def play(self, name: str) -> None:
        """Play a human's move by its name, then the moves of agents until a human is to move.

        Raises:
            ValueError: if no human is to move, or the move is illegal.
        """
        self._check_turn()
        self.session.play_named([name])
        self._picker = self._new_picker()
        self.let_agents_move()

    def receive(self, message: Any) -> None:
        """Execute a message of the board, without the agents' moves (see `let_agents_move`).

        A message is a dictionary: `{"type": "click", "cell": c}`, `{"type": "play", "action": a}`,
        `{"type": "undo"}` or `{"type": "restart"}`; `c` is the number of a cell, `a` that of an
        action. If the message is refused, `note` has the reason.
        """
        try:
            self._execute(message)
            self.note = ""
        except ValueError as error:
            self.note = str(error)

    def let_agents_move(self, show: Callable[[], None] = lambda: None) -> None:
        """Play the moves of agents until a human is to move, or an agent fails.

        After a failure no agent moves until a message undoes a move or restarts the game.

        Args:
            show: callback before and after each move, which displays the position and the note.
        """
        while (mover := self.session.mover) in self._agent_threads and not self._agent_has_failed:
            assert mover is not None
            thread = self._agent_threads[mover]
            self.note = f"{thread.name} is thinking"
            show()
            result = thread.think(self.session)
            if isinstance(result, AgentFailure):
                self._agent_has_failed, self.note = True, str(result)
            else:
                self.session.play(result.action)
                self.note = ""
            self._picker = self._new_picker()
            show()

    def _repr_svg_(self) -> str:
        """Return the board as SVG, which notebooks display without the dependencies `notebook`."""
        return render(
            self.session.game, self.session.current, "svg", last_action=self.session.last_action
        )

    def _execute(self, message: Any) -> None:
        """Execute a message of the board; raise a `ValueError` if it is invalid."""
        if not isinstance(message, dict):
            raise ValueError(f"expected a JSON object, got {message!r:.80}")
        layout = self.session.game.layout
        match message.get("type"):
            case "click":
                self._check_turn()
                cell = check_integer(
                    "cell", message.get("cell"), 0, layout.rows * layout.columns - 1
                )
                action = self._picker.click(*divmod(cell, layout.columns))
                if action is not None:
                    self._play_action(action)
            case "play":
                self._check_turn()
                # `_play_action` checks that the action is legal; this bound only keeps the number
                # in its error message short.
                self._play_action(check_integer("action", message.get("action"), 0, 2**31))
            case "undo":
                self.session.undo()
                self._reset_agents()
            case "restart":
                self.session.restart()
                self._reset_agents()
            case kind:
                raise ValueError(f"unknown message {kind!r:.80}")

    def _play_action(self, action: int) -> None:
        """Play the action of a human; raise a `ValueError` if it is illegal."""
        if action not in self.session.legal():
            raise ValueError(f"action {action} is not legal here")
        self.session.play(action)
        self._picker = self._new_picker()

    def _reset_agents(self) -> None:
        """Reset agents and picker after an undo or a restart.

        What agents remember, such as a search tree, does not fit the new position.
        """
        for thread in self._agent_threads.values():
            thread.cancel(new_game=True)
        self._agent_has_failed = False
        self._picker = self._new_picker()

    def _check_turn(self) -> None:
        """Raise a `ValueError` unless a human is to move."""
        if not self.session.waits_for_human:
            raise ValueError("the game is over" if self.session.is_over else "an agent is to move")

    def _new_picker(self) -> ActionPicker:
        session = self.session
        legal = session.legal() if session.waits_for_human else []
        return ActionPicker(session.game, session.current, legal)
