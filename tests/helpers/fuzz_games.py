"""Fuzz targets: replays and game records, positions, environments and their arguments."""

import contextlib
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_inputs import SPECS, WEIRD, Attempt, keep
from mutations import PIECES, mutate_bytes, mutate_json_text, mutate_text

from ludoteca.envs.registry import make_game


def played(game: Any, rng: random.Random, plies: int) -> tuple[Any, list[Any]]:
    """Return a position after some random plies, and the actions that led to it."""
    s, legal, actions = game.new(rng.randrange(100)), np.zeros(game.num_actions, np.int16), []
    with np.errstate(over="ignore"):
        for _ in range(plies):
            if game.is_terminal(s):
                break
            action: Any
            if game.simultaneous:
                action = []
                for p in range(game.num_players):
                    n = game.legal_actions(s, p, legal)
                    action.append(int(legal[rng.randrange(n)]) if n else 0)
                game.step(s, np.array(action))
            else:
                action = int(legal[rng.randrange(game.legal_actions(s, legal))])
                game.step(s, action)
            actions.append(action)
    return s, actions


def replays(folder: Path) -> Attempt:
    """Read mutated replay files."""
    from ludoteca.envs.replay import Replay

    seeds = []
    for spec in SPECS:
        game = make_game(spec)
        for seed in range(3):
            rng = random.Random(seed)
            s, legal, actions = game.new(seed), np.zeros(game.num_actions, np.int16), []
            with np.errstate(over="ignore"):
                for _ in range(6):
                    if game.is_terminal(s) or game.simultaneous:
                        break
                    actions.append(int(legal[rng.randrange(game.legal_actions(s, legal))]))
                    game.step(s, actions[-1])
            returns = None
            if game.is_terminal(s):
                out = np.zeros(game.num_players, np.float32)
                game.returns(s, out)
                returns = tuple(float(x) for x in out)
            seeds.append(json.loads(Replay(game.spec, seed, actions, returns).to_json()))

    def attempt(rng: random.Random) -> None:
        Replay.from_json(keep(mutate_json_text(rng, rng.choice(seeds))))

    return attempt


def game_records(folder: Path) -> Attempt:
    """Read mutated SGF, GGF, transcripts and FFO positions."""
    from ludoteca.envs.formats.ffo import is_ffo, read_positions
    from ludoteca.envs.formats.record import RecordText
    from ludoteca.envs.formats.registry import FORMATS, load_games, write_games
    from ludoteca.envs.replay import Replay

    seeds = []
    for spec in ("hex:board_size=4,swap=True", "othello", "othello:board_size=4"):
        game = make_game(spec)
        replay = Replay(game.spec, 0, played(game, random.Random(1), 8)[1], None, ("a]", "b\\"))
        for format_ in FORMATS:
            with contextlib.suppress(ValueError):
                seeds.append(write_games([replay, replay], format_.suffix))
    seeds += [
        "(;GM[11]SZ[4](;B[aa];W[swap];W[bc](;B[d4])(;B[d3];W[resign]))(;B[a2]C[x\\]y]))",
        "2 (;GM[Othello]TY[s8r20]PB[x]RE[+4.00:r]BO[8 --------]B[d3/1.5/2]W[pa];)",
        f"{'-' * 27}OX------XO{'-' * 27} X; D3:+1; C4:-2 % start\n",
        f"{'X' * 40}{'O' * 24} O\n",
    ]
    pieces = (*PIECES, "(;", ";)", "(", ")", "]", "\\", "B[", "W[pass]", "GM[2]", "SZ[5]", "AB[d4]",
              "RE[B+]", "PL[W]", "BO[8 ", "TY[8]", "--", "f5", "(;" * 2000, ";" * 2000)  # fmt: skip
    file = folder / "game.sgf"

    def attempt(rng: random.Random) -> None:
        text = mutate_text(rng, rng.choice(seeds), pieces)
        file.write_bytes(keep(text.encode(errors="replace")))
        if is_ffo(text):
            read_positions(RecordText(text))
            return
        replays = [record.replay for record in load_games(file)]
        again = write_games(replays, ".sgf")
        file.write_text(again)
        if [record.replay for record in load_games(file)] != replays:
            raise RuntimeError(f"read again it is another game: {again}")

    return attempt


def positions_of(count: int) -> list[tuple[Any, Any]]:
    """Return positions of all games of `SPECS`, `count` of each, with their games."""
    found = []
    for spec in SPECS:
        game = make_game(spec)
        for seed in range(count):
            rng = random.Random(seed)
            found.append((game, played(game, rng, rng.randrange(12))[0]))
    return found


def states_json(folder: Path) -> Attempt:
    """Read mutated positions in JSON, and play on from them."""
    from ludoteca.envs.serialization import state_from_json, state_to_json

    seeds = [(game, json.loads(state_to_json(game, s))) for game, s in positions_of(4)]

    def attempt(rng: random.Random) -> None:
        game, seed = rng.choice(seeds)
        s = state_from_json(game, keep(mutate_json_text(rng, seed)))
        play_on(game, s, rng)

    return attempt


def play_on(game: Any, s: Any, rng: random.Random) -> None:
    """Play from a position that was accepted; interpreted, so that an invalid index raises."""
    legal, view = np.zeros(game.num_actions, np.int16), np.zeros(game.observation_shape, np.int8)
    with np.errstate(over="ignore"):
        for _ in range(4):
            game.observe(s, 0, view)
            if game.is_terminal(s):
                return
            if game.simultaneous:
                joint = np.zeros(game.num_players, np.int64)
                for p in range(game.num_players):
                    n = game.legal_actions(s, p, legal)
                    joint[p] = legal[rng.randrange(n)] if n else 0
                game.step(s, joint)
            else:
                game.step(s, int(legal[rng.randrange(game.legal_actions(s, legal))]))


def signed(data: bytes) -> bytes:
    """Return mutated bytes with a valid checksum, without which they would not be parsed."""
    from ludoteca.envs.serialization import MAGIC

    content = data[len(MAGIC) + 16 :]
    return MAGIC + hashlib.sha256(content).digest()[:16] + content


def states_bytes(folder: Path) -> Attempt:
    """Read mutated positions in bytes, and play on from them."""
    from ludoteca.envs.serialization import states_from_bytes, states_to_bytes

    seeds = []
    for game, s in positions_of(4):
        states = game.empty(1)
        states[0] = s
        seeds.append((game, states_to_bytes(game, states)))

    def attempt(rng: random.Random) -> None:
        game, seed = rng.choice(seeds)
        data = mutate_bytes(rng, seed)
        for s in states_from_bytes(game, keep(signed(data) if rng.random() < 0.9 else data)):
            play_on(game, s, rng)

    return attempt


def environments(folder: Path) -> Attempt:
    """Restore environments from mutated bytes, and step them."""
    from ludoteca.envs.api.single import GameEnv

    env = GameEnv("tictactoe")
    env.reset(seed=0)
    seeds = []
    for action in (4, 0, 8):
        env.step(action)
        seeds.append(env.save())

    def attempt(rng: random.Random) -> None:
        data = mutate_bytes(rng, rng.choice(seeds))
        env.restore(keep(signed(data) if rng.random() < 0.9 else data))
        legal = np.flatnonzero(env.action_masks())
        env.step(int(rng.choice(legal)) if len(legal) else 0)

    return attempt


def faces(folder: Path) -> Attempt:
    """Call the environments of all APIs with values of all types as actions, seeds and options."""
    from ludoteca.envs.adapters.sb3 import SB3VecEnv
    from ludoteca.envs.api.aec import GameAECEnv
    from ludoteca.envs.api.parallel import GameParallelEnv
    from ludoteca.envs.api.single import GameEnv
    from ludoteca.envs.api.vector import GameVectorEnv

    single = [GameEnv("tictactoe"), GameEnv("tictactoe", illegal_action="raise")]
    vector = [GameVectorEnv("tictactoe", 2), GameVectorEnv("tron:rows=4,columns=5", 2)]
    turns = [GameAECEnv(make_game(spec)) for spec in ("tictactoe", "tron:rows=4,columns=5")]
    at_once = [GameParallelEnv(make_game("tron:rows=4,columns=5"))]
    sb3 = [SB3VecEnv(make_game("tictactoe"), 2)]
    game = make_game("tictactoe")
    everything: list[Any] = [*single, *vector, *turns, *at_once, *sb3]

    def weird(rng: random.Random) -> Any:
        """Return a value that is invalid as most arguments."""
        kind = rng.randrange(6)
        if kind == 0:
            return rng.choice(WEIRD)
        if kind == 1:
            return rng.randrange(-2, 12)
        if kind == 2:
            return [rng.choice(WEIRD) for _ in range(rng.randrange(4))]
        if kind == 3:
            shape = rng.choice(((2,), (3,), (2, 2), (), (0,)))
            dtype = rng.choice(("i1", "i8", "u8", "f4", "f8", "?", "O", "U3", "M8[s]"))
            return np.zeros(shape, dtype)
        if kind == 4:
            return {rng.choice(("a", "player_0", "player_1", 0)): rng.randrange(-1, 10)}
        return np.array([rng.randrange(-1, 10), rng.randrange(-1, 10)])

    def attempt(rng: random.Random) -> None:
        env, given = rng.choice(everything), weird(rng)
        keep((type(env).__name__, given))
        kind = rng.randrange(8)
        try:
            if kind == 0 and env not in sb3:
                env.reset(seed=given)
            elif kind == 1 and env not in sb3:
                env.reset(options=given)
            elif kind == 2 and env in sb3:
                env.seed(given)
            elif kind == 3 and rng.random() < 0.05:
                type(env)(game, **{rng.choice(("opponent", "dtype", "render_mode")): given})
            else:
                env.step(given)
        except Exception:
            env.reset()
            raise
        if rng.random() < 0.2:
            env.reset()

    for env in everything:
        env.reset()
    return attempt


def edited_cells(folder: Path) -> Attempt:
    """Set up positions from mutated boards, and play on from them."""
    from ludoteca.envs.render.status import board_codes
    from ludoteca.evaluate.arena.position_setup import position_from_cells

    seeds = [(game, s, board_codes(game, s).ravel().tolist()) for game, s in positions_of(3)]

    def attempt(rng: random.Random) -> None:
        game, s, cells = rng.choice(seeds)
        if rng.random() < 0.2:
            cells = rng.choice(seeds)[2]
        cells, codes = list(cells), len(game.layout.pieces)
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            code = rng.choice(WEIRD) if rng.random() < 0.1 else rng.randint(-1, codes + 1)
            cells[rng.randrange(len(cells))] = code if rng.random() < 0.8 else 0
        made = position_from_cells(game, s, keep(cells), rng.randrange(game.num_players))
        play_on(game, made, rng)

    return attempt
