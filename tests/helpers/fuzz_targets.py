"""Targets of `tests/fuzz`: for each of them, how inputs are made, and which code reads them.

A target is a function of a folder for files that returns `attempt(rng)`. An attempt makes an input
with a random generator and passes it to the package. It may return, or raise one of the errors that
the target allows; any other error is a finding. `INPUT` holds the last input, for the report.
"""

import contextlib
import hashlib
import inspect
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mutations import (
    NUMBERS,
    OTHERS,
    PIECES,
    mutate_bytes,
    mutate_json_text,
    mutate_sheet,
    mutate_text,
)

from ludoteca.agents.registry import AGENTS, agent_params, make_agent
from ludoteca.envs.registry import GAMES, find_factory, make_game

Attempt = Callable[[random.Random], None]
INPUT: list[Any] = [None]
GOLDEN = Path(__file__).parents[1] / "golden"
SPECS = (
    "tictactoe", "hex:board_size=3", "connect4:rows=4,columns=4,connect=3", "othello:board_size=4",
    "atari_go:board_size=4", "breakthrough", "sheep_and_wolf", "tron:rows=4,columns=5",
    "hungry_geese:num_players=2,rows=4,columns=4,episode_steps=20", "free_for_all",
    "knight_through",
)  # fmt: skip
# The shortest game of Othello on 4x4: the rows of a data set in CSV, without the last column, the
# label. 0: empty, 1 and 2: discs.
SHORT = """
0,0,0,0,0,1,2,0,0,2,1,0,0,0,0,0
0,2,0,0,0,2,2,0,0,2,1,0,0,0,0,0
0,2,1,0,0,2,1,0,0,2,1,0,0,0,0,0
0,2,2,2,0,2,2,0,0,2,1,0,0,0,0,0
1,2,2,2,0,1,2,0,0,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,2,0,0,0,0,2
"""
# Values of all types, which are invalid as most arguments.
WEIRD = (*NUMBERS, *OTHERS, object(), b"NORTH", 1j, np.int8(3), np.zeros(3), (), {1, 2}, slice(2))


class RefusedError(Exception):
    """The command line has refused its arguments, with a message."""


def keep(value: Any) -> Any:
    """Store an input in `INPUT`, for the report of a finding, and return it."""
    INPUT[0] = value
    return value


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


def network_files(folder: Path) -> Attempt:
    """Load agents from mutated network files."""
    from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
    from ludoteca.agents.networks.q_network import QConfig, make_q_network
    from ludoteca.agents.networks.weights import load_weights, save_weights

    game, seeds = make_game("tictactoe"), []
    configs: tuple[tuple[str, Any, Any], ...] = (
        ("dqn", QConfig(filters=(2,), blocks=1), make_q_network),
        ("az", PVConfig(filters=2, blocks=1), make_pv_network),
    )
    path = folder / "net.safetensors"
    for kind, config, make in configs:
        metadata = {"game": game.spec, "network": config.as_dict()}
        save_weights(path, make(config, game).state_dict(), metadata)
        seeds.append((kind, path.read_bytes(), *load_weights(path)))

    def attempt(rng: random.Random) -> None:
        kind, content, weights, metadata = rng.choice(seeds)
        mutated_part = rng.random()
        if mutated_part < 0.4:  # the metadata
            text = mutate_json_text(rng, metadata)
            with contextlib.suppress(ValueError, RecursionError):
                metadata = json.loads(text)
            with contextlib.suppress(UnicodeEncodeError, RecursionError):
                save_weights(path, weights, metadata)
        elif mutated_part < 0.7:  # the header
            size = int.from_bytes(content[:8], "little")
            text = mutate_json_text(rng, json.loads(content[8 : 8 + size])).encode(errors="replace")
            path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
        else:
            path.write_bytes(mutate_bytes(rng, content))
        keep(path.read_bytes())
        agent = make_agent(f"{kind}:{path},epsilon=0" if kind == "dqn" else f"az:{path}", game)
        if rng.random() < 0.02 and kind == "dqn":
            ask(agent)

    return attempt


def ask(agent: Any) -> None:
    """Let an agent play a move, which must be legal."""
    states = agent.game.empty(1)
    states[0] = agent.game.new()
    zero = np.zeros(1, np.int64)
    (action,) = agent.act(states, zero, np.zeros((1, 1), np.uint64), zero)
    if not 0 <= action < agent.game.num_actions:
        raise RuntimeError(f"the agent plays {action}")


def rllib_policies(folder: Path) -> Attempt:
    """Load agents from mutated policies of RLlib."""
    import torch

    from ludoteca.agents.external.rllib import load_rllib_agent
    from ludoteca.agents.external.rllib_file import KIND
    from ludoteca.agents.networks.weights import save_weights

    game, path = make_game("tictactoe"), folder / "policy.safetensors"
    layers = [
        {"kind": "channels_first"}, {"kind": "zero_pad", "padding": [1, 1, 1, 1]},
        {"kind": "conv", "inputs": 2, "outputs": 1, "kernel": [3, 3], "stride": [1, 1],
         "bias": False},
        {"kind": "channels_last"}, {"kind": "layer_norm", "size": 1, "eps": 0.001},
        {"kind": "tanh"}, {"kind": "flatten"},
        {"kind": "linear", "inputs": 9, "outputs": 9, "bias": False},
    ]  # fmt: skip
    metadata = {
        "kind": KIND,
        "game": game.spec,
        "network": {"layers": layers, "planes": True, "logits": True},
    }
    shapes = {"2.weight": (1, 2, 3, 3), "4.weight": (1,), "4.bias": (1,), "7.weight": (9, 9)}
    weights = {f"layers.{name}": torch.ones(shape) for name, shape in shapes.items()}
    save_weights(path, weights, metadata)
    content = path.read_bytes()

    def attempt(rng: random.Random) -> None:
        path.write_bytes(mutate_bytes(rng, content))
        if rng.random() < 0.7:
            with contextlib.suppress(ValueError, RecursionError, UnicodeEncodeError):
                save_weights(path, weights, json.loads(mutate_json_text(rng, metadata)))
        keep(path.read_bytes())
        ask(load_rllib_agent(game, path, deterministic=rng.random() < 0.5))

    return attempt


def sb3_archives(folder: Path) -> Attempt:
    """Load agents from mutated model archives of Stable-Baselines3."""
    import torch
    from stable_baselines3 import DQN, PPO

    from ludoteca.agents.external.sb3 import load_sb3_agent
    from ludoteca.envs.adapters.sb3 import SB3VecEnv

    game, path, seeds = make_game("tictactoe"), folder / "model.zip", []
    env = SB3VecEnv(game, 1, seed=0)
    kwargs = {"net_arch": [2], "activation_fn": torch.nn.ReLU}
    for model in (
        PPO("MlpPolicy", env, n_steps=8, batch_size=8, policy_kwargs=kwargs),
        DQN("MlpPolicy", env, buffer_size=10, policy_kwargs=kwargs),
    ):
        model.save(path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in ("data", "policy.pth")}
        parts = ("policy_class", "policy_kwargs", "observation_space", "action_space")
        data = {part: json.loads(members["data"])[part] for part in parts}
        for part in data.values():
            part.pop(":serialized:", None)
        seeds.append((path.read_bytes(), data, members["policy.pth"]))

    def attempt(rng: random.Random) -> None:
        content, data, weights = rng.choice(seeds)
        if rng.random() < 0.2:
            path.write_bytes(mutate_bytes(rng, content))
        else:
            text = json.dumps(data)
            if rng.random() < 0.7:
                text = mutate_json_text(rng, data)
            else:
                weights = mutate_bytes(rng, weights)
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("data", text.encode(errors="replace"))
                archive.writestr("policy.pth", weights)
        keep(path.read_bytes())
        agent = load_sb3_agent(game, path)
        if rng.random() < 0.1:
            ask(agent)

    return attempt


def run_states(folder: Path) -> Attempt:
    """Load mutated checkpoints of training runs."""
    from ludoteca.train.run_directory import RunDirectory

    run = RunDirectory(folder, {})
    arrays = {"a/b": np.zeros((3, 4)), "c": np.arange(5), "d": np.zeros(2, "i1,f4")}
    run.save_state({"games": 5, "more": [1, 2]}, arrays)
    file = folder / "state.npz"
    seed = file.read_bytes()

    def attempt(rng: random.Random) -> None:
        file.write_bytes(keep(mutate_bytes(rng, seed)))
        run.load_state()

    return attempt


def tables(folder: Path) -> Attempt:
    """Load mutated data sets in CSV."""
    from ludoteca.train.data.storage import load_dataset

    seed = "".join(f"{line},1\n" for line in SHORT.split()).encode()
    file = folder / "table.csv"

    def attempt(rng: random.Random) -> None:
        file.write_bytes(keep(mutate_bytes(rng, seed * rng.choice((1, 1, 2)))))
        load_dataset(file)

    return attempt


def archives_of_games(folder: Path) -> Attempt:
    """Load mutated data sets of generated games."""
    from ludoteca.train.data.generate import GenerationConfig, generate
    from ludoteca.train.data.storage import load_dataset

    file = folder / "games.npz"
    generate(GenerationConfig(game="othello:board_size=4", agents=("random",), games=3, out=file))
    seed = file.read_bytes()

    def attempt(rng: random.Random) -> None:
        file.write_bytes(keep(mutate_bytes(rng, seed)))
        load_dataset(file)

    return attempt


def episodes(folder: Path) -> Attempt:
    """Read mutated episodes of Kaggle."""
    from ludoteca.train.data.kaggle import read_record
    from ludoteca.train.data.kaggle_verify import verify_episode

    with zipfile.ZipFile(GOLDEN / "geese_episodes.zip") as archive:
        episode = json.loads(archive.read("small.json"))
    spec = (
        "hungry_geese:num_players=2,rows=5,columns=6,hunger_rate=7,min_food=1,max_length=3,"
        "episode_steps=30"
    )
    game = make_game(spec)
    verify_episode(
        game, read_record(json.dumps(episode).encode(), game), "name"
    )  # compiling takes long

    def attempt(rng: random.Random) -> None:
        data = mutate_json_text(rng, episode).encode(errors="replace")
        verify_episode(game, read_record(keep(data), game), "name")

    return attempt


def ratings(folder: Path) -> Attempt:
    """Read mutated ratings of Kaggle's agents."""
    from ludoteca.train.data.ratings import read_rating_table, read_sidecar

    seed = {"id": 5, "agents": [{"index": 0, "updatedScore": 3.5}, {"index": 1}]}
    table = b"Id,EpisodeId,Index,UpdatedScore\n1,5,0,100.5\n2,5,1,\n3,7,0,99\n"
    file = folder / "agents.csv"

    def attempt(rng: random.Random) -> None:
        if rng.random() < 0.7:
            data = mutate_json_text(rng, seed).encode(errors="replace")
            read_sidecar(keep(data), "5_info", "updated")
        else:
            file.write_bytes(keep(mutate_bytes(rng, table)))
            read_rating_table(file, {5, 7}, "updated")

    return attempt


def tournament_records(folder: Path) -> Attempt:
    """Resume tournaments from mutated records."""
    from ludoteca.evaluate.tournament.game_log import GAMES_FILE as LINES
    from ludoteca.evaluate.tournament.game_log import TOURNAMENT_FILE, GameLog
    from ludoteca.evaluate.tournament.plan import Match, Tournament
    from ludoteca.evaluate.tournament.played_games import PlayedGames

    plan = Tournament(("tictactoe",), ("random", "greedy"), games_per_pair=4, repeats=1)
    with GameLog(plan, folder) as record:
        record.add(PlayedGames(Match(0, (0, 1), 0), 0, "WL", 12, 0.5))
    head, lines = (folder / TOURNAMENT_FILE).read_bytes(), (folder / LINES).read_bytes()

    def attempt(rng: random.Random) -> None:
        if rng.random() < 0.8:
            line = mutate_json_text(rng, json.loads(lines)).encode(errors="replace") + b"\n"
            line = line if rng.random() < 0.8 else mutate_bytes(rng, line)
            (folder / LINES).write_bytes(keep(line))
            (folder / TOURNAMENT_FILE).write_bytes(head)
        else:
            (folder / LINES).write_bytes(lines)
            text = mutate_json_text(rng, json.loads(head)).encode(errors="replace")
            (folder / TOURNAMENT_FILE).write_bytes(keep(text))
        with GameLog(plan, folder):
            pass

    return attempt


def tournaments_in_progress(folder: Path) -> Attempt:
    """Show mutated records of tournaments that are still being played."""
    from ludoteca.evaluate.arena.tournament_view import tournament_view
    from ludoteca.evaluate.forfeits import Forfeit
    from ludoteca.evaluate.tournament.game_log import FORMAT_VERSION, TOURNAMENT_FILE
    from ludoteca.evaluate.tournament.game_log import GAMES_FILE as LINES
    from ludoteca.evaluate.tournament.plan import Match, Tournament
    from ludoteca.evaluate.tournament.played_games import PlayedGames, to_line
    from ludoteca.evaluate.tournament.progress import TournamentProgress

    agents = ("random", "greedy", "flat")
    plan = Tournament(("tictactoe", "hex"), agents, games_per_pair=4, repeats=1)
    head = plan.identity() | {"format": FORMAT_VERSION}
    seeds = [
        to_line(
            PlayedGames(Match(0, (0, 1), 0), 0, "WL", 12, 0.5, (Forfeit(1, 1, 0, 2, "x", ""),))
        ),
        to_line(PlayedGames(Match(1, (0, 2), 0), 0, "DDLW", 60, 0.1)),
    ]

    def attempt(rng: random.Random) -> None:
        lines, text = list(seeds), json.dumps(head).encode()
        if rng.random() < 0.3:
            text = mutate_json_text(rng, head).encode(errors="replace")
        else:
            lines[rng.randrange(2)] = mutate_json_text(rng, rng.choice(seeds))
        content = "\n".join(
            line if isinstance(line, str) else json.dumps(line) for line in lines
        ).encode(errors="replace")
        content = content + b"\n" if rng.random() < 0.8 else mutate_bytes(rng, content)
        (folder / TOURNAMENT_FILE).write_bytes(text)
        (folder / LINES).write_bytes(content)
        keep((text, content))
        progress = TournamentProgress(folder)
        progress.update()
        json.dumps(tournament_view(progress, folder), allow_nan=False)

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


def kaggle_answers(folder: Path) -> Attempt:
    """Read mutated answers of the processes of Kaggle submissions."""
    from ludoteca.agents.external.failure import FailureError
    from ludoteca.agents.external.kaggle.process import read_answer

    seeds = [
        {"number": 7, "action": "NORTH"}, {"number": 7, "invalid": "'UP'"},
        {"number": 7, "error": "ZeroDivisionError"}, {"number": 7, "found": "<function a>"},
    ]  # fmt: skip

    def attempt(rng: random.Random) -> None:
        data = mutate_json_text(rng, rng.choice(seeds)).encode(errors="surrogatepass")
        data = data if rng.random() < 0.8 else mutate_bytes(rng, data)
        try:
            answer = read_answer(keep(data), 7)
        except FailureError as failure:
            failure.message.encode()
            raise ValueError(failure.message) from None
        for text in answer.values():
            text.encode()

    return attempt


def submission_archives(folder: Path) -> Attempt:
    """Unpack mutated archives of Kaggle submissions."""
    import tarfile

    from ludoteca.agents.external.kaggle.agent import find_submission

    seeds = []
    (folder / "main.py").write_text("def agent(o): return 'EAST'")
    with zipfile.ZipFile(folder / "bot.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.write(folder / "main.py", "main.py")
    with tarfile.open(folder / "bot.tar", "w") as tar:
        tar.add(folder / "main.py", "main.py")
    with tarfile.open(folder / "bot.tar.gz", "w:gz") as tar:
        tar.add(folder / "main.py", "main.py")
    for name in ("bot.zip", "bot.tar", "bot.tar.gz"):
        seeds.append((folder / name, (folder / name).read_bytes()))

    class Owner:
        """Object whose attributes keep the unpacked files alive."""

    def attempt(rng: random.Random) -> None:
        path, seed = rng.choice(seeds)
        path.write_bytes(keep(mutate_bytes(rng, seed)))
        find_submission(path, Owner())

    return attempt


def rule_sheets(folder: Path) -> Attempt:
    """Play games by mutated rule sheets in GDL, the Game Description Language."""
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.evaluate.gdl.machine import make_machine, play_random_games

    names = ("breakthrough", "prisoners_dilemma", "three_in_line", "tictactoe", "tron")
    seeds = [find_sheet(name).read_text() for name in names]
    file = folder / "sheet.kif"

    def attempt(rng: random.Random) -> None:
        sheet = mutate_sheet(rng, rng.choice(seeds))
        file.write_text(keep(sheet), errors="replace")
        machine = make_machine(file, max_seconds=5.0, max_instances=20_000)
        for position in play_random_games(machine, games=2, seed=rng.randrange(100), max_plies=10):
            position.line()

    return attempt


def ggp_messages(folder: Path) -> Attempt:
    """Parse mutated messages of the General Game Playing protocol."""
    from ludoteca.evaluate.protocols.ggp_messages import parse_message

    seeds = (
        "( START kiosk.1 x ( (role x) (role o) (<= (legal x (mark ?c 1)) (true ?c)) ) 30 10 )",
        "( PLAY kiosk.1 ( (mark a 1) noop ) )", "( PLAY kiosk.1 NIL )", "( ABORT kiosk.1 )",
        "( STOP kiosk.1 ( (mark a 1) noop ) )", "( PREVIEW ( (role x) ) 10 )", "( INFO )",
    )  # fmt: skip

    def attempt(rng: random.Random) -> None:
        parse_message(keep(mutate_text(rng, rng.choice(seeds))))

    return attempt


def gdl_traces(folder: Path) -> Attempt:
    """Compare a rule sheet with mutated traces of its games."""
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.evaluate.gdl.differences import compare_trace
    from ludoteca.evaluate.gdl.machine import make_machine, play_random_games
    from ludoteca.evaluate.gdl.traces import read_trace

    machine = make_machine(find_sheet("tictactoe"))
    positions = [json.loads(position.line()) for position in play_random_games(machine, 1, 0, 20)]

    def attempt(rng: random.Random) -> None:
        lines = [json.dumps(position) for position in positions]
        k = rng.randrange(len(lines))
        lines[k] = mutate_json_text(rng, positions[k])
        compare_trace(machine, read_trace(keep(lines)))

    return attempt


# For each target: the function that makes its attempt, the errors that attempts may raise, and the
# relative number of attempts.
Errors = tuple[type[BaseException], ...]
TARGETS: dict[str, tuple[Callable[[Path], Attempt], Errors, float]] = {
    "game_specs": (game_specs, (ValueError,), 0.252),
    "agent_specs": (agent_specs, (ValueError, OSError, ImportError), 0.02),
    "command_lines": (command_lines, (RefusedError,), 0.001),
    "replays": (replays, (ValueError,), 0.04),
    "game_records": (game_records, (ValueError,), 0.03),
    "states_json": (states_json, (ValueError,), 0.05),
    "states_bytes": (states_bytes, (ValueError,), 0.05),
    "environments": (environments, (ValueError,), 0.03),
    "faces": (faces, (ValueError, TypeError), 0.05),
    "network_files": (network_files, (ValueError,), 0.008),
    "rllib_policies": (rllib_policies, (ValueError,), 0.008),
    "sb3_archives": (sb3_archives, (ValueError, TypeError), 0.003),
    "run_states": (run_states, (ValueError,), 0.02),
    "tables": (tables, (ValueError,), 0.02),
    "archives_of_games": (archives_of_games, (ValueError,), 0.008),
    "episodes": (episodes, (ValueError,), 0.02),
    "ratings": (ratings, (ValueError,), 0.11),
    "tournament_records": (tournament_records, (ValueError,), 0.01),
    "tournaments_in_progress": (tournaments_in_progress, (ValueError,), 0.01),
    "edited_cells": (edited_cells, (ValueError,), 0.02),
    "kaggle_answers": (kaggle_answers, (ValueError,), 0.29),
    "rule_sheets": (rule_sheets, (ValueError,), 0.02),
    "ggp_messages": (ggp_messages, (ValueError,), 0.05),
    "gdl_traces": (gdl_traces, (ValueError,), 0.02),
    "submission_archives": (submission_archives, (ValueError, OSError), 0.01),
}
