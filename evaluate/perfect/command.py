"""The command `ludoteca perfect`."""

from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from ludoteca.evaluate.options import File


def perfect(
    what: Annotated[
        Positional[Literal["lines", "positions", "exploitability"]], arg(help_behavior_hint="")
    ],
    game: Annotated[Positional[str], arg(metavar="GAME")],
    agent: Annotated[str, arg(metavar="AGENT")],
    seat: Literal["first", "second"] = "first",
    count: int = 500,
    least: int = 8,
    most: int = 30,
    samples: int = 1,
    seed: int = 0,
    out: File = None,
) -> dict[str, Any]:
    """Measure how near an agent is to perfect play, and print the results.

    `lines` plays every game that an opponent can play against the agent, of small games; an agent
    that never loses one is perfect. `positions` compares the agent's moves in random positions with
    exact solutions, in games whose endgames can be solved (connect4, othello). `exploitability`
    computes what a perfect opponent gains against the agent, in small games for two, also where
    both move at once; 0 is perfect.

    Args:
        what: all lines of play, random positions, or the best responses to the agent.
        game: the game, such as hex:board_size=5.
        agent: the agent, such as az:hex5,simulations=4.
        seat: seat of the agent (lines).
        count: number of positions (positions).
        least: smallest number of random plies before a position (positions).
        most: largest number of random plies before a position (positions).
        samples: how often an agent is asked in each position, to estimate its probabilities, if it
            does not know them; 1: it is judged as a deterministic policy (exploitability).
        seed: seed of the positions, or of the random streams of these questions.
        out: also write the results to this file, as JSON.
    """
    import json
    import os
    from dataclasses import asdict

    from ludoteca.local_executor import ONE_THREAD

    for name in ONE_THREAD:  # before torch is imported
        os.environ.setdefault(name, "1")

    from ludoteca.agents.registry import make_agent
    from ludoteca.envs.files import write_whole
    from ludoteca.envs.registry import make_game
    from ludoteca.evaluate.bench.report import about_this_run, our_versions
    from ludoteca.evaluate.perfect import all_lines, exploitability, solved_positions

    made = make_game(game)
    player = make_agent(agent, made)
    found: Any
    if what == "lines":
        found = all_lines(made, player, ("first", "second").index(seat))
        print(
            f"{agent} as {seat} player of {game}, against every possible opponent:\n"
            f"  decisions    {found.decisions:,}\n"
            f"  ends won     {found.wins:,}\n"
            f"  ends drawn   {found.draws:,}\n"
            f"  ends lost    {found.losses:,}"
        )
        print(f"one of the worst games: {' '.join(found.example)}")
    elif what == "exploitability":
        found = exploitability(made, player, samples=samples, seed=seed)
        print(f"{agent} in {game}\n{found}")
    else:
        found = solved_positions(made, player, count, least, most, seed)
        share = f"{100 * found.perfect / found.positions:.1f} %"
        print(
            f"{agent} in {found.positions:,} positions of {game}\n"
            f"after {least} to {most} random plies:\n"
            f"  perfect moves        {share} ({100 * found.low:.1f} to {100 * found.high:.1f})\n"
            f"  in won positions     {found.won[1]} of {found.won[0]}\n"
            f"  in drawn positions   {found.drawn[1]} of {found.drawn[0]}"
        )
    content = {"what": what, "game": made.spec, "agent": agent, "found": asdict(found)}
    if out is not None:
        about = content | {"about": about_this_run(), "versions": our_versions()}
        write_whole(out, json.dumps(about, indent=1) + "\n")
    return content
