"""A game being played, without a window: what keys, cells picked and time do."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ludoteca.agents.agent import Agent
from ludoteca.evaluate.play.action_picker import ActionPicker
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.session import HUMAN, Session


class GameController:
    """Who plays, what agents found, and what is shown of it.

    `tick` lets time pass; `key` and `pick` tell what the user does. When an agent fails, nothing
    can be done any more but saving the game and quitting.

    Attributes:
        session: the game.
        agent_threads: the agents, by seat.
        adviser: who gives hints and values to humans, or None.
        file: where games are saved, or None.
        picker: what the human to move has picked so far.
        analysis: what an agent found about the move it has just made, or is about to make.
        advice: what the adviser found about the present position.
        show_values: whether visit shares or values are drawn on the board.
        show_hint: whether the move that the adviser would play is shown.
        paused: whether agents wait, where no human plays.
        note: what the last command has to say.
        failure: what ended the game, if an agent failed.
        closed: whether the user has quit.
    """

    def __init__(
        self,
        session: Session,
        agents: Mapping[int, Agent],
        adviser: tuple[str, Agent] | None = None,
        *,
        show_values: bool = False,
        pause: float = 0.5,
        file: Path | None = None,
    ):
        """Begin.

        Args:
            session: the game.
            agents: by seat; `session.players` tells what they are called.
            adviser: who gives hints and values to humans, and what it is called; none of `agents`,
                since both may be asked at once.
            show_values: see the attribute.
            pause: how many seconds what an agent found is shown before its move is made.
            file: where games are saved; by default each in a file named after game and time.
        """
        self.session = session
        self.show_values, self.show_hint, self.paused = show_values, False, False
        self.note = ""
        self.failure: AgentFailure | None = None
        self.closed = False
        self.analysis: MoveAnalysis | None = None
        self.advice: MoveAnalysis | None = None
        self._last_advice: MoveAnalysis | AgentFailure | None = (
            None  # the answer that has been looked at
        )
        self.agent_threads = {
            seat: AgentThread(one, session.players[seat]) for seat, one in agents.items()
        }
        self.adviser = None if adviser is None else AgentThread(adviser[1], adviser[0])
        self.file = file
        self._saved_as, self._pause = file, pause
        self._move_at = 0.0
        self._second = 0
        self._begin_position()

    def commands(self) -> dict[str, tuple[str, Callable[[], None]]]:
        """Return what can be done now: by key, what it is called and what does it."""
        known: dict[str, tuple[str, Callable[[], None]]] = {}
        if self.failure is None:
            known |= {"u": ("undo", self._undo), "n": ("new", self._restart)}
            if self.adviser is not None:
                known["h"] = ("hint", self._hint)
            known["v"] = ("values", self._toggle_values)
            if HUMAN not in self.session.players:
                known["space"] = ("pause", self._toggle_pause)
        return known | {"s": ("save", self._save), "q": ("quit", self._quit)}

    def key(self, name: str) -> None:
        """Do what a key means; others are ignored."""
        name = "q" if name == "escape" else name
        commands, actions = self.commands(), self.picker.keys()
        if name in commands:
            self.note = ""
            commands[name][1]()
        elif name in actions and self.failure is None:
            self.note = ""
            self._play(actions[name])

    def pick(self, row: int, column: int) -> None:
        """Do what a click on a cell means."""
        if self.failure is None:
            self.note = ""
            action = self.picker.click(row, column)
            if action is not None:
                self._play(action)

    def tick(self) -> bool:
        """Let agents think and move; return whether there is something new to be seen."""
        mover = self.session.mover
        if mover is None or self.failure is not None or self.paused:
            return False
        if mover not in self.agent_threads:
            return self._ask_for_advice()
        agent_thread = self.agent_threads[mover]
        if not agent_thread.is_thinking:
            agent_thread.ask(self.session)
        answer = agent_thread.answer()
        if isinstance(answer, AgentFailure):
            self.failure = answer
            return True
        if answer is None:
            before, self._second = self._second, int(agent_thread.seconds)
            return before != self._second
        if answer is not self.analysis:
            self.analysis, self._move_at = answer, time.perf_counter() + self._pause
            return True
        if time.perf_counter() < self._move_at:
            return False
        self._play(answer.action)
        return True

    @property
    def seconds(self) -> int:
        """For how long the agent to move has been thinking, in whole seconds."""
        return self._second

    @property
    def is_settled(self) -> bool:
        """Whether nothing more happens, or is to be seen, until the user or a pause lets it."""
        session = self.session
        if session.is_over or self.failure is not None:
            return True
        if session.waits_for_human:
            wanted = self.adviser is not None and (self.show_values or self.show_hint)
            return not wanted or self._last_advice is not None
        return HUMAN not in session.players and self.current_analysis() is not None

    def current_analysis(self) -> MoveAnalysis | None:
        """Return what is known about the present position, None if nothing is."""
        found = self.advice if self.session.waits_for_human else self.analysis
        return found if found is not None and found.ply == len(self.session.actions) else None

    def save(self) -> Path:
        """Write the game to its file, and return that.

        Raises:
            OSError: if it cannot be written.
        """
        self._saved_as = self.session.save(self._saved_as)
        return self._saved_as

    def _ask_for_advice(self) -> bool:
        if self.adviser is None or not (self.show_values or self.show_hint):
            return False
        if not self.adviser.is_thinking:
            self.adviser.ask(self.session)
        answer = self.adviser.answer()
        if answer is None or answer is self._last_advice:
            return False
        self._last_advice = answer
        if isinstance(answer, AgentFailure):
            self.note, self.show_hint = str(answer), False
        else:
            self.advice = answer
            if answer.weights is None and self.show_values:
                self.note = f"{answer.agent} tells no values"
        return True

    def _play(self, action: int) -> None:
        self.session.play(action)
        self._begin_position()

    def _begin_position(self) -> None:
        """Forget what was about another position."""
        session = self.session
        legal = session.legal() if session.waits_for_human else []
        self.picker = ActionPicker(session.game, session.present, legal)
        self.advice, self._last_advice, self.show_hint = None, None, False
        self._second = 0
        for agent_thread in self._all_threads():
            agent_thread.drop()

    def _all_threads(self) -> list[AgentThread]:
        return [*self.agent_threads.values(), *([self.adviser] if self.adviser else [])]

    def _undo(self) -> None:
        if not self.session.undo():
            self.note = "there is nothing to take back"
            return
        self.analysis = None
        self.paused = HUMAN not in self.session.players
        self._begin_position()

    def _restart(self) -> None:
        self.session.restart()
        self.analysis, self._saved_as, self.paused = None, self.file, False
        self._begin_position()
        for agent_thread in self._all_threads():
            agent_thread.drop(forget=True)

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
