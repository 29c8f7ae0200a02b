"""Study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), with further runs."""

from collections.abc import Iterable, Mapping
from typing import Any

from ludoteca.evaluate.markdown import mean_text, with_interval
from ludoteca.evaluate.statistics.verdicts import target_verdict
from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.hex import curves
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.seeds import by_seed
from ludoteca.evaluate.studies.study import Study, Task, settings_of

# Against these, all games in a seat are the same, as the networks are deterministic, too.
DETERMINISTIC_OPPONENTS = ("heuristic", "conductance")


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: train with few games, in some minutes, to check that everything runs; networks do not
            learn to play.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    declaration = Declaration(
        "hex", fast, {"precision": precision}, {"learning_curve": curves.summarize}
    )
    return declaration.make_study(
        template_names={
            "paper": read_data("hex/tanaka2018.toml"),
            "deterministic_opponents": DETERMINISTIC_OPPONENTS,
            "evaluation_result": evaluation_result,
            "result_text": result_text,
            "reached": reached,
            "greedy_wins": greedy_wins,
            "greedy_results": greedy_results,
            "by_seed": by_seed,
            "mean_text": mean_text,
        },
        draw=curves.draw,
        is_valid_record=has_enough_games,
    )


def has_enough_games(record: Mapping[str, Any], task: Task) -> bool:
    """Return whether a training run or a match had at least as many games as its task has now.

    The settings of a run that diverged must be equal.
    """
    if "diverged" in record:
        return bool(record["settings"] == settings_of(task))
    played: int = record.get("config", record)["games"]  # matches have no "config"
    return played >= int(task.options["games"])


def evaluation_result(results: Mapping[str, Any], opponent: str, seat: str) -> dict[str, Any]:
    """Return the result of a training run's final evaluation against an opponent, in a seat."""
    seats = next(match["seats"] for match in results["evaluation"] if match["opponent"] == opponent)
    return dict(next(result for result in seats if result["seat"] == seat))


def result_text(result: Mapping[str, Any], opponent: str) -> str:
    """Return the percentage of wins with its interval.

    Against a deterministic opponent, where all games are the same, return "won" or "not won".

    Args:
        result: result of an evaluation in a seat.
        opponent: spec string of the opponent.
    """
    if opponent in DETERMINISTIC_OPPONENTS:
        return "won" if result["wins"] == result["games"] else "not won"
    return with_interval(100 * result["win_rate"], (result["low"], result["high"]))


def reached(result: Mapping[str, Any], opponent: str, target: float) -> str:
    """Return whether the percentage of wins reaches a target, by its 95 % interval."""
    if opponent in DETERMINISTIC_OPPONENTS:
        won = float(result["wins"] == result["games"])
        return target_verdict(1, (won, won))
    return target_verdict(target, (100 * result["low"], 100 * result["high"]))


def greedy_wins(
    runs: Iterable[Mapping[str, Any]], opponent: str, seat: str = "first"
) -> list[float]:
    """Return the percentages of games that networks win in a seat with greedy play."""
    return [100 * evaluation_result(run, opponent, seat)["win_rate"] for run in runs]


def greedy_results(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the texts of `result_text` against the opponent and in the seat of each training."""
    texts = []
    for run in runs:
        opponent, seat = run["config"]["opponent"], run["config"]["agent_seat"]
        texts.append(result_text(evaluation_result(run, opponent, seat), opponent))
    return texts


reproduce = study_command(
    make_study, "Train the networks of Tanaka (2018) for Hex and our own, and compare the tables."
)
