"""The command `ludoteca`, also `python -m ludoteca`."""

import sys
from collections.abc import Sequence

from ludoteca import __version__
from ludoteca.evaluate.cli.commands import Command, run_commands

DESCRIPTION = """Board and grid games for reinforcement learning.

Games and agents are named by spec strings, a name with optional parameters: hex,
hex:board_size=5,swap=True, mcts:simulations=500. `ludoteca list` shows all games and agents,
`ludoteca list hex` everything about one of them. Your own are named module:factory, such as
mygames:dots_and_boxes or games/mine.py:dots_and_boxes:size=3.
"""
EXAMPLES = """examples:
  ludoteca play connect4
  ludoteca match hex --board-size 5 --agents random mcts:simulations=200
  ludoteca solve tictactoe

LUDOTECA_DEBUG=1 shows errors with tracebacks.
"""

# Commands by name; their modules are imported when they are called. With `game_options`, a command
# also has the options of the game, such as --board-size; with `resumes`, it resumes its own work.
COMMANDS = {
    "list": Command(
        "ludoteca.evaluate.cli.list:list_command",
        "List all games and agents, or show everything about one of them.",
    ),
    "play": Command(
        "ludoteca.evaluate.cli.play:play_command",
        "Play against an agent, in a window or in the terminal.",
        game_options=True,
    ),
    "arena": Command(
        "ludoteca.evaluate.cli.arena:arena",
        "Play, watch and analyze all games in the browser.",
    ),
    "match": Command(
        "ludoteca.evaluate.cli.match:match_command",
        "Play a match of many games between agents: wins, draws and losses.",
        game_options=True,
    ),
    "power": Command(
        "ludoteca.evaluate.cli.power:power_command",
        "Compute how many games a match needs to show a difference.",
    ),
    "tournament": Command(
        "ludoteca.evaluate.cli.tournament:tournament",
        "Play a round robin of agents in several games, with ratings and tests.",
        resumes=True,
    ),
    "tune": Command(
        "ludoteca.evaluate.cli.tune:tune_command",
        "Tune parameters of an agent by playing games.",
        game_options=True,
        resumes=True,
    ),
    "train": Command(
        "ludoteca.train.train_command:train_command",
        "Train a network that plays a game.",
        game_options=True,
    ),
    "rating": Command(
        "ludoteca.evaluate.cli.rating:rating",
        "Rate the checkpoints of a training run and other agents (Elo).",
    ),
    "compare-runs": Command(
        "ludoteca.evaluate.cli.compare_runs:compare_runs_command",
        "Compare training runs over several seeds, with bootstrap intervals.",
    ),
    "solve": Command(
        "ludoteca.evaluate.cli.solve:solve_command",
        "Solve a small game: perfect play, and the value of each move.",
        game_options=True,
    ),
    "exploit": Command(
        "ludoteca.evaluate.cli.exploit:exploit",
        "Measure an agent against best responses and solved positions.",
    ),
    "reproduce": Command(
        "ludoteca.evaluate.studies.__main__:STUDIES",
        "Reproduce a study of docs/results.",
        group="study",
    ),
    "render": Command(
        "ludoteca.evaluate.cli.render:render_command",
        "Render a game as an image or an animation.",
        game_options=True,
    ),
    "replay": Command(
        "ludoteca.evaluate.cli.replay:replay",
        "Verify, print, draw or watch a saved game.",
    ),
    "gtp": Command(
        "ludoteca.evaluate.cli.gtp:gtp_command",
        "Play Hex or Othello as an engine, in the Go Text Protocol (GTP 2).",
    ),
    "htp": Command(
        "ludoteca.evaluate.cli.htp:htp_command",
        "Play Hex as an engine for HexGui, in the Hex Text Protocol.",
    ),
    "nboard": Command(
        "ludoteca.evaluate.cli.nboard:nboard_command",
        "Play Othello as an engine, in the NBoard protocol (version 2).",
    ),
    "ggp-player": Command(
        "ludoteca.evaluate.cli.ggp_player:ggp_player",
        "Play matches of General Game Playing over HTTP.",
    ),
    "ggp-match": Command(
        "ludoteca.evaluate.cli.ggp_match:ggp_match",
        "Play matches between two players of General Game Playing over HTTP.",
    ),
    "bench": Command(
        "ludoteca.evaluate.cli.bench:bench",
        "Benchmark environments and searches.",
    ),
    "gdl": Command(
        "ludoteca.evaluate.cli.gdl:GDL_COMMANDS",
        "Check, inspect, play and trace games in GDL (rule sheets).",
        group="command",
    ),
    "export": Command(
        "ludoteca.evaluate.cli.export:export",
        "Export an agent as a Kaggle submission, an ONNX or a Keras file.",
    ),
    "new-game": Command(
        "ludoteca.evaluate.cli.new_game:new_game",
        "Write the files of a new game into a checkout, ready to be filled in.",
    ),
    "new-package": Command(
        "ludoteca.evaluate.cli.new_package:new_package",
        "Create a package of your own with a game, an agent and tests.",
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status: 2 if the arguments are wrong."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments in (["--version"], ["-V"]):
        print(f"ludoteca {__version__}")
        return 0
    return run_commands(COMMANDS, arguments, "ludoteca", DESCRIPTION, EXAMPLES)


if __name__ == "__main__":
    sys.exit(main())
