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

WIDTH = 320
LEAST_HEIGHT = 700
MARGIN = 16
INSIDE = WIDTH - 2 * MARGIN
GROUND, RAISED, PRESSED, EDGE = "#f8f5ef", "#e6e0d3", "#f4c95d", "#cfc7b6"
ALARM = "#b3261e"
LINE = 20  # height of a line of text
SIZE, SMALL = 15.0, 13.0
BUTTON, GAP = 34, 8  # height of a button, and room between things
COLUMNS = 3  # columns of buttons
MESSAGE_LINES = 4  # maximum lines of the message
MOVES_SHOWN = 6  # maximum candidate moves of the agent


class Button(NamedTuple):
    """Button with the effect of a key."""

    key: str
    label: str
    is_down: bool = False
    is_choice: bool = False  # among moves


@dataclass(frozen=True)
class Panel:
    """Content of the panel.

    Attributes:
        session: the games.
        message: message to the user.
        is_alarm: whether the message is about a failure.
        note: message of the last command.
        heading: heading of the analysis.
        analysis: an agent's analysis, or None.
        choices: buttons of moves.
        commands: buttons of commands, below.
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
    """Area of a button, with its key."""

    x: float
    y: float
    width: float
    height: float
    key: str

    def contains(self, x: float, y: float) -> bool:
        """Return whether a pixel lies on the button."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


def draw_panel(panel: Panel, left: float, height: float) -> tuple[list[Shape], list[ClickArea]]:
    """Return the shapes of a panel with its left side at x = `left`, and its buttons."""
    shapes: list[Shape] = [Rectangle(left, 0, WIDTH, height, GROUND)]
    x, y = left + MARGIN, float(MARGIN)
    y = _seats(shapes, panel.session, x, y)
    for text, color in ((panel.message, ALARM if panel.is_alarm else INK), (panel.note, FAINT)):
        for line in wrap(text, SIZE, INSIDE)[:MESSAGE_LINES]:
            shapes.append(Text(x, y + LINE / 2, line, SIZE, color, "left"))
            y += LINE
    y += GAP
    areas, bottom = [], height - MARGIN
    for buttons in (panel.commands, panel.choices):
        bottom -= -(-len(buttons) // COLUMNS) * (BUTTON + GAP)
        areas += _buttons(shapes, buttons, x, bottom + GAP)
    if panel.analysis is not None:
        y = _analysis(shapes, panel.session, panel.heading, panel.analysis, x, y)
    _moves(shapes, panel.session, x, y + GAP, bottom)
    return shapes, areas


def _seats(shapes: list[Shape], session: Session, x: float, y: float) -> float:
    """Draw a line for each player, the mover's raised; return the y below them."""
    for seat, player in enumerate(session.players):
        if seat == session.mover:
            shapes.append(Rectangle(x - 8, y, INSIDE + 16, 30, RAISED, 8))
        piece = player_piece(session.game, seat)
        shapes += piece_shapes(piece, x + 10, y + 15, 25)
        name = player_name(session.game, seat)
        label = f"{name}: {'you' if _only_human(session, seat) else player}"
        shapes.append(Text(x + 30, y + 15, shorten(label, SIZE, INSIDE - 30), SIZE, INK, "left"))
        y += 34
    return y + GAP / 2


def _only_human(session: Session, seat: int) -> bool:
    return session.players[seat] == HUMAN and session.players.count(HUMAN) == 1


def _analysis(
    shapes: list[Shape], session: Session, heading: str, analysis: MoveAnalysis, x: float, y: float
) -> float:
    """Draw an analysis; return the y below it."""
    shapes.append(Rectangle(x, y, INSIDE, 1, EDGE))
    y += GAP

    def write(text: str, at: float, size: float, color: str, anchor: str) -> None:
        shapes.append(Text(at, y + LINE / 2, text, size, color, anchor))

    write(shorten(heading, SIZE, INSIDE), x, SIZE, INK, "left")
    y += LINE + 4
    if analysis.score is not None:
        y = _bar(shapes, session, analysis, x, y)
    weights, values = analysis.action_weights, analysis.values
    best = analysis.best(MOVES_SHOWN)
    if weights is not None and best:
        greatest = max(abs(float(weights[action])) for action in best) or 1.0
        if analysis.shares is not None:
            write("visits", x + INSIDE - 62, SMALL, FAINT, "right")
        write("value", x + INSIDE, SMALL, FAINT, "right")
        y += LINE - 2
        for action in best:
            weight = float(weights[action])
            name = session.game.action_names[action]
            write(shorten(name, SMALL, 66), x, SMALL, INK, "left")
            length = max(1.0, abs(weight) / greatest * (INSIDE - 180))
            color = mix(POSITIVE if weight >= 0 else ALARM, "#ffffff", 0.35)
            shapes.append(Rectangle(x + 68, y + 5, length, LINE - 10, color, 2))
            if analysis.shares is not None:
                write(f"{100 * weight:.0f} %", x + INSIDE - 62, SMALL, INK, "right")
            if values is not None:
                write(f"{values[action]:.2f}", x + INSIDE, SMALL, INK, "right")
            y += LINE - 2
    for text in _footnotes(analysis):
        write(shorten(text, SMALL, INSIDE), x, SMALL, FAINT, "left")
        y += LINE - 2
    return y


def _bar(
    shapes: list[Shape], session: Session, analysis: MoveAnalysis, x: float, y: float
) -> float:
    """Draw the expected scores of both players as a bar in their colors."""
    assert analysis.score is not None
    first = analysis.score if analysis.seat == 0 else 1 - analysis.score
    pieces = [player_piece(session.game, seat) for seat in (0, 1)]
    shapes += [
        Rectangle(x - 1, y - 1, INSIDE + 2, 14, FAINT, 4),
        Rectangle(x, y, INSIDE, 12, pieces[1].color, 3),
        Rectangle(x, y, max(1.0, first * INSIDE), 12, pieces[0].color, 3),
    ]
    y += 22
    for score, piece, at, anchor in (
        (first, pieces[0], x, "left"),
        (1 - first, pieces[1], x + INSIDE, "right"),
    ):
        shapes.append(Text(at, y, f"{piece.name} {score:.2f}", SMALL, INK, anchor))
    shapes.append(Text(x + INSIDE / 2, y, "expected score", SMALL, FAINT))
    return y + 14


def _footnotes(analysis: MoveAnalysis) -> list[str]:
    notes = []
    if analysis.proven:
        by = "" if analysis.exact is None else f", {analysis.exact:+d}"
        notes.append(f"proven {analysis.proven}{by} for the player to move")
    if analysis.simulations:
        rate = analysis.simulations / max(analysis.seconds, 1e-9)
        notes.append(f"{analysis.simulations:,} simulations, {rate:,.0f} a second")
    if analysis.variation:
        notes.append("expects " + " ".join(analysis.variation))
    return notes


def _moves(shapes: list[Shape], session: Session, x: float, top: float, bottom: float) -> None:
    """Draw the last moves in two columns of numbered pairs, as many as fit."""
    names = [session.game.action_names[action] for action in session.actions]
    pairs = [" ".join((f"{k // 2 + 1}.", *names[k : k + 2])) for k in range(0, len(names), 2)]
    lines = int((bottom - top - GAP) / (LINE - 2))
    if not pairs or lines < 1:
        return
    shapes.append(Rectangle(x, top, INSIDE, 1, EDGE))
    for i, pair in enumerate(pairs[-2 * lines :]):
        at, y = x + i // lines * INSIDE / 2, top + GAP + (i % lines + 0.5) * (LINE - 2)
        shapes.append(Text(at, y, shorten(pair, SMALL, INSIDE / 2 - 6), SMALL, INK, "left"))


def _buttons(shapes: list[Shape], buttons: Sequence[Button], x: float, y: float) -> list[ClickArea]:
    areas = []
    width = (INSIDE - (COLUMNS - 1) * GAP) / COLUMNS
    for i, button in enumerate(buttons):
        row, column = divmod(i, COLUMNS)
        at = x + column * (width + GAP), y + row * (BUTTON + GAP)
        area = ClickArea(*at, width, BUTTON, button.key)
        edge = POSITIVE if button.is_choice else EDGE
        fill = PRESSED if button.is_down else RAISED
        shapes += [
            Rectangle(area.x, area.y, width, BUTTON, edge, 7),
            Rectangle(area.x + 1.5, area.y + 1.5, width - 3, BUTTON - 3, fill, 6),
        ]
        middle = area.y + BUTTON / 2
        key = button.key if len(button.key) == 1 else ""
        room = width - 20 - CHARACTER_WIDTH * SMALL * len(key)
        shapes += [
            Text(area.x + 10, middle, shorten(button.label, SIZE, room), SIZE, INK, "left"),
            Text(area.x + width - 10, middle, key, SMALL, FAINT, "right"),
        ]
        areas.append(area)
    return areas
