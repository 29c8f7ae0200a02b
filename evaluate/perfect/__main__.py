"""How perfectly an agent plays.

`python -m ludoteca.evaluate.perfect lines hex:board_size=5 --agent az:runs/hex5` follows every line
in which the agent answers whatever an opponent may do. `... positions connect4 --agent
az:runs/connect4` asks for its moves in random positions whose results are known.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from ludoteca.agents.registry import make_agent
from ludoteca.envs.files import write_whole
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.report import about_this_run, our_versions
from ludoteca.evaluate.perfect import all_lines, solved_positions


def perfect(
    what: Annotated[Literal["lines", "positions"], tyro.conf.Positional],
    game: Annotated[str, tyro.conf.Positional],
    agent: str,
    seat: Literal["first", "second"] = "first",
    count: int = 500,
    least: int = 8,
    most: int = 30,
    seed: int = 0,
    out: Path | None = None,
) -> dict[str, Any]:
    """Measure, and print what was found.

    Args:
        what: `lines`: all games against anyone; `positions`: moves in solved positions.
        game: the game, as a spec string.
        agent: the agent, as a spec string.
        seat: where it sits, in all lines.
        count: positions.
        least: random plies before a position, at least.
        most: and at most.
        seed: of the positions.
        out: also write what was found to this JSON file.
    """
    made = make_game(game)
    player = make_agent(agent, made)
    found: Any
    if what == "lines":
        found = all_lines(made, player, ("first", "second").index(seat))
        print(
            f"{agent} as {seat} player of {game} against everything: {found.decisions:,} decisions;"
            f" {found.wins:,} ends won, {found.draws:,} drawn, {found.losses:,} lost"
        )
        print(f"one of the worst games: {' '.join(found.example)}")
    else:
        found = solved_positions(made, player, count, least, most, seed)
        print(
            f"{agent} in {found.positions:,} positions of {game} after {least} to {most} random "
            f"plies: {100 * found.perfect / found.positions:.1f} % perfect moves "
            f"({100 * found.low:.1f} to {100 * found.high:.1f}); "
            f"won positions {found.won[1]} of {found.won[0]}, drawn {found.drawn[1]} of "
            f"{found.drawn[0]}"
        )
    content = {"what": what, "game": made.spec, "agent": agent, "found": asdict(found)}
    if out is not None:
        told = content | {"about": about_this_run(), "versions": our_versions()}
        write_whole(out, json.dumps(told, indent=1) + "\n")
    return content


def main() -> None:
    """Run the command."""
    import os

    from ludoteca.evaluate.tournament.workers import ONE_THREAD

    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        tyro.cli(perfect, prog="python -m ludoteca.evaluate.perfect", description=__doc__)
    except (ValueError, OSError) as error:
        sys.exit(f"perfect: {error}")


if __name__ == "__main__":
    main()
