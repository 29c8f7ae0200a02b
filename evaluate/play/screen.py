"""Screen of an interactive game: board and panel, and the cell or button at a pixel."""

from ludoteca.agents.registry import split_agent_spec
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.marks import Marks, marked
from ludoteca.envs.render.scene import scene
from ludoteca.envs.render.shapes import Scene
from ludoteca.envs.render.status import best_players, describe_result, player_name
from ludoteca.evaluate.play.action_picker import cells_of, is_on_board
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.controller import GameController
from ludoteca.evaluate.play.heat_map import HeatMap, heat_map
from ludoteca.evaluate.play.panel import Button, ClickArea, Panel, draw_panel
from ludoteca.evaluate.play.placement import WindowLayout, window_layout
from ludoteca.evaluate.play.session import HUMAN


class Screen:
    """Board of a game, with the panel to its right.

    Attributes:
        controller: the controller of the game to show.
        layout: placements of board and panel in the last picture that was drawn.
        areas: areas of the buttons in that picture.
    """

    layout: WindowLayout
    areas: list[ClickArea]

    def __init__(self, controller: GameController):
        self.controller = controller
        self.draw()

    def draw(self, size: tuple[int, int] | None = None) -> Scene:
        """Return the scene of board and panel.

        Args:
            size: width and height of the window in pixels, within the bounds of `placement`; by
                default the unscaled size of board and panel.
        """
        board = self._board()
        layout = self.layout = window_layout(board.width, board.height, size)
        panel, areas = draw_panel(self._panel(), 0, layout.panel_height)
        self.areas = [layout.panel.place_area(area) for area in areas]
        return Scene(
            layout.width,
            layout.height,
            board.paper,
            layout.board.place(board.base),
            (*layout.board.place(board.shapes), *layout.panel.place(panel)),
        )

    def click(self, x: float, y: float) -> None:
        """Handle a click on a pixel of the last picture."""
        for area in self.areas:
            if area.contains(x, y):
                self.controller.key(area.key)
                return
        on_board = self.layout.board.inverse(x, y)
        cell = board_geometry(self.controller.session.game.layout).cell_at(*on_board)
        if cell is not None and x < self.layout.panel.left:
            self.controller.click(*cell)

    def _board(self) -> Scene:
        """Return the scene of the board, with heat map, hint and marks of cells to click."""
        controller, session = self.controller, self.controller.session
        game, s = session.game, session.current
        heat = self._heat()
        picture = scene(game, s, session.last_action, values=None if heat is None else heat.values)
        advice = controller.current_analysis()
        advised: tuple[int, ...] = ()
        if controller.show_hint and advice is not None:
            advised = cells_of(game, s, advice.action)
        choices = [c for c in controller.picker.targets() if heat is None or not heat.covers(c)]
        marks = Marks(
            choices=tuple(choices) if controller.failure is None else (),
            selected=controller.picker.selected,
            advised=advised,
            labels={} if heat is None else heat.labels,
        )
        return marked(picture, game, s, marks)

    def _heat(self) -> HeatMap | None:
        """Return the heat map of the current analysis if the user wants to see it."""
        controller, session = self.controller, self.controller.session
        analysis = controller.current_analysis()
        if not controller.show_values or analysis is None or analysis.action_weights is None:
            return None
        return heat_map(session.game, session.current, analysis, controller.picker.selected)

    def _panel(self) -> Panel:
        controller = self.controller
        failure = controller.failure
        heading, analysis = self._analysis()
        return Panel(
            session=controller.session,
            message=self._status() if failure is None else str(failure),
            is_alarm=failure is not None,
            note=controller.note,
            heading=heading,
            analysis=analysis,
            choices=self._choices() if failure is None else (),
            commands=self._commands(),
        )

    def _status(self) -> str:
        """Return the status message: what the player to move does or may do, or the result."""
        controller, session = self.controller, self.controller.session
        game, picker, mover = session.game, controller.picker, session.mover
        if mover is None:
            return result_text(controller)
        name = player_name(game, mover)
        if not session.waits_for_human:
            if controller.paused:
                return "paused"
            here = controller.current_analysis()
            if here is not None:
                return f"{name} plays {game.action_names[here.action]}"
            waiting = f", {controller.seconds} s" if controller.seconds else ""
            return f"{name} is thinking{waiting}"
        if controller.show_hint and controller.advice is None:
            return "computing a hint"
        if controller.show_hint and controller.advice is not None:
            return f"hint: {game.action_names[controller.advice.action]}"
        if picker.options:
            return "which move?"
        if picker.selected is not None:
            return "where to?"
        if not any(is_on_board(game, action) for action in picker.legal):
            return f"only {' or '.join(game.action_names[a] for a in picker.legal)} is possible"
        return "your move" if session.players.count(HUMAN) == 1 else f"{name} to move"

    def _analysis(self) -> tuple[str, MoveAnalysis | None]:
        """Return the heading and the analysis for the panel."""
        controller, session = self.controller, self.controller.session
        game = session.game
        here = controller.current_analysis()
        if here is not None and here.action_weights is not None and session.waits_for_human:
            return (
                f"{player_name(game, here.seat)} to move, by {split_agent_spec(here.agent)[0]}",
                here,
            )
        analysis = controller.analysis
        if analysis is None or analysis.action_weights is None:
            return "", None
        name = player_name(game, analysis.seat)
        return f"{name} chose {game.action_names[analysis.action]}", analysis

    def _choices(self) -> tuple[Button, ...]:
        """Return the buttons of moves; that of the hint is pressed."""
        controller = self.controller
        names = controller.session.game.action_names
        hinted = (
            controller.advice.action
            if controller.show_hint and controller.advice is not None
            else None
        )
        return tuple(
            Button(key, names[action], is_down=action == hinted, is_choice=True)
            for key, action in controller.picker.keys().items()
        )

    def _commands(self) -> tuple[Button, ...]:
        controller = self.controller
        is_down = {
            "v": controller.show_values,
            "h": controller.show_hint,
            "space": controller.paused,
        }
        return tuple(
            Button(key, label, is_down.get(key, False))
            for key, (label, _) in controller.commands().items()
        )


def result_text(controller: GameController) -> str:
    """Return the outcome of the game, and whether a single human won or lost."""
    session = controller.session
    result = describe_result(session.game, session.current)
    winners = best_players(session.game, session.current)
    if session.players.count(HUMAN) != 1 or len(winners) != 1:
        return result
    human = session.players.index(HUMAN)
    return f"{result}: you {'win' if winners == [human] else 'lose'}"
