"""What a window shows of a table, and which cell or button a pixel belongs to."""

from ludoteca.agents.registry import spec_parts
from ludoteca.envs.render.geometry import geometry
from ludoteca.envs.render.marks import Marks, marked
from ludoteca.envs.render.scene import scene
from ludoteca.envs.render.shapes import Scene, moved
from ludoteca.envs.render.status import best_players, outcome, player_name
from ludoteca.evaluate.play.chooser import cells_of, is_on_board
from ludoteca.evaluate.play.heat import Heat, heat_map
from ludoteca.evaluate.play.panel import LEAST_HEIGHT, WIDTH, Area, Button, Panel, draw_panel
from ludoteca.evaluate.play.session import HUMAN
from ludoteca.evaluate.play.table import Table
from ludoteca.evaluate.play.thought import Thought


class Screen:
    """The board of a table with the panel to its right.

    Attributes:
        table: what is shown.
        areas: where the buttons are, in the picture drawn last.
    """

    def __init__(self, table: Table):
        self.table = table
        self.areas: list[Area] = []
        self._above = 0.0  # pixels above the board, which is centered beside the panel
        self.draw()

    def draw(self) -> Scene:
        """Return the picture; it always has the same size."""
        board = self._board()
        height = max(board.height, LEAST_HEIGHT)
        self._above = (height - board.height) // 2
        panel, self.areas = draw_panel(self._panel(), board.width, height)
        return Scene(
            board.width + WIDTH,
            height,
            board.paper,
            tuple(moved(shape, 0, self._above) for shape in board.base),
            (*(moved(shape, 0, self._above) for shape in board.shapes), *panel),
        )

    def click(self, x: float, y: float) -> None:
        """Do what a click on a pixel of the picture means."""
        for area in self.areas:
            if area.contains(x, y):
                self.table.key(area.key)
                return
        cell = geometry(self.table.session.game.layout).cell_at(x, y - self._above)
        if cell is not None:
            self.table.pick(*cell)

    def _board(self) -> Scene:
        table, session = self.table, self.table.session
        game, s = session.game, session.present
        heat = self._heat()
        picture = scene(game, s, session.last_action, values=None if heat is None else heat.values)
        advice = table.thought_here()
        advised: tuple[int, ...] = ()
        if table.show_hint and advice is not None:
            advised = cells_of(game, s, advice.action)
        choices = [c for c in table.chooser.targets() if heat is None or not heat.covers(c)]
        marks = Marks(
            choices=tuple(choices) if table.failure is None else (),
            selected=table.chooser.selected,
            advised=advised,
            labels={} if heat is None else heat.labels,
        )
        return marked(picture, game, s, marks)

    def _heat(self) -> Heat | None:
        table, session = self.table, self.table.session
        thought = table.thought_here()
        if not table.show_values or thought is None or thought.weights is None:
            return None
        return heat_map(session.game, session.present, thought, table.chooser.selected)

    def _panel(self) -> Panel:
        table = self.table
        failure = table.failure
        heading, thought = self._thought()
        return Panel(
            session=table.session,
            message=self._turn() if failure is None else str(failure),
            is_alarm=failure is not None,
            note=table.note,
            heading=heading,
            thought=thought,
            choices=self._choices() if failure is None else (),
            commands=self._commands(),
        )

    def _turn(self) -> str:
        """Return what the user is to do, or to wait for, or how the game ended."""
        table, session = self.table, self.table.session
        game, chooser, mover = session.game, table.chooser, session.mover
        if mover is None:
            return result_text(table)
        name = player_name(game, mover)
        if not session.waits_for_human:
            if table.paused:
                return "paused"
            here = table.thought_here()
            if here is not None:
                return f"{name} plays {game.action_names[here.action]}"
            waiting = f", {table.seconds} s" if table.seconds else ""
            return f"{name} is thinking{waiting}"
        if table.show_hint and table.advice is None:
            return "looking for a hint"
        if table.show_hint and table.advice is not None:
            return f"hint: {game.action_names[table.advice.action]}"
        if chooser.options:
            return "which move?"
        if chooser.selected is not None:
            return "where to?"
        if not any(is_on_board(game, action) for action in chooser.legal):
            return f"only {' or '.join(game.action_names[a] for a in chooser.legal)} is possible"
        return "your move" if session.players.count(HUMAN) == 1 else f"{name} to move"

    def _thought(self) -> tuple[str, Thought | None]:
        """Return what the panel tells about what an agent found, and what that is about."""
        table, session = self.table, self.table.session
        game = session.game
        here = table.thought_here()
        if here is not None and here.weights is not None and session.waits_for_human:
            return f"{player_name(game, here.seat)} to move, by {spec_parts(here.agent)[0]}", here
        thought = table.thought
        if thought is None or thought.weights is None:
            return "", None
        name = player_name(game, thought.seat)
        return f"{name} chose {game.action_names[thought.action]}", thought

    def _choices(self) -> tuple[Button, ...]:
        table = self.table
        names = table.session.game.action_names
        hinted = table.advice.action if table.show_hint and table.advice is not None else None
        return tuple(
            Button(key, names[action], is_down=action == hinted, is_choice=True)
            for key, action in table.chooser.keys().items()
        )

    def _commands(self) -> tuple[Button, ...]:
        table = self.table
        down = {"v": table.show_values, "h": table.show_hint, "space": table.paused}
        return tuple(
            Button(key, label, down.get(key, False)) for key, (label, _) in table.commands().items()
        )


def result_text(table: Table) -> str:
    """Return how the game ended, and what that is for the human if one plays."""
    session = table.session
    result = outcome(session.game, session.present)
    winners = best_players(session.game, session.present)
    if session.players.count(HUMAN) != 1 or len(winners) != 1:
        return result
    human = session.players.index(HUMAN)
    return f"{result}: you {'win' if winners == [human] else 'lose'}"
