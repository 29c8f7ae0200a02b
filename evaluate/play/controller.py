"""Controller of an interactive game: handles keys, clicks and time, without a window."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ludoteca.agents.agent import Agent
from ludoteca.evaluate.play.action_picker import ActionPicker
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.session import HUMAN, Session


class GameController:
    """State of an interactive game: session, agents, analyses and display options.

    `tick` advances time; `key` and `click` handle input. After an agent has failed, the only
    commands are save and quit.

    Attributes:
        session: the current game, with its players and history.
        agent_threads: threads of the agents, by seat.
        adviser: agent for hints and values for humans, or None.
        file: file to save games to, or None.
        picker: selection of an action by the human to move.
        analysis: the latest analysis by a playing agent, or None; its move is played after a delay.
        advice: the adviser's analysis of the current position, or None.
        show_values: whether visit shares or values are drawn on the board.
        show_hint: whether the adviser's move is shown.
        paused: whether the agents wait; only in games without humans.
        note: message about the last command or the adviser, or empty.
        failure: failure of an agent that ended the game, or None.
        closed: whether the user has quit.
    """

    def __init__(
        self,
        session: Session,
        agents: Mapping[int, Agent],
        adviser: tuple[str, Agent] | None = None,
        *,
        show_values: bool = False,
        move_delay: float = 0.5,
        file: Path | None = None,
    ):
        """Start a game.

        Args:
            session: the first game, at its start or after some moves.
            agents: the agents by seat; their names are in `session.players`.
            adviser: name and agent for hints and values for humans; not one of `agents`, since both
                may run concurrently.
            show_values: initial value of the attribute.
            move_delay: seconds for which an agent's analysis is shown before its move.
            file: file to save games to; by default every game has its own file, named after
                the game and the time.
        """
        self.session = session
        self.show_values, self.show_hint, self.paused = show_values, False, False
        self.note = ""
        self.failure: AgentFailure | None = None
        self.closed = False
        self.analysis: MoveAnalysis | None = None
        self.advice: MoveAnalysis | None = None
        # The adviser's last answer, once `advice` or `note` shows it.
        self._handled_advice: MoveAnalysis | AgentFailure | None = None
        self.agent_threads = {
            seat: AgentThread(agent, session.players[seat]) for seat, agent in agents.items()
        }
        self.adviser = None if adviser is None else AgentThread(adviser[1], adviser[0])
        self.file = file
        self._save_path, self._move_delay = file, move_delay
        self._move_at = 0.0  # time of `perf_counter` at which the analyzed move is played
        self._seconds_shown = 0
        self._reset_position()

    def commands(self) -> dict[str, tuple[str, Callable[[], None]]]:
        """Return the available commands by key: label and function."""
        commands: dict[str, tuple[str, Callable[[], None]]] = {}
        if self.failure is None:
            commands |= {"u": ("undo", self._undo), "n": ("new", self._restart)}
            if self.adviser is not None:
                commands["h"] = ("hint", self._hint)
            commands["v"] = ("values", self._toggle_values)
            if HUMAN not in self.session.players:
                commands["space"] = ("pause", self._toggle_pause)
        return commands | {"s": ("save", self._save), "q": ("quit", self._quit)}

    def key(self, name: str) -> None:
        """Handle a key by its name: a character, `space` or `escape`; other keys are ignored."""
        name = "q" if name == "escape" else name
        commands, actions = self.commands(), self.picker.keys()
        if name in commands:
            self.note = ""
            commands[name][1]()
        elif name in actions and self.failure is None:
            self.note = ""
            self._play(actions[name])

    def click(self, row: int, column: int) -> None:
        """Handle a click on a cell."""
        if self.failure is None:
            self.note = ""
            action = self.picker.click(row, column)
            if action is not None:
                self._play(action)

    def tick(self) -> bool:
        """Let agents compute and move; return whether the display has changed."""
        mover = self.session.mover
        if mover is None or self.failure is not None or self.paused:
            return False
        if mover not in self.agent_threads:
            return self._update_advice()
        agent_thread = self.agent_threads[mover]
        if not agent_thread.is_thinking:
            agent_thread.ask(self.session)
        answer = agent_thread.answer()
        if isinstance(answer, AgentFailure):
            self.failure = answer
            return True
        if answer is None:
            shown_before, self._seconds_shown = self._seconds_shown, int(agent_thread.seconds)
            return shown_before != self._seconds_shown
        if answer is not self.analysis:  # a new one: shown for `move_delay` before it is played
            self.analysis, self._move_at = answer, time.perf_counter() + self._move_delay
            return True
        if time.perf_counter() < self._move_at:
            return False
        self._play(answer.action)
        return True

    @property
    def seconds(self) -> int:
        """Whole seconds since the agent to move began its analysis."""
        return self._seconds_shown

    @property
    def is_settled(self) -> bool:
        """Whether the display stays the same until the next input or the end of the move delay."""
        session = self.session
        if session.is_over or self.failure is not None:
            return True
        if session.waits_for_human:
            wants_advice = self.adviser is not None and (self.show_values or self.show_hint)
            return not wants_advice or self._handled_advice is not None
        return HUMAN not in session.players and self.current_analysis() is not None

    def current_analysis(self) -> MoveAnalysis | None:
        """Return the analysis of the current position, or None."""
        analysis = self.advice if self.session.waits_for_human else self.analysis
        is_current = analysis is not None and analysis.ply == len(self.session.actions)
        return analysis if is_current else None

    def save(self) -> Path:
        """Write the game to its file; return the path.

        Raises:
            OSError: if it cannot be written.
        """
        self._save_path = self.session.save(self._save_path)
        return self._save_path

    def _update_advice(self) -> bool:
        """Request or receive the adviser's analysis; return whether the display has changed."""
        if self.adviser is None or not (self.show_values or self.show_hint):
            return False
        if not self.adviser.is_thinking:
            self.adviser.ask(self.session)
        answer = self.adviser.answer()
        if answer is None or answer is self._handled_advice:
            return False
        self._handled_advice = answer
        if isinstance(answer, AgentFailure):
            self.note, self.show_hint = str(answer), False
        else:
            self.advice = answer
            if answer.action_weights is None and self.show_values:
                self.note = f"{answer.agent} has neither visit shares nor action values"
        return True

    def _play(self, action: int) -> None:
        self.session.play(action)
        self._reset_position()

    def _reset_position(self) -> None:
        """Reset everything that depends on the position."""
        session = self.session
        legal = session.legal() if session.waits_for_human else []
        self.picker = ActionPicker(session.game, session.current, legal)
        self.advice, self._handled_advice, self.show_hint = None, None, False
        self._seconds_shown = 0
        for agent_thread in self._all_threads():
            agent_thread.cancel()

    def _all_threads(self) -> list[AgentThread]:
        return [*self.agent_threads.values(), *([self.adviser] if self.adviser else [])]

    def _undo(self) -> None:
        if not self.session.undo():
            self.note = "there is nothing to undo"
            return
        self.analysis = None
        self.paused = HUMAN not in self.session.players  # else the agents would move on at once
        self._reset_position()

    def _restart(self) -> None:
        self.session.restart()
        self.analysis, self._save_path, self.paused = None, self.file, False
        self._reset_position()
        for agent_thread in self._all_threads():
            agent_thread.cancel(new_game=True)

    def _hint(self) -> None:
        if self.session.waits_for_human:
            self.show_hint = True
        else:
            self.note = "no hint: it is not your turn"

    def _toggle_values(self) -> None:
        self.show_values = not self.show_values

    def _toggle_pause(self) -> None:
        self.paused = not self.paused

    def _save(self) -> None:
        try:
            self.note = f"saved: {self.save()}"
        except OSError as error:
            self.note = f"not saved: {error.strerror or error}"

    def _quit(self) -> None:
        self.closed = True
