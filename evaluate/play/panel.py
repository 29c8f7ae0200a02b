"""Panel beside the board: players, the agent's analysis, moves, and buttons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ludoteca.envs.render.lettering import CHARACTER_WIDTH, shorten, wrap
from ludoteca.envs.render.pieces import piece_shapes
from ludoteca.envs.render.scene import FAINT, INK, POSITIVE
from ludoteca.envs.render.shapes import Rectangle, Shape, Text, mix
from ludoteca.envs.render.status import player_name, player_piece
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.play.session import HUMAN, Session

# Lengths, coordinates and font sizes are in pixels of the unscaled panel.
WIDTH = 320
MIN_HEIGHT = 700
MARGIN = 16
INNER_WIDTH = WIDTH - 2 * MARGIN
GROUND, RAISED, PRESSED, EDGE = "#f8f5ef", "#e6e0d3", "#f4c95d", "#cfc7b6"
ALARM = "#b3261e"
LINE_HEIGHT, SMALL_LINE_HEIGHT = 20, 18
FONT_SIZE, SMALL_FONT = 15.0, 13.0
BUTTON, GAP = 34, 8  # height of a button, and distance between neighboring elements
COLUMNS = 3  # columns of buttons
MESSAGE_LINES = 4  # maximum lines of the message, and of the note
MOVES_SHOWN = 6  # maximum candidate moves of the agent


class Button(NamedTuple):
    """Button with the effect of a key.

    Attributes:
        key: name of the key.
        label: text of the button.
        is_down: whether the button is drawn as pressed.
        is_choice: whether the button plays a move.
    """

    key: str
    label: str
    is_down: bool = False
    is_choice: bool = False


@dataclass(frozen=True)
class Panel:
    """Content of the panel.

    Attributes:
        session: the current game and its players.
        message: whose turn it is, the result of the game, or a failure.
        is_alarm: whether the message is about a failure.
        note: message about the last command, or empty.
        heading: heading of the analysis.
        analysis: an agent's analysis, or None.
        choices: buttons of moves.
        commands: buttons of commands, below those of moves.
    """

    session: Session
    message: str
    is_alarm: bool
    note: str
    heading: str
    analysis: MoveAnalysis | None
    choices: tuple[Button, ...]
    commands: tuple[Button, ...]


class ClickArea(NamedTuple):
    """Rectangle of a button, from its top left corner (x, y), and the key that it stands for."""

    x: float
    y: float
    width: float
    height: float
    key: str

    def contains(self, x: float, y: float) -> bool:
        """Return whether a pixel lies on the button."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


def draw_panel(panel: Panel, left: float, height: float) -> tuple[list[Shape], list[ClickArea]]:
    """Return the shapes of a panel and the areas of its buttons.

    The panel has its left side at x = `left` and is `height` high.
    """
    shapes: list[Shape] = [Rectangle(left, 0, WIDTH, height, GROUND)]
    x, y = left + MARGIN, float(MARGIN)
    y = _draw_players(shapes, panel.session, x, y)
    for text, color in ((panel.message, ALARM if panel.is_alarm else INK), (panel.note, FAINT)):
        for line in wrap(text, FONT_SIZE, INNER_WIDTH)[:MESSAGE_LINES]:
            shapes.append(Text(x, y + LINE_HEIGHT / 2, line, FONT_SIZE, color, "left"))
            y += LINE_HEIGHT
    y += GAP
    areas, bottom = [], height - MARGIN
    for buttons in (panel.commands, panel.choices):
        bottom -= -(-len(buttons) // COLUMNS) * (BUTTON + GAP)
        areas += _draw_buttons(shapes, buttons, x, bottom + GAP)
    if panel.analysis is not None:
        y = _draw_analysis(shapes, panel.session, panel.heading, panel.analysis, x, y)
    _draw_moves(shapes, panel.session, x, y + GAP, bottom)
    return shapes, areas


def _draw_players(shapes: list[Shape], session: Session, x: float, y: float) -> float:
    """Draw a line for each player, the mover's raised; return the y below them."""
    for seat, player in enumerate(session.players):
        if seat == session.mover:
            shapes.append(Rectangle(x - 8, y, INNER_WIDTH + 16, 30, RAISED, 8))
        piece = player_piece(session.game, seat)
        shapes += piece_shapes(piece, x + 10, y + 15, 25)
        name = player_name(session.game, seat)
        label = f"{name}: {'you' if _is_only_human(session, seat) else player}"
        shapes.append(
            Text(
                x + 30, y + 15, shorten(label, FONT_SIZE, INNER_WIDTH - 30), FONT_SIZE, INK, "left"
            )
        )
        y += 34
    return y + GAP / 2


def _is_only_human(session: Session, seat: int) -> bool:
    return session.players[seat] == HUMAN and session.players.count(HUMAN) == 1


def _draw_analysis(
    shapes: list[Shape], session: Session, heading: str, analysis: MoveAnalysis, x: float, y: float
) -> float:
    """Draw an analysis from the top left corner (x, y); return the y below it."""
    shapes.append(Rectangle(x, y, INNER_WIDTH, 1, EDGE))
    y += GAP

    def write(text: str, text_x: float, size: float, color: str, anchor: str) -> None:
        shapes.append(Text(text_x, y + LINE_HEIGHT / 2, text, size, color, anchor))

    write(shorten(heading, FONT_SIZE, INNER_WIDTH), x, FONT_SIZE, INK, "left")
    y += LINE_HEIGHT + 4
    if analysis.score is not None:
        y = _draw_score_bar(shapes, session, analysis, x, y)
    weights, values = analysis.action_weights, analysis.values
    best = analysis.best(MOVES_SHOWN)
    if weights is not None and best:
        # Columns: name, bar with the weight, visits, value.
        greatest = max(abs(float(weights[action])) for action in best) or 1.0
        if analysis.shares is not None:
            write("visits", x + INNER_WIDTH - 62, SMALL_FONT, FAINT, "right")
        write("value", x + INNER_WIDTH, SMALL_FONT, FAINT, "right")
        y += SMALL_LINE_HEIGHT
        for action in best:
            weight = float(weights[action])
            name = session.game.action_names[action]
            write(shorten(name, SMALL_FONT, 66), x, SMALL_FONT, INK, "left")
            length = max(1.0, abs(weight) / greatest * (INNER_WIDTH - 180))
            color = mix(POSITIVE if weight >= 0 else ALARM, "#ffffff", 0.35)
            shapes.append(Rectangle(x + 68, y + 5, length, LINE_HEIGHT - 10, color, 2))
            if analysis.shares is not None:
                write(f"{100 * weight:.0f} %", x + INNER_WIDTH - 62, SMALL_FONT, INK, "right")
            if values is not None:
                write(f"{values[action]:.2f}", x + INNER_WIDTH, SMALL_FONT, INK, "right")
            y += SMALL_LINE_HEIGHT
    for text in _footnotes(analysis):
        write(shorten(text, SMALL_FONT, INNER_WIDTH), x, SMALL_FONT, FAINT, "left")
        y += SMALL_LINE_HEIGHT
    return y


def _draw_score_bar(
    shapes: list[Shape], session: Session, analysis: MoveAnalysis, x: float, y: float
) -> float:
    """Draw the expected scores of both players as a bar in their colors; return the y below it."""
    assert analysis.score is not None
    first = analysis.score if analysis.seat == 0 else 1 - analysis.score
    pieces = [player_piece(session.game, seat) for seat in (0, 1)]
    shapes += [
        Rectangle(x - 1, y - 1, INNER_WIDTH + 2, 14, FAINT, 4),
        Rectangle(x, y, INNER_WIDTH, 12, pieces[1].color, 3),
        Rectangle(x, y, max(1.0, first * INNER_WIDTH), 12, pieces[0].color, 3),
    ]
    y += 22
    for score, piece, text_x, anchor in (
        (first, pieces[0], x, "left"),
        (1 - first, pieces[1], x + INNER_WIDTH, "right"),
    ):
        shapes.append(Text(text_x, y, f"{piece.name} {score:.2f}", SMALL_FONT, INK, anchor))
    shapes.append(Text(x + INNER_WIDTH / 2, y, "expected score", SMALL_FONT, FAINT))
    return y + 14


def _footnotes(analysis: MoveAnalysis) -> list[str]:
    """Return lines on a proven value, the search speed and the principal variation."""
    notes = []
    if analysis.proven:
        exact = "" if analysis.exact is None else f", {analysis.exact:+d}"
        notes.append(f"proven {analysis.proven}{exact} for the player to move")
    if analysis.simulations:
        rate = analysis.simulations / max(analysis.seconds, 1e-9)
        notes.append(f"{analysis.simulations:,} simulations, {rate:,.0f} a second")
    if analysis.variation:
        notes.append("expects " + " ".join(analysis.variation))
    return notes


def _draw_moves(shapes: list[Shape], session: Session, x: float, top: float, bottom: float) -> None:
    """Draw the last moves in two columns of numbered pairs, as many as fit."""
    names = [session.game.action_names[action] for action in session.actions]
    pairs = [" ".join((f"{k // 2 + 1}.", *names[k : k + 2])) for k in range(0, len(names), 2)]
    lines = int((bottom - top - GAP) / SMALL_LINE_HEIGHT)
    if not pairs or lines < 1:
        return
    shapes.append(Rectangle(x, top, INNER_WIDTH, 1, EDGE))
    for i, pair in enumerate(pairs[-2 * lines :]):
        text_x = x + i // lines * INNER_WIDTH / 2
        y = top + GAP + (i % lines + 0.5) * SMALL_LINE_HEIGHT
        text = shorten(pair, SMALL_FONT, INNER_WIDTH / 2 - 6)
        shapes.append(Text(text_x, y, text, SMALL_FONT, INK, "left"))


def _draw_buttons(
    shapes: list[Shape], buttons: Sequence[Button], x: float, y: float
) -> list[ClickArea]:
    """Draw rows of buttons from the top left corner (x, y); return their areas."""
    areas = []
    width = (INNER_WIDTH - (COLUMNS - 1) * GAP) / COLUMNS
    for i, button in enumerate(buttons):
        row, column = divmod(i, COLUMNS)
        corner = x + column * (width + GAP), y + row * (BUTTON + GAP)
        area = ClickArea(*corner, width, BUTTON, button.key)
        edge = POSITIVE if button.is_choice else EDGE
        fill = PRESSED if button.is_down else RAISED
        shapes += [
            Rectangle(area.x, area.y, width, BUTTON, edge, 7),
            Rectangle(area.x + 1.5, area.y + 1.5, width - 3, BUTTON - 3, fill, 6),
        ]
        middle = area.y + BUTTON / 2
        key = button.key if len(button.key) == 1 else ""
        room = width - 20 - CHARACTER_WIDTH * SMALL_FONT * len(key)
        shapes += [
            Text(
                area.x + 10, middle, shorten(button.label, FONT_SIZE, room), FONT_SIZE, INK, "left"
            ),
            Text(area.x + width - 10, middle, key, SMALL_FONT, FAINT, "right"),
        ]
        areas.append(area)
    return areas
