"""Comparison of exported networks with PyTorch: `python -m ludoteca.evaluate.network_formats`.

Each network is exported, the file is loaded again by another program, ONNX Runtime or Keras, and
the outputs for positions of random games are compared with those of PyTorch.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from tyro.conf import arg

from ludoteca.agents.registry import make_agent
from ludoteca.agents.shipped import shipped_networks
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.evaluate.bench.provenance_text import measured_on
from ludoteca.evaluate.cli.commands import Command, run_command
from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.match import play_match
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

VALUE_NETWORKS = ("uctnet:runs/formats",)  # of `VALUE_COMMANDS`
PACKAGES = ("torch", "onnx", "onnxscript", "onnxruntime")
MODULE = "ludoteca.evaluate.network_formats"
HEADINGS = (
    "network", "format", "positions", "weights, bytes", "file, bytes", "largest output",
    "largest difference", "same best output, %",
)  # fmt: skip
PAGE = """\
# Network files of other programs

Networks are exported, loaded again by another program, and compared with PyTorch:

- ONNX: all networks of this package, `ludoteca export onnx --agent AGENT --out FILE`, with the
  planes first, and last (`--channels-last`), run by ONNX Runtime.
- Keras: a value network, `ludoteca export keras --agent AGENT --out FILE`, run by Keras on its
  PyTorch backend; and the same file, read again as a network of PyTorch. The package includes no
  value network.

Positions are those of random games. *Largest output* and *largest difference* are absolute, over
all positions and outputs: logits or Q values, and values. All arithmetic is float32. *Same best
output* is the share of positions in which the highest logit or Q value, of all actions, is that of
the same action; a value network has none. The weights are those of the safetensors file.

{table}

{summary}

{measured_on}

```sh
{commands}
```

It needs the extras `onnx` and `keras`: `pip install -c constraints.txt ".[onnx,keras]"`. All
numbers are in [results.json](results.json).
"""
# Commands that train the value network of the page.
VALUE_COMMANDS = """\
python -m ludoteca.train.data generate --game othello --games 300 --out runs/formats.npz \\
    --agents mcts:policy=uct,simulations=50,action_selection=mean random --learn-from 0
python -m ludoteca.train.value_regression --data runs/formats.npz --run-dir runs/formats --epochs 2
"""


def compare_formats(
    agents: Annotated[tuple[str, ...], arg(metavar="[AGENT ...]")] = (),
    value_networks: Annotated[tuple[str, ...], arg(metavar="[AGENT ...]")] = VALUE_NETWORKS,
    positions: int = 1000,
    seed: int = 0,
    files: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/network_formats"),
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/network_formats"),
) -> list[dict[str, Any]]:
    """Compare the outputs of exported networks with PyTorch, and write a page.

    It needs the packages onnx, onnxscript and onnxruntime and, for value networks, keras.

    Args:
        agents: agents whose networks are exported to ONNX; by default all of this package.
        value_networks: agents uctnet whose networks are exported to Keras; by default that of the
            commands on docs/results/formats.
        positions: number of positions of random games for each network.
        seed: seed of the games.
        files: folder for the exported files.
        out: folder for the page, README.md, and all numbers, results.json.
    """
    check_integer("positions", positions, 1, 10**6)
    rows = []
    for agent in agents or shipped_networks():
        rows += compare_onnx(agent, files, positions, seed)
    for agent in value_networks:
        rows += compare_keras(agent, files, positions, seed)
    packages = (*PACKAGES, "keras") if value_networks else PACKAGES
    content = {"rows": rows} | run_provenance(*packages, positions=positions, seed=seed)
    write_atomically(out / "results.json", json.dumps(content, indent=1) + "\n")
    write_atomically(out / "README.md", markdown_page(content))
    print(table(HEADINGS, [_cells(row) for row in rows], text_columns=2))
    return rows


def compare_onnx(agent: str, folder: Path, count: int, seed: int) -> list[dict[str, Any]]:
    """Export a network to ONNX with the planes first and last; return a row for each file.

    Args:
        agent: spec string of an agent that `export_onnx` supports.
        folder: folder for the files.
        count: number of positions.
        seed: seed of the games.
    """
    import onnxruntime
    import torch

    from ludoteca.agents.networks.export_source import find_export_source
    from ludoteca.agents.networks.onnx_export import LOADERS, export_onnx

    name, weights, game = find_export_source(agent, LOADERS, "ONNX", None)
    network, _ = LOADERS[name](game, weights)
    player: Any = make_agent(agent, game)
    encoder = player.encoder
    planes = encoder.encode(*random_positions(game, count, seed))[0].astype(np.float32)
    with torch.no_grad():
        expected = network.eval()(torch.from_numpy(planes * np.float32(encoder.scale))).numpy()
    rows = []
    for channels_last in (False, True):
        order = "last" if channels_last else "first"
        file = folder / f"{agent.replace(':', '-')}-{order}.onnx"
        export_onnx(agent, file, channels_last=channels_last)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        inputs = np.moveaxis(planes, 1, -1) if channels_last else planes
        scores, *values = session.run(
            None, {session.get_inputs()[0].name: np.ascontiguousarray(inputs)}
        )
        outputs = np.concatenate([scores, *(value[:, None] for value in values)], 1)
        row = {"network": agent, "format": f"ONNX, planes {order}"}
        rows.append(row | _compare(outputs, expected, game.num_actions, weights, file))
    return rows


def compare_keras(agent: str, folder: Path, count: int, seed: int) -> list[dict[str, Any]]:
    """Export a value network to Keras; return rows for Keras and for the file read again.

    Args:
        agent: spec string of an agent `uctnet`.
        folder: folder for the file.
        count: number of positions.
        seed: seed of the games.
    """
    import torch

    from ludoteca.agents.networks.export_source import find_export_source
    from ludoteca.agents.networks.keras_file import export_keras, import_keras
    from ludoteca.agents.networks.value_network import ValueView, load_value_network

    _, weights, game = find_export_source(agent, ("uctnet",), "Keras", None)
    file = export_keras(agent, folder / "value.keras")
    network, again = (load_value_network(game, each)[0].eval() for each in (weights, file))
    planes = ValueView(game, network.config.view).encode(*random_positions(game, count, seed))
    planes = planes.astype(np.float32)
    with torch.no_grad():
        expected, read = (each(torch.from_numpy(planes)).numpy() for each in (network, again))
    model = import_keras().saving.load_model(file, safe_mode=True)
    outputs = model.predict(np.moveaxis(planes, 1, -1), verbose=0)[:, 0]
    return [
        {"network": agent, "format": name} | _compare(each, expected, 0, weights, file)
        for name, each in (("Keras, planes last", outputs), ("Keras, read by PyTorch", read))
    ]


def random_positions(
    game: Game, count: int, seed: int
) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Return positions of random games, and the player to move, or an active player.

    Args:
        game: the game.
        count: number of positions.
        seed: seed of the games.
    """
    states, seats, played = list[Any](), list[int](), 0
    while len(states) < count:
        agents = ["random"] * game.num_players
        match = play_match(game, agents, 10, seed=seed, first_game=played, num_replays=10)
        played += 10
        for replay in match.replays:
            for s in list(replay.positions())[:-1]:
                active = _active_players(game, s)
                states += [s] * len(active)
                seats += active
    batch = np.concatenate([np.atleast_1d(s) for s in states[:count]])
    return batch, np.array(seats[:count], np.int64)


def markdown_page(content: dict[str, Any]) -> str:
    """Return the page for the results of `compare_formats`."""
    rows = content["rows"]
    worst = max(rows, key=_relative_difference)
    networks = {row["network"] for row in rows}
    return PAGE.format(
        table=table(HEADINGS, [_cells(row) for row in rows], text_columns=2),
        summary=f"The largest difference relative to the largest output (or to 1, if that is "
        f"larger) is {_relative_difference(worst):.1e},\nof `{worst['network']}`, "
        f"{worst['format']}. The relative precision of float32 is {np.finfo(np.float32).eps:.1e}.",
        measured_on=measured_on(content),
        commands=(VALUE_COMMANDS if networks & set(VALUE_NETWORKS) else "")
        + content["about"]["command"],
    )


def main() -> int:
    """Run the command line; return its exit status."""
    command = Command(f"{MODULE}:compare_formats", "")
    return run_command(command, sys.argv[1:], f"python -m {MODULE}")


def _relative_difference(row: dict[str, Any]) -> float:
    """Return the largest difference, divided by the largest output or by 1, if that is larger."""
    return float(row["difference"] / max(row["largest_output"], 1))


def _active_players(game: Game, s: Any) -> list[int]:
    """Return the players who act in a position that is not over."""
    rules: Any = game
    if not game.simultaneous:
        return [int(rules.player(s))]
    return [player for player in range(game.num_players) if rules.is_active(s, player)]


def _compare(
    outputs: NDArray[np.float32],
    expected: NDArray[np.float32],
    num_actions: int,
    weights: Path,
    file: Path,
) -> dict[str, Any]:
    """Return the numbers of a row.

    Args:
        outputs: outputs of the exported network. Shape `[B, ...]`.
        expected: those of PyTorch, of the same shape.
        num_actions: number of logits or Q values, which are the first outputs; 0: none.
        weights: file of the weights.
        file: exported file.
    """
    best = [each[:, :num_actions].argmax(1) for each in (outputs, expected) if num_actions]
    return {
        "positions": len(expected),
        "weight_bytes": weights.stat().st_size,
        "file_bytes": file.stat().st_size,
        "largest_output": float(np.abs(expected).max()),
        "difference": float(np.abs(outputs - expected).max()),
        "same_best": float(np.mean(best[0] == best[1])) if best else None,
    }


def _cells(row: dict[str, Any]) -> Sequence[str]:
    """Return the cells of a row, as many as `HEADINGS`."""
    return (
        f"`{row['network']}`",
        row["format"],
        f"{row['positions']:,}",
        f"{row['weight_bytes']:,}",
        f"{row['file_bytes']:,}",
        f"{row['largest_output']:.3g}",
        f"{row['difference']:.1e}" if row["difference"] else "0",
        "-" if row["same_best"] is None else f"{100 * row['same_best']:.1f}",
    )


if __name__ == "__main__":
    sys.exit(main())
