"""The commands `ludoteca gdl ...` for rule sheets in the Game Description Language (GDL)."""

from ludoteca.evaluate.cli.commands import Command

# Commands by name; their modules are imported when they are called.
GDL_COMMANDS = {
    "check": Command(
        "ludoteca.evaluate.cli.gdl.check:check",
        "Check a rule sheet against the specification of GDL.",
    ),
    "info": Command(
        "ludoteca.evaluate.cli.gdl.info:info",
        "Compile a rule sheet, and show its roles, fluents, moves, gates and speed.",
    ),
    "play": Command(
        "ludoteca.evaluate.cli.gdl.play:play",
        "Play a game by a rule sheet against an agent.",
    ),
    "trace": Command(
        "ludoteca.evaluate.cli.gdl.trace:trace",
        "Write random games by a rule sheet as JSON lines.",
    ),
    "export": Command(
        "ludoteca.evaluate.cli.gdl.export:export",
        "Write a position of a game as terms of its rule sheet.",
    ),
}
