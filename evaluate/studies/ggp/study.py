"""Study of the selection policies of Valencia's thesis on General Game Playing (UAEMex, 2021).

Five policies play a round robin in eight games, 300 games per pair and game, with 100 and with 1000
simulations per move: 48,000 games. A draw is a loss for both players, in the searches and in the
tables, and agents play the move with the highest mean value.

The extended study answers questions that the thesis leaves for future work. The file `study.toml`
has the tournaments of both.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ludoteca.duration import format_duration
from ludoteca.envs.params import check_choice
from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.ggp.repeated_games import replace_games, tournament_of_games
from ludoteca.evaluate.studies.ggp.report import answers, comparison
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAMES
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.runner import RUNS
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.report import provenance_paragraphs, rewrite_report, write_report
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.run import run_tournament
from ludoteca.files import read_json, write_atomically
from ludoteca.local_executor import cores
from ludoteca.provenance import run_provenance

# File of the results, template of the report, and function that returns the results and the values
# of the template; the key is whether the study is the extended one.
REPORTS = {
    False: ("comparison.json", "ggp/report.md.j2", comparison),
    True: ("answers.json", "ggp/extended.md.j2", answers),
}


def reproduce(
    out: Path | None = None,
    runs: Path = RUNS,
    fast: bool = False,
    extended: bool = False,
    seed: int = 0,
    processes: int | None = None,
    executor: str = "local",
    rewrite: bool = False,
    games: tuple[str, ...] = (),
    stages: tuple[str, ...] = (),
) -> None:
    """Play the tournaments of Valencia's thesis on General Game Playing; compare with its tables.

    An interrupted or killed run resumes when the same command is given again.

    Args:
        out: folder for the report; by default docs/results/ggp or, if extended, ggp_extended, and
            for fast runs a folder in `runs`.
        runs: folder for the logs of all games, in folders by study and tournament, such as
            ggp_extended/policies; fast runs in ggp_fast or ggp_extended_fast.
        fast: play 24 games per pair and game instead of 300, which takes some minutes.
        extended: run the extended study instead, which compares further constants, policies and
            enhancements.
        seed: seed of the games; the same seed gives the same games.
        processes: number of processes; by default one per core.
        executor: executor of the games: local, or a Ray cluster: ray (on this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        rewrite: play nothing: write the report again from the tournaments' reports in `out`.
        games: play only these games again, such as free_for_all, and replace their results in the
            tournaments' reports in `out`.
        stages: play only these tournaments again, such as combinations, and keep the others.

    Raises:
        ValueError: if the study does not have one of the games or of the stages.
    """
    name = "ggp_extended" if extended else "ggp"
    records = runs / (f"{name}_fast" if fast else name)
    out = (records / "report" if fast else Path("docs/results") / name) if out is None else out
    results = dict[str, Results]()
    play = partial(
        run_tournament, processes=processes, progress=sys.stderr.isatty(), executor=executor
    )
    file, template, compare = REPORTS[extended]
    again = played_again(out / file, games, stages) if games or stages else {}
    planned = tournaments(name, fast, seed)
    for stage in stages:
        check_choice("stages", stage, tuple(planned))
    for stage, tournament in planned.items():
        if rewrite or (stages and stage not in stages):
            results[stage] = rewrite_report(out / stage)
            continue
        if games:
            part = tournament_of_games(tournament, games)
            repeated = play(part, records / "-".join((stage, *games)))
            change = partial(replace_games, repeated=repeated)
            results[stage] = rewrite_report(out / stage, change, **again)
            continue
        print(f"{stage}: {tournament.total_games:,} games", file=sys.stderr)
        results[stage] = play(tournament, records / stage)
        write_report(results[stage], out / stage, processes=processes or cores())
    is_new = not (rewrite or games or stages)
    run = run_provenance(processes=processes or cores()) if is_new else read_json(out / file)
    provenance = {"about": run["about"] | again, "versions": run["versions"]}
    content, names, files = compare(results, run)
    text = json.dumps(provenance | content, indent=1, default=lambda number: number.item())
    names |= {"provenance": provenance_paragraphs(**provenance), "duration": format_duration}
    files |= {file: text + "\n", "report.md": render(template, names)}
    for path, file_content in files.items():
        write_atomically(out / path, file_content)
    print(f"report: {out / 'report.md'}")


def played_again(file: Path, games: Sequence[str], stages: Sequence[str]) -> dict[str, Any]:
    """Return the entry `games_played_again` of the provenance of a report, with this run.

    Args:
        file: file of the report's results, whose earlier entries are kept.
        games: names of the games that are played again; empty for all.
        stages: names of the tournaments that are played again; empty for all.
    """
    earlier = read_json(file)["about"].get("games_played_again", [])
    about = run_provenance()["about"]
    kept = {key: about[key] for key in ("command", "date", "commit", "cpu")}
    run = {"games": list(games), "stages": list(stages), **kept}
    return {"games_played_again": [*earlier, run]}


def tournaments(name: str, fast: bool, seed: int) -> dict[str, Tournament]:
    """Return the tournaments of tree searches in the thesis' games, by stage (their name).

    The spec string of an agent joins its own options, the search budget of the stage, such as
    `simulations=100` or `seconds=0.002`, and the constant `options` of the file, those of all
    agents: a draw counts as a loss, and the move with the highest mean value is played.

    Args:
        name: name of the study in `study.toml`, `"ggp"` or `"ggp_extended"`.
        fast: whether to play few games.
        seed: seed of all games.
    """
    declaration = Declaration("ggp", fast)
    agents = declaration.content["agents"]
    specs = {
        stage["name"]: {
            title: f"mcts:{options},{stage['budget']},{declaration.names['options']}"
            for title, options in agents[stage["agents"]].items()
        }
        for stage in declaration.names[name]
    }
    return {
        stage["name"]: Tournament(
            GAMES, tuple(specs[stage["name"]].values()), stage["games"], stage["repeats"], seed,
            "loss", tuple(specs[stage["name"]]),
        )
        for stage in declaration.names[name]
    }  # fmt: skip
