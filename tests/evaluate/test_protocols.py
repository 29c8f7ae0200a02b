"""Tests of the servers of GTP, HTP and NBoard: `ludoteca gtp`, `htp` and `nboard`."""

import io
import random
import subprocess
import sys

import pytest

from ludoteca import __version__
from ludoteca.__main__ import main
from ludoteca.envs.formats.ggf import write_ggf
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.play.history import GameHistory
from ludoteca.evaluate.protocols.gtp_hex import HexServer
from ludoteca.evaluate.protocols.gtp_othello import OthelloServer
from ludoteca.evaluate.protocols.htp import ANALYZE_COMMANDS, HTPServer
from ludoteca.evaluate.protocols.line_server import MAX_LINE, serve
from ludoteca.evaluate.protocols.nboard import NBoardServer

pytestmark = pytest.mark.interpreted

# Sizes of Hex: the smallest, one whose games are cut, the default and the largest.
SIZES = [
    size if size in (2, 3, 6, 11, 19) else pytest.param(size, marks=pytest.mark.slow)
    for size in range(2, 20)
]
# The starting position of Othello in a GGF record.
START = "BO[8 ---------------------------O*------*O--------------------------- *]"


def ask(server, *lines):
    """Return the answers to commands, without the empty lines that end those of GTP."""
    return ["".join(server.respond(f"{line}\n")).removesuffix("\n\n") for line in lines]


def hex_server(size=5, agent="random", swap=False, first="black", kind=HexServer):
    """Return a server of Hex; `first` is the color that moves first."""
    return kind(make_game("hex", board_size=size, swap=swap, first=first), agent)


def test_administrative_commands_answer_by_the_specification():
    server = hex_server()
    answers = ask(server, "protocol_version", "1 name", "2 version", "known_command play")
    assert answers == ["= 2", "=1 ludoteca random", f"=2 {__version__}", "= true"]
    assert ask(server, "known_command fly", "fly", "17 fly", "12") == [
        "= false", "? unknown command: fly", "?17 unknown command: fly", "?12 no command",
    ]  # fmt: skip
    assert set(server.commands) == set(ask(server, "list_commands")[0].removeprefix("= ").split())
    assert ask(server, "", "  # a comment", "\t", "name # a comment\r") == [
        "", "", "", "= ludoteca random",
    ]  # fmt: skip
    assert ask(server, "play\tb\ta1", "undo", "undo") == [
        "= ", "= ", "? cannot undo: no move has been played",
    ]  # fmt: skip
    assert not server.closed
    assert ask(server, "3 quit") == ["=3 "]
    assert server.closed


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("boardsize 20", "unacceptable size: expected 2 to 19, got 20"),
        ("boardsize 5 6", "unacceptable size: expected a square board, got 5 6"),
        ("boardsize five", "SIZE must be an integer of at most 9 digits, got five"),
        ("boardsize ²", "SIZE must be an integer of at most 9 digits, got \\xb2"),
        ("boardsize", "syntax error: expected boardsize SIZE, or boardsize COLUMNS ROWS, got 0"),
        ("play b", "syntax error: expected play COLOR MOVE, got 1 arguments"),
        ("play red a1", "syntax error: expected black, b, white or w, got red"),
        ("play b c3", "white is to move, not black: colors alternate"),
        ("play w c3", "illegal move: c3, the cell is occupied"),
        ("play w f1", "illegal move: there is no move f1"),
        ("play w swap-pieces", "illegal move: there is no move swap-pieces; this game has no swap"),
        ("genmove", "syntax error: expected genmove COLOR"),
        ("genmove b", "white is to move, not black: colors alternate"),
        ("final_score", "cannot score: the game is not over"),
        ("time_left b soon 0", "syntax error: expected seconds, 0 or more, got soon"),
        ("time_settings 1 nan 0", "syntax error: expected seconds, 0 or more, got nan"),
    ],
)
def test_commands_that_fail_leave_the_position(line, answer):
    server = hex_server()
    assert ask(server, "play b c3") == ["= "]
    before = ask(server, "showboard")
    assert ask(server, line)[0].startswith(f"? {answer}")
    assert ask(server, "showboard") == before


def test_failed_agents_are_errors_of_the_command(tmp_path):
    file = tmp_path / "small.py"
    file.write_text(
        "from ludoteca.agents.baselines import RandomAgent\n"
        "class Small(RandomAgent):\n"
        "    def __init__(self, game):\n"
        "        if game.params['board_size'] > 5: raise ValueError('too large')\n"
        "        super().__init__(game)\n"
        "    def act(self, states, seats, rngs, env_indices):\n"
        "        raise RuntimeError('broken\\n\\nagent')\n"
    )
    server = hex_server(agent=f"{file}:Small")
    (answer,) = ask(server, "boardsize 6")
    assert answer.startswith("? unacceptable size: ")
    assert "does not play hex:board_size=6" in answer
    assert answer.endswith("too large")
    assert ask(server, "play b e5") == ["= "]  # the size is still 5
    assert ask(server, "genmove w")[0].endswith("failed: RuntimeError: broken agent")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("swap", [False, True])
def test_games_of_all_sizes_are_played(size, swap):
    server = hex_server(swap=swap)
    assert ask(server, f"boardsize {size}") == ["= "]
    rules = GameHistory(make_game("hex", board_size=size, swap=swap))
    rng = random.Random(size)
    for _ in range(size * size + 1 if size < 6 else 8):  # plies; games on large boards are cut
        if rules.is_over:
            break
        color = "bw"[len(rules.actions) % 2]
        action = rng.choice(rules.legal())
        if swap and len(rules.actions) == 1:
            action = size * size
        name = rules.game.action_names[action].replace("swap", "swap-pieces")
        if rng.random() < 0.3:
            name = ask(server, f"genmove {color}")[0].removeprefix("= ")
            action = rules.game.action_names.index(name.replace("swap-pieces", "swap"))
        else:
            assert ask(server, f"play {color} {name}") == ["= "]
        rules.play(action)
    assert server.session.history.actions == rules.actions
    if not rules.is_over:
        return
    winner = "B" if rules.returns()[0] > 0 else "W"
    assert ask(server, "final_score", "genmove b") == [f"= {winner}+", "? the game is over"]
    assert ask(server, "undo", "final_score")[1] == "? cannot score: the game is not over"
    assert ask(server, "clear_board", "play b a1") == ["= ", "= "]


def test_either_color_begins_on_an_empty_board():
    server = hex_server(size=3)
    assert ask(server, "play white b1", "play black b2", "play w a2", "play b a3") == ["= "] * 4
    assert ask(server, "final_score") == ["? cannot score: the game is not over"]
    assert ask(server, "play w c1", "final_score") == ["= ", "= W+"]
    assert ask(server, "clear_board", "play black b1", "play white b2")[-1] == "= "


def test_board_is_shown_without_empty_lines():
    server = hex_server(size=3)
    (board,) = ask(server, "play b b2", "showboard")[1:]
    assert board.startswith("= \n")
    assert "X" in board
    assert "\n\n" not in board


def test_swap_moves_the_stone():
    server = hex_server(size=3, swap=True)
    answers = ask(server, "play b b1", "play w swap-pieces", "play b b1", "play w swap-pieces")
    assert answers == [
        "= ",
        "= ",
        "= ",
        "? illegal move: swap-pieces, only the second move may swap",
    ]


def test_engine_plays_a_winning_move():
    server = hex_server(size=3, agent="mcts:simulations=300")
    moves = ["play b b2", "play w a1", "play b a3", "play w c3"]
    assert ask(server, *moves) == ["= "] * 4
    assert ask(server, "reg_genmove b", "genmove b") in (["= b1"] * 2, ["= c1"] * 2)
    assert ask(server, "final_score") == ["= B+"]


def test_analyze_commands_of_hexgui_are_answered():
    server = hex_server(size=3, agent="mcts:simulations=50", swap=True, kind=HTPServer)
    assert ask(server, "hexgui-analyze_commands") == ["= " + "\n".join(ANALYZE_COMMANDS)]
    assert ask(server, "boardsize 3 3", "play black b2") == ["= ", "= "]
    for command in ANALYZE_COMMANDS:
        kind, _, text = command.split("/")
        (answer,) = ask(server, text.replace("%c", "white"))
        if text == "final_score":
            assert answer.startswith("? cannot score")
            continue
        assert answer.startswith("= ")
        words = answer.removeprefix("= ").split()
        names = {*make_game("hex:board_size=3").action_names, "swap-pieces"}
        if kind in ("plist", "varc", "var"):
            assert words
            assert set(words) <= names
        if kind == "pspairs":
            assert set(words[::2]) == names - {"b2", "swap-pieces"}
            assert all(0 <= float(value) <= 1 for value in words[1::2])
    assert "swap-pieces" in ask(server, "all_legal_moves")[0]
    assert len(server.session.history.actions) == 1


def test_agents_without_values_refuse_their_display():
    server = hex_server(kind=HTPServer)
    assert ask(server, "move_values", "visit_shares", "expected_score") == [
        "? random does not return values of moves",
        "? random does not return visits of moves",
        "? random does not evaluate positions",
    ]


def test_nboard_session():
    server = NBoardServer("alphabeta:depth={depth}", depth=2)
    assert ask(server, "nboard 2", "set depth 1") == [
        "set myname alphabeta:depth=2\nstatus Waiting\n", "set myname alphabeta:depth=1\n",
    ]  # fmt: skip
    moves = "B[F5]W[F6]B[D3]W[C5]B[E6]W[F7]B[E7]W[F4//0.5]"
    game = f"(;GM[Othello]PC[NBoard]DT[2014-02-21]PB[x]PW[y]RE[?]TI[15:00]TY[8]{START}{moves};)"
    assert ask(server, f"set game {game}", "ping 3") == ["", "pong 3\n"]
    thinking, statistics, answer, waiting = ask(server, "go")[0].splitlines()
    assert (thinking, waiting) == ("status Thinking", "status Waiting")
    assert statistics.split()[0] == "nodestats"
    square, value, seconds = answer.removeprefix("=== ").split("/")
    assert -64 <= float(value) <= 64
    assert float(seconds) >= 0
    assert len(server.session.history.actions) == 8  # `go` does not play
    hints = [line for line in ask(server, "hint 3")[0].splitlines() if line.startswith("search")]
    assert hints[0].split()[1].startswith(square)
    assert ask(server, f"move {square}/1.5/0.01") == [""]
    assert len(server.session.history.actions) == 9
    assert ask(server, "move a1")[0].startswith(
        "status Error: move a1 is illegal: the legal moves are "
    )
    assert ask(server, "learn", "set contempt 3", "fly") == ["learned\n", "", ""]
    analysis = [line.split() for line in ask(server, "analyze")[0].splitlines()[1:-1]]
    assert [(name, int(ply)) for name, ply, _ in analysis] == [
        ("analysis", ply) for ply in range(9, -1, -1)
    ]
    ask(server, "quit")
    assert server.closed


def test_nboard_hints_are_ordered_and_scaled():
    server = NBoardServer("mcts:simulations=60")
    hints = [line.split() for line in ask(server, "hint 4")[0].splitlines() if "search" in line]
    assert {hint[1][:2] for hint in hints} == {"D3", "C4", "F5", "E6"}
    assert all(-64 <= float(hint[2]) <= 64 for hint in hints)


@pytest.mark.parametrize("seed", range(3))
def test_nboard_plays_whole_games_with_passes(seed):
    server = NBoardServer("random", seed=seed)
    game = server.session.game
    while not server.session.history.is_over:
        (answer,) = [line for line in ask(server, "go")[0].splitlines() if line.startswith("===")]
        move = answer.removeprefix("=== ").split("/")[0]
        assert (move == "PA") == (server.session.history.legal() == [game.num_actions - 1])
        assert ask(server, f"move {move}") == [""]
    assert ask(server, "go") == ["status Thinking\nstatus Error: the game is over\n"]
    played = server.session.history
    assert ask(server, f"set game {write_ggf([played.to_replay()]).strip()}") == [""]
    assert server.session.history.actions == played.actions


def test_nboard_game_that_cannot_be_read_leaves_the_position():
    server = NBoardServer("random")
    assert ask(server, "move f5") == [""]
    for text in ("", "(;GM[Othello]", f"(;GM[Othello]TY[8]{START}B[A1];)", f"(;GM[Chess]{START};)"):
        assert ask(server, f"set game {text}")[0].startswith("status Error: set game: expected one")
    assert len(server.session.history.actions) == 1


def random_line(rng):
    """Return random words of the protocols, or random characters."""
    text = """play genmove b w black a1 b2 c9 swap-pieces boardsize 3 -1 undo showboard
        known_command 12 # é ² 99999999999 1e400 time_left time_settings all_legal_moves
        reg_genmove final_score clear_board set_game Othello d3 c3 pass 1 0.5
        set game depth move hint go ping nan (;GM[Othello] BO[8 ];) F5 PA //
        analyze move_values resign protocol_version {depth}"""
    words = [*text.split(), "\x00", "\ud800", "\t"]
    if rng.random() < 0.1:
        return "".join(chr(rng.randrange(1, 0x3000)) for _ in range(rng.randrange(40)))
    return " ".join(rng.choice(words) for _ in range(rng.randrange(1, 5)))


@pytest.mark.parametrize("kind", [HTPServer, OthelloServer, NBoardServer])
def test_servers_answer_any_line(kind):
    rng = random.Random(kind.__name__)
    if kind is NBoardServer:
        server = NBoardServer("random")
    elif kind is OthelloServer:
        server = OthelloServer(make_game("othello:board_size=4"), "random")
    else:
        server = hex_server(size=3, kind=kind)
    for _ in range(600):
        line = random_line(rng)
        (answer,) = ask(server, line)
        if kind is not NBoardServer and answer:
            assert answer[0] in "=?", line
            assert "\n\n" not in answer, line
        if kind is NBoardServer and answer:
            starts = ("status", "set myname", "pong", "search", "===", "nodestats", "analysis")
            assert all(part.startswith(starts) for part in answer.splitlines()), line


def test_input_is_bounded_and_need_not_be_text():
    lines = b"x" * (3 * MAX_LINE) + b"\n\xff\xfe\n1 name\n2 protocol_version"
    out = io.StringIO()
    serve(hex_server(), io.BytesIO(lines), out)
    first, second, *others = out.getvalue().split("\n\n")
    assert first == f"? expected at most {MAX_LINE} bytes in a line"
    assert second.startswith("? unknown command")
    assert others == ["=1 ludoteca random", "=2 2", ""]


def test_commands_of_the_command_line():
    command = [sys.executable, "-P", "-m", "ludoteca"]
    gtp = [*command, "gtp", "--agent", "random", "--board-size", "3"]
    done = subprocess.run(gtp, input="genmove b\nquit\nname\n", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    move, answer, rest = done.stdout.split("\n\n")
    assert move.removeprefix("= ") in make_game("hex:board_size=3").action_names
    assert (answer, rest) == ("= ", "")


def test_options_are_checked(capsys):
    assert main(["gtp", "--game", "othello", "--swap"]) == 2
    assert "first and swap are options of hex" in capsys.readouterr().err
    assert main(["gtp", "--game", "othello", "--board-size", "5"]) == 2
    assert "board_size must be one of 4, 6, 8" in capsys.readouterr().err
    assert main(["gtp", "--board-size", "20"]) == 2
    assert "board_size must be an integer from 2 to 19" in capsys.readouterr().err
    assert main(["htp", "--agent", "nothing"]) == 2
    assert "unknown agent 'nothing'" in capsys.readouterr().err
    assert main(["nboard", "--depth", "0"]) == 2
    assert "depth must be" in capsys.readouterr().err
