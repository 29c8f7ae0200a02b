"""Engines that speak GTP (Go Text Protocol): programs that share no code with the package."""

# Engine that plays the first empty cell of a 3x3 board of Hex; its argument selects a defect, or
# with "timed" the engine plays an illegal move unless it is sent the time limits of 60 s.
HEX_ENGINE = """
import os, sys, time
kind, taken, times = sys.argv[1], set(), []
def out(text):
    sys.stdout.write(text)
    sys.stdout.flush()
for line in sys.stdin:
    name, *arguments = line.split()
    if name == "clear_board":
        taken.clear()
    if name == "play":
        taken.add(arguments[1])
    if kind == "timed":
        if name == "known_command":
            out("= true\\n\\n")
            continue
        times.append(line)
        if name == "genmove":
            known = "time_settings 0 60 1\\n" in times and times[-2] == "time_left black 60 1\\n"
            kind = "timed" if known else "illegal"
    if name != "genmove":
        out("= \\n\\n" if kind != "refusing" or name != "play" else "? no\\n\\n")
        continue
    if kind == "crashing":
        sys.stderr.write("Segmentation\\tfault")
        sys.exit(3)
    if kind == "slow":
        time.sleep(60)
    if kind == "garbage":
        out("\\x00\\xff what?\\n\\n")
    if kind == "flooding":
        while True:
            out("x" * 1000)
    if kind == "chatty":
        sys.stderr.write("thinking " * 20000)
    move = next(c + r for r in "123" for c in "abc" if c + r not in taken)
    move = {"illegal": "z9", "resigning": "resign"}.get(kind, move)
    taken.add(move)
    out("\\r\\n=  " + move.upper() + "\\r\\n\\r\\n")
"""

# Engine that plays the last legal square of Othello by its own rules, on boards of 4x4 to 8x8. As
# in GRhino, passes are implicit. It refuses commands that its rules forbid.
OTHELLO_ENGINE = """
import sys
size, cells, mover = 8, {}, "b"
def out(text, sign="="):
    sys.stdout.write(sign + " " + text + "\\n\\n")
    sys.stdout.flush()
def clear():
    global cells, mover
    h = size // 2
    cells, mover = {(h, h): "w", (h - 1, h - 1): "w", (h, h - 1): "b", (h - 1, h): "b"}, "b"
def other(color):
    return "w" if color == "b" else "b"
def flips(at, color):
    found = []
    for d in [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]:
        run, x = [], (at[0] + d[0], at[1] + d[1])
        while cells.get(x) == other(color):
            run, x = run + [x], (x[0] + d[0], x[1] + d[1])
        found += run if cells.get(x) == color else []
    return [] if at in cells else found
def moves(color):
    return [(r, c) for r in range(size) for c in range(size) if flips((r, c), color)]
def play(at, color):
    global mover
    for x in [at, *flips(at, color)]:
        cells[x] = color
    mover = other(color) if moves(other(color)) else color
clear()
for line in sys.stdin:
    name, *words = line.lower().split()
    if name == "boardsize":
        size = int(words[0])
        clear()
    if name == "clear_board":
        clear()
    if name == "known_command":
        out("false")
    elif name == "play":
        color, at = words[0][0], (int(words[1][1]) - 1, "abcdefgh".index(words[1][0]))
        if color == mover and at in moves(color):
            play(at, color)
            out("")
        else:
            out("illegal move", "?")
    elif name == "genmove":
        color = words[0][0]
        if color == mover and moves(color):
            at = moves(color)[-1]
            play(at, color)
            out("ABCDEFGH"[at[1]] + str(at[0] + 1))
        else:
            out("not to move", "?")
    else:
        out("")
"""
