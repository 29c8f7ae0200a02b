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


def measured_rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of the table of measurements."""
    return [
        (
            str(one["actors"]),
            str(one["max_staleness"]),
            f"{one['games_per_second']:.3g}",
            f"{one['simulated_games_per_second']:.3g}",
            f"{one['games_per_second'] / one['simulated_games_per_second']:.2f}",
            _share(one["learner_busy"]),
        )
        for one in found["measured"]
    ]


def simulated_rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of the table of simulations."""
    return [
        (
            f"{one['actors']:,}",
            f"x {one['learner_speed']:g}",
            f"{one['games_per_second']:,.1f}",
            f"{one['updates_per_second']:,.1f}",
            _share(one["actors_busy"]),
            _share(one["learner_busy"]),
            _share(one["driver_busy"]),
            _share(one["network_busy"]),
            _share(one["store_peak"]),
            _share(one["buffer_share"]),
            f"{one['staleness']:.2f}",
            one["limit"],
        )
        for one in found["simulated"]
    ]


def cost_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of the table of costs."""
    costs, messages = found["costs"], found["messages"]
    parts = costs["part_seconds"]
    return [
        ("a part, seconds of a processor", f"{sum(parts) / len(parts):.3f}"),
        ("games of a part", str(costs["games_per_part"])),
        ("positions of a part", f"{costs['positions_per_part']:.0f}"),
        ("an update, seconds of a processor", f"{costs['update_seconds']:.4f}"),
        ("updates for a part", f"{costs['updates_per_part']:.2f}"),
        ("a part into the replay buffer, ms", f"{1e3 * costs['keep_seconds']:.2f}"),
        ("weights, kB", f"{costs['weights_bytes'] / 1e3:.0f}"),
        ("publishing weights, ms", f"{1e3 * costs['put_seconds']:.2f}"),
        ("receiving weights, ms", f"{1e3 * costs['receive_seconds']:.2f}"),
        ("a part, kB", f"{costs['part_bytes'] / 1e3:.0f}"),
        ("a part from the worker, ms", f"{1e3 * messages['part_transfer_seconds']:.2f}"),
        ("an empty task to a worker and back, ms", f"{1e3 * messages['task_seconds']:.2f}"),
        ("of that, the driver's processor, ms", f"{1e3 * messages['driver_seconds']:.2f}"),
        ("a position in the replay buffer, bytes", str(costs["position_bytes"])),
    ]


def show(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> TerminalTable:
    """Return rows as a table for the terminal."""
    shown = TerminalTable(tuple(headings), title=title)
    for row in rows:
        shown.add(*row)
    return shown


def describe(found: dict[str, Any]) -> str:
    """Return the page of results, in Markdown."""
    about, cluster = found["about"], found["cluster"]
    load = about["load_average_at_start"][0]
    return f"""# Self-play actors: throughput

Measured by

    {about["command"]}

{about["date"]}, {about["cpu"]}, {about["cores"]} cores.
{found["algorithm"]} in `{found["game"]}`, executor `{found["executor"]}`. The load average was
{load:.1f} at the start: where it is above the number of cores, other programs take most of the
clock's time, and more actors cannot give more games.

## Costs

{table(("cost", "measured"), cost_rows(found))}

## Measured with one and two actors

`simulated`: by the simulation, with the times that parts and updates took by the clock in the same
run, without those of messages. The learner runs beside the actors. Games per second are few where
other programs run; what counts is the ratio of the two.

{table(MEASURED, measured_rows(found))}

## Simulated beyond that

With the costs above, each actor and the learner on a processor of its own. A machine has
{cluster["per_node"]} actors, the driver's network {8 * cluster["bandwidth"] / 1e9:g} Gbit/s and its
object store {cluster["store"] / 1e9:g} GB; {cluster["max_staleness"]} iterations of staleness are
allowed, and there is {_buffer(found)}. Each actor plays
{found["costs"]["games_per_part"]} games of each iteration.
Other clusters: `--costs results.json` with other options simulates again without measuring.

{table(SIMULATED, simulated_rows(found))}

- `learner`: how many times as fast as this processor updates are made; above 1 that is not
  measured, but what a GPU or more processes might do.
- `driver busy`: the process that learns also gives parts to actors and collects them.
- `object store`: the largest share that is filled at a time by parts that wait.
- `buffer per iteration`: how much of the replay buffer an iteration fills; above 100 %,
  positions are dropped before anything is learned from them.
- `limit`: what is nearest to its limit.
"""


def _buffer(found: dict[str, Any]) -> str:
    positions = found["messages"]["buffer_positions"]
    return f"a replay buffer of {positions:,} positions" if positions else "no replay buffer"


def _share(number: float) -> str:
    return f"{100 * number:.1f} %"
