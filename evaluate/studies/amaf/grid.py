"""Grid of exploration constants and biases of RAVE and GRAVE in one game.

The command is `python -m ludoteca.evaluate.studies.amaf.grid`.
"""

from functools import partial
from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import Cell, match_cell, write_cells
from ludoteca.evaluate.studies.amaf.equal_time import relative_cost

RIVAL = "policy=ucb_alpha2"  # policy of the opponent
AMAF = ("none", "rave", "grave")


def agent_spec(
    amaf: str, constant: float, bias: float | None, simulations: int, fpu: str = ""
) -> str:
    """Return the spec string of UCB1 with a constant and, unless `amaf` is "none", a bias.

    Args:
        amaf: one of `AMAF`.
        constant: exploration constant.
        bias: bias of the schedule.
        simulations: number of simulations per move.
        fpu: if not empty, the first-play urgency of an action without visits is its AMAF mean, or
            this number if it has none, or "inf": it is visited first.
    """
    spec = f"mcts:policy=ucb1,policy.alpha={constant:g},simulations={simulations}"
    if amaf == "none":
        return spec
    number = f",fpu={fpu}" if fpu != "inf" else ""  # the default
    urgency = f",amaf.fpu=True{number}" if fpu else ""
    return f"{spec},amaf={amaf},amaf.weight={bias:g}{urgency}"


def play_grid(
    out: Path,
    game: str,
    amaf: tuple[str, ...] = AMAF,
    constants: tuple[float, ...] = (0.0,),
    biases: tuple[float, ...] = (0.1,),
    simulations: int = 100,
    games: int = 200,
    seed: int = 0,
    equal_time: bool = False,
    fpu: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Play matches of UCB1 with RAVE or GRAVE against UCB-alpha2, and write their results.

    Both agents play the most visited move, and have the same number of simulations per move or, at
    equal time, as many simulations as take the same processor time. This number is measured once
    for each cell, so that other programs do not change it during a match.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        amaf: statistics of all moves as first: none, rave or grave.
        constants: exploration constants, `policy.alpha` of UCB1.
        biases: biases of the schedule of RAVE and GRAVE, `amaf.weight`.
        simulations: number of simulations per move of both agents or, at equal time, of the
            opponent.
        games: number of games of each match; the agents alternate in moving first.
        seed: seed of each match.
        equal_time: whether the agents have equal time instead of equal simulations.
        fpu: first-play urgencies of actions without AMAF statistics; those with them have their
            AMAF mean. By default every action is visited once first.

    Raises:
        ValueError: if an option is out of range.
    """
    check_integer("games", games, 1, 10**9)
    check_integer("simulations", simulations, 1, 10**9)
    for name in amaf:
        check_choice("amaf", name, AMAF)
    rules, cells = make_game(game), list[Cell]()
    rival = f"mcts:{RIVAL},simulations={simulations}"
    for name in amaf:
        for constant in constants:
            for bias in (None,) if name == "none" else biases:
                settings = {"amaf": name, "constant": constant, "bias": bias}
                for urgency in fpu or ("",):
                    spec_of = partial(agent_spec, name, constant, bias, fpu=urgency)
                    details: dict[str, Any] = {"fpu": urgency} if urgency else {}
                    own = simulations
                    if equal_time:
                        cost = relative_cost(rules, spec_of(simulations), rival, seed)
                        own = max(round(simulations / cost), 1)
                        details |= {"cost": cost, "simulations": own}
                    result = play_match(rules, (spec_of(own), rival), games, seed=seed)
                    cells.append(match_cell(settings, result) | details)
    return write_cells(out, {"game": game}, cells)


if __name__ == "__main__":
    tyro.cli(play_grid, config=(tyro.conf.FlagCreatePairsOff,))
