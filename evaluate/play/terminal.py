"""Interactive games in the terminal."""

from collections.abc import Mapping
from pathlib import Path

from ludoteca.envs.render.status import player_name
from ludoteca.envs.render.text import board_text
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.session import HUMAN, Session, find_action

HELP = """a move by its name, or
  ?            this help and the legal moves
  undo         back to your last decision
  hint         the move that an agent would play for you
  new          another game
  save [FILE]  write the game to a replay file (JSON)
  quit"""
AFTER_FAILURE = "save [FILE] writes the game so far, quit ends the program"
MOVES_SHOWN = 4  # maximum number of best moves in the text of an analysis


class Terminal:
    """Interactive game in the terminal: commands from standard input, printed boards.

    Attributes:
        session: the current game and its players.
        failure: failure of an agent that ended the game, or None.
    """

    def __init__(
        self,
        session: Session,
        agent_threads: Mapping[int, AgentThread],
        adviser: AgentThread | None = None,
        file: Path | None = None,
    ):
        """Start a game.

        Args:
            session: the first game, at its start or after some moves.
            agent_threads: the agents, by seat.
            adviser: agent that gives hints to humans; None: there are no hints.
            file: file for a `save` command without a file name; by default every game has its own
                file, named after the game and the time.
        """
        self.session = session
        self.failure: AgentFailure | None = None
        self._agent_threads, self._adviser = dict(agent_threads), adviser
        self._file = file
        self._save_path = file  # that of the current game: the last one saved to, or the default
        self._closed = False

    def play(self) -> None:
        """Play until the user quits or input ends; without humans, until the game is over."""
        self._show()
        while not self._closed:
            mover = self.session.mover
            if self.failure is None and mover in self._agent_threads:
                self._let_agent_move(mover)
            elif HUMAN not in self.session.players:
                return
            else:
                self._ask(mover)

    def _let_agent_move(self, mover: int) -> None:
        answer = self._agent_threads[mover].think(self.session)
        name = player_name(self.session.game, mover)
        if isinstance(answer, AgentFailure):
            self.failure = answer
            print(f"{name}: {answer}")
            if HUMAN in self.session.players:
                print(AFTER_FAILURE)
            return
        self.session.play(answer.action)
        print(f"{name} plays {self._describe(answer)}")
        self._show()

    def _ask(self, mover: int | None) -> None:
        """Read and execute one line of input: a command, or a move of the player `mover`."""
        if mover is None or self.failure is not None:
            prompt = "> "
        else:
            prompt = f"{player_name(self.session.game, mover)}> "
        try:
            line = input(prompt).strip()
        except EOFError:
            print()
            self._closed = True
            return
        word, _, rest = line.partition(" ")
        commands = {"quit": self._quit, "save": self._save}
        if self.failure is None:
            commands |= {
                "?": self._help,
                "undo": self._undo,
                "hint": self._hint,
                "new": self._restart,
            }
        if not line:
            return
        if word.lower() in commands:
            commands[word.lower()](rest.strip())
        elif self.failure is not None:
            print(AFTER_FAILURE)
        else:
            self._play(line)

    def _play(self, text: str) -> None:
        if self.session.is_over:
            print("the game is over: undo, new, save or quit")
            return
        try:
            self.session.play(find_action(self.session.game, text, self.session.legal()))
        except ValueError as error:
            print(f"{error}; ? lists the legal moves")
            return
        self._show()

    def _show(self) -> None:
        print(board_text(self.session.game, self.session.current, self.session.last_action))
        print()

    def _help(self, _: str) -> None:
        names = self.session.game.action_names
        print(HELP)
        print("legal moves:", " ".join(names[a] for a in self.session.legal()) or "none")

    def _undo(self, _: str) -> None:
        if self.session.undo():
            self._show()
        else:
            print("there is nothing to undo")

    def _hint(self, _: str) -> None:
        if self._adviser is None:
            print("there is no hint: the game has no adviser")
            return
        if not self.session.waits_for_human:
            print("there is no hint: no human is to move")
            return
        answer = self._adviser.think(self.session)
        print(answer if isinstance(answer, AgentFailure) else f"hint: {self._describe(answer)}")

    def _restart(self, _: str) -> None:
        self.session.restart()
        self._save_path = self._file
        for agent_thread in (*self._agent_threads.values(), self._adviser):
            if agent_thread is not None:
                agent_thread.cancel(new_game=True)
        self._show()

    def _save(self, name: str) -> None:
        try:
            self._save_path = self.session.save(Path(name) if name else self._save_path)
            print(f"saved: {self._save_path}")
        except OSError as error:
            print(f"not saved: {error.strerror or error}")

    def _quit(self, _: str) -> None:
        self._closed = True

    def _describe(self, analysis: MoveAnalysis) -> str:
        """Return the move and the numbers of an analysis, in one line."""
        names = self.session.game.action_names
        parts = [names[analysis.action]]
        if analysis.score is not None:
            parts.append(f"expected score {analysis.score:.2f}")
        if analysis.proven:
            parts.append(f"proven {analysis.proven}")
        if analysis.exact is not None:
            parts.append(f"exact score {analysis.exact:+d}")
        if analysis.action_weights is not None:
            if analysis.shares is not None:
                kind = "visit shares"
            else:  # of a solved position, or Q
                kind = "values (-1 to 1)" if analysis.exact is None else "values (0 to 1)"
            best = (
                f"{names[a]} {analysis.action_weights[a]:.2f}" for a in analysis.best(MOVES_SHOWN)
            )
            parts.append(f"{kind} {', '.join(best)}")
        if analysis.simulations:
            parts.append(f"{analysis.simulations / max(analysis.seconds, 1e-9):,.0f} simulations/s")
        return "; ".join(parts)
