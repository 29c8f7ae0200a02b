"""Fuzz targets: spec strings of games and agents, and command lines."""

import contextlib
import inspect
import io
import random
from pathlib import Path

from fuzz_inputs import SPECS, Attempt, RefusedError, keep
from mutations import PIECES, mutate_text

from ludoteca.agents.registry import AGENTS, agent_params, make_agent
from ludoteca.envs.registry import GAMES, find_factory, make_game


def spec_of(rng: random.Random, name: str, known: list[str]) -> str:
    """Return a spec string with parameters and values that may be invalid."""
    items = []
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        key = rng.choice(known) if known and rng.random() < 0.9 else "nothing"
        value = rng.choice(
            (*PIECES, "1", "3", "5", "8", "0.5", "true", "black", "hex5", "cpu", "5.0")
        )
        items.append(f"{key}={value}" if rng.random() < 0.95 else value)
    return f"{name}:{','.join(items)}" if items else name


def game_specs(folder: Path) -> Attempt:
    """Make games from spec strings."""
    # Not rule sheets: the target `rule_sheets` has them, and limits the time that they may take.
    names = [find_factory(name) for name in GAMES if name != "GDL-v0"]

    def attempt(rng: random.Random) -> None:
        factory = rng.choice(names)
        spec = spec_of(rng, factory.__name__, list(inspect.signature(factory).parameters))
        if rng.random() < 0.3:
            spec = mutate_text(rng, spec)
        make_game(keep(spec))

    return attempt


def agent_specs(folder: Path) -> Attempt:
    """Make agents from spec strings."""
    games = [make_game(SPECS[k]) for k in (0, 3, 8)]
    cheap = [name for name in AGENTS if name not in ("gtp", "htp", "kaggle", "nboard", "openspiel")]
    for name in cheap:  # imports take long
        agent_params(name)

    def attempt(rng: random.Random) -> None:
        name = rng.choice(cheap)
        known = [key for key in agent_params(name) if key not in ("max_nodes", "threads")]
        spec = spec_of(rng, name, known)
        if rng.random() < 0.3:
            spec = mutate_text(rng, spec)
        make_agent(keep(spec), rng.choice(games))

    return attempt


def command_lines(folder: Path) -> Attempt:
    """Run commands in this process."""
    from ludoteca.__main__ import main
    from ludoteca.envs.replay import Replay

    game = make_game("tictactoe")
    Replay(game.spec, 0, [0, 1], None).save(folder / "replay.json")
    file = str(folder / "replay.json")
    lines = (
        ["list"], ["list", "hex"], ["replay", file], ["replay", file, "--final"],
        ["replay", file, "--ply", "1"], ["match", "tictactoe", "--games", "2"],
        ["match", "tictactoe", "--agents", "random", "greedy", "--games", "2", "--seed", "3"],
        ["match", "hex", "--board-size", "3", "--games", "2"],
        ["render", "tictactoe", "--out", str(folder / "a.svg")], ["bench", "nothing"],
        ["render", "tictactoe", "--replay", file, "--out", str(folder / "b.svg")],
        ["export", "geese", "--agent", "greedy", "--out", str(folder / "c.py")],
    )  # fmt: skip
    words = (
        *PIECES, "--games", "--seed", "--agents", "--json", "--help", "--", "-", "list", "hex",
        "tictactoe", "geese", "2", "1", "0", "-1", "x", "1.5", "--board-size", "--out", "--ply",
        "random", "greedy", "dqn:hex5", "mcts:simulations=2", "--first", "white", file,
    )  # fmt: skip
    words = tuple(word for word in words if word.isprintable() and not word.startswith("9"))

    def attempt(rng: random.Random) -> None:
        line = list(rng.choice(lines))
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            k = rng.randrange(len(line) + 1)
            line[k : k + rng.choice((0, 1))] = [rng.choice(words)]
        if not line or (line[0] in ("bench", "play", "tournament") and len(line) == 1):
            return
        errors = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            try:
                status = main(keep(line))
            except SystemExit as end:  # of tyro, which has shown what is wrong
                status = end.code
        if status not in (0, 2, None):
            raise RuntimeError(f"the exit status is {status}")
        if status == 2:
            raise RefusedError(errors.getvalue())

    return attempt
