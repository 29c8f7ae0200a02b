"""Tables and page of results of the throughput benchmark."""

from collections.abc import Sequence
from typing import Any

from ludoteca.evaluate.markdown import table
from ludoteca.terminal_table import TerminalTable

MEASURED = ("actors", "staleness allowed", "games/s", "simulated", "ratio", "learner busy")
SIMULATED = (
    "actors",
    "learner",
    "games/s",
    "updates/s",
    "actors busy",
    "learner busy",
    "driver busy",
    "network busy",
    "object store",
    "buffer per iteration",
    "staleness",
    "limit",
)


def measured_rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of the table of measurements."""
    return [
        (
            str(row["actors"]),
            str(row["max_staleness"]),
            f"{row['games_per_second']:.3g}",
            f"{row['simulated_games_per_second']:.3g}",
            f"{row['games_per_second'] / row['simulated_games_per_second']:.2f}",
            _percentage(row["learner_busy"]),
        )
        for row in results["measured"]
    ]


def simulated_rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of the table of simulations."""
    return [
        (
            f"{row['actors']:,}",
            f"x {row['learner_speed']:g}",
            f"{row['games_per_second']:,.1f}",
            f"{row['updates_per_second']:,.1f}",
            _percentage(row["actors_busy"]),
            _percentage(row["learner_busy"]),
            _percentage(row["driver_busy"]),
            _percentage(row["network_busy"]),
            _percentage(row["store_peak"]),
            _percentage(row["buffer_share"]),
            f"{row['staleness']:.2f}",
            row["limit"],
        )
        for row in results["simulated"]
    ]


def cost_rows(results: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of the table of costs."""
    costs, messages = results["costs"], results["messages"]
    seconds = costs["part_seconds"]
    return [
        ("a part, CPU seconds", f"{sum(seconds) / len(seconds):.3f}"),
        ("games of a part", str(costs["games_per_part"])),
        ("positions of a part", f"{costs['positions_per_part']:.0f}"),
        ("an update, CPU seconds", f"{costs['update_seconds']:.4f}"),
        ("updates for a part", f"{costs['updates_per_part']:.2f}"),
        ("a part into the replay buffer, ms", f"{1e3 * costs['keep_seconds']:.2f}"),
        ("weights, kB", f"{costs['weights_bytes'] / 1e3:.0f}"),
        ("publishing weights, ms", f"{1e3 * costs['put_seconds']:.2f}"),
        ("receiving weights, ms", f"{1e3 * costs['receive_seconds']:.2f}"),
        ("a part, kB", f"{costs['part_bytes'] / 1e3:.0f}"),
        ("a part from the worker, ms", f"{1e3 * messages['part_transfer_seconds']:.2f}"),
        ("an empty task to a worker and back, ms", f"{1e3 * messages['task_seconds']:.2f}"),
        ("CPU time of the driver for it, ms", f"{1e3 * messages['driver_seconds']:.2f}"),
        ("a position in the replay buffer, bytes", str(costs["position_bytes"])),
    ]


def terminal_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], title: str
) -> TerminalTable:
    """Return rows as a table for the terminal."""
    rows_table = TerminalTable(tuple(headings), title=title)
    for row in rows:
        rows_table.add(*row)
    return rows_table


def describe(results: dict[str, Any]) -> str:
    """Return the page of results, in Markdown."""
    about, cluster = results["about"], results["cluster"]
    load = about["load_average_at_start"][0]
    return f"""# Self-play actors: throughput

Measured by

    {about["command"]}

{about["date"]}, {about["cpu"]}, {about["cores"]} cores.
{results["algorithm"]} in `{results["game"]}`, executor `{results["executor"]}`. The load average
was {load:.1f} at the start. If it is above the number of cores, other programs use the processors,
and more actors cannot play more games.

## Costs

{table(("cost", "measured"), cost_rows(results))}

## Measured with one and two actors

`simulated`: by the simulation, with the wall-clock times of parts and updates in the same run,
without the costs of messages. Other programs slow down both; the ratio is what matters.

{table(MEASURED, measured_rows(results))}

## Simulated with more actors

With the costs above, and a processor for each actor and for the learner. A machine has
{cluster["per_node"]} actors, the driver's network {8 * cluster["bandwidth"] / 1e9:g} Gbit/s and its
object store {cluster["store"] / 1e9:g} GB; {cluster["max_staleness"]} iterations of staleness are
allowed, and there is {_buffer(results)}. Each actor plays
{results["costs"]["games_per_part"]} games of each iteration.
`--costs results.json` with other options simulates other clusters without measuring again.

{table(SIMULATED, simulated_rows(results))}

- `learner`: speed of updates relative to this processor; above 1 it is an assumption, such as for a
  GPU or more processes, and not measured.
- `driver busy`: the learner's process also distributes parts to actors and collects them.
- `object store`: the largest fraction filled with waiting parts.
- `buffer per iteration`: fraction of the replay buffer that an iteration fills; above 100 %,
  positions are dropped before they are sampled.
- `limit`: the resource nearest to its limit.
"""


def _buffer(results: dict[str, Any]) -> str:
    """Return a description of the replay buffer."""
    positions = results["messages"]["buffer_positions"]
    return f"a replay buffer of {positions:,} positions" if positions else "no replay buffer"


def _percentage(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"
