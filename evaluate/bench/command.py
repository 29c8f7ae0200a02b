"""The command `ludoteca bench`."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ludoteca.evaluate.options import File


def bench(
    what: Annotated[Positional[Literal["envs", "mcts", "endgame"]], arg(help_behavior_hint="")],
    peers: bool = False,
    strength: bool = False,
    games: int = 40,
    folder: Path = Path("runs/strength"),
    json: File = None,
    seconds: float = 2.0,
    only: Annotated[tuple[str, ...], arg(metavar="[MEASURE ...]", help_behavior_hint="")] = (),
) -> None:
    """Measure how fast environments or searches are, beside other packages if they are installed.

    Args:
        what: what to measure; endgame: exact endgames of Othello.
        peers: measure the other packages, too; `make peers` installs them.
        strength: let our search play OpenSpiel's instead (mcts), at equal simulations and time.
        games: number of games for each game and condition (strength).
        folder: folder with the record of the games; an interrupted run resumes there (strength).
        json: also write all numbers to this file.
        seconds: time for each side of a comparison, or for each endgame, compiling not counted.
        only: names of measures, matches or endgames (ffo-1 to ffo-59), or how they begin; all by
            default, and endgames with 20 to 23 empty squares.
    """
    if strength and what != "mcts":
        raise ValueError(f"only searches have a strength: bench mcts --strength, not bench {what}")
    if peers and what == "endgame":
        raise ValueError("endgames are not measured beside other packages: no --peers")
    if strength:
        from ludoteca.evaluate.bench.strength import bench_strength

        bench_strength(json=json, games=games, folder=folder, only=only)
    elif what == "mcts":
        from ludoteca.evaluate.bench.mcts import bench_mcts

        bench_mcts(peers=peers, json=json, seconds=seconds, only=only)
    elif what == "endgame":
        from ludoteca.evaluate.bench.endgame import bench_endgame

        bench_endgame(json=json, seconds=seconds, only=only)
    else:
        from ludoteca.evaluate.bench.envs import bench_envs

        bench_envs(peers=peers, json=json, seconds=seconds, only=only)
