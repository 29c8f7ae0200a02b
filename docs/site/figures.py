"""Figures of the landing page, from the committed results: `python -P docs/site/figures.py`.

Rewrites the table in docs/index.md between its two comments; a test compares it with the results.
"""

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
START, END = "<!-- figures -->\n", "<!-- end -->\n"
# Name of the game as in the measures, and the peers that it is compared with.
ENVIRONMENTS = (
    ("Othello", ("pgx", "OpenSpiel")),
    ("Hex", ("pgx", "OpenSpiel")),
    ("Connect Four", ("pgx", "OpenSpiel")),
    ("Hungry Geese", ("kaggle-environments",)),
)
# Parts of the names of measures under other conditions than the rest of the table.
OTHER_CONDITIONS = ("choosing excluded", "action sampling excluded", "threads against")


def main() -> None:
    """Rewrite the table."""
    page = DOCS / "index.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(with_figures(text, figures()), encoding="utf-8")


def with_figures(text: str, table: str) -> str:
    """Return the landing page with another table between its two comments.

    Args:
        text: the landing page.
        table: the new table, Markdown.
    """
    before, rest = text.split(START)
    after = rest.split(END, 1)[1]
    return f"{before}{START}\n{table}\n{END}{after}"


def figures() -> str:
    """Return the table of figures as Markdown."""
    environments, search, strength = (
        json.loads((DOCS / "results" / "bench" / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("envs", "mcts", "strength")
    )
    rows = [["measure", "Ludoteca", "peer", "ratio"], [":--", "--:", "--:", "--:"]]
    for game, peers in ENVIRONMENTS:
        for peer in peers:
            best = fastest(environments["rows"], f"{game} vector", peer)
            rows.append([f"{game}: steps per second, one thread", *_compared(best, peer)])
    aec = fastest(environments["rows"], "AEC Connect Four", "PettingZoo", exclude=())
    rows.append(["Connect Four: steps per second of an AEC loop", *_compared(aec, "PettingZoo")])
    for game in ("Othello", "Connect Four"):
        best = fastest(search["rows"], f"{game}, 1,000 simulations", "OpenSpiel")
        cells = _compared(best, "OpenSpiel, C++")
        rows.append([f"{game}: simulations per second of UCT", *cells])
    rows += [
        [f"{name}: score against OpenSpiel's search", *cells] for name, cells in _scores(strength)
    ]
    cold, warm = (
        max(max(kind[start]) for game in environments["startup"].values() for kind in game.values())
        for start in ("cold", "warm")
    )
    start = "seconds from the import to the first step, the slowest game"
    rows.append([start, f"{cold:.1f} the first time, {warm:.1f} later", "", ""])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def fastest(
    rows: list[dict[str, Any]], measure: str, peer: str, exclude: tuple[str, ...] = OTHER_CONDITIONS
) -> dict[str, Any]:
    """Return the row of a measure in which a peer is fastest.

    Args:
        rows: rows of a benchmark, each a comparison with a peer.
        measure: beginning of the name of the measure.
        peer: beginning of the peer's name.
        exclude: rows whose measure contains one of these texts are ignored.

    Raises:
        ValueError: if no row fits.
    """
    found = [
        row
        for row in rows
        if row["measure"].startswith(measure)
        and (row["peer_name"] or "").startswith(peer)
        and not any(text in row["measure"] for text in exclude)
    ]
    if not found:
        raise ValueError(f"the results have no measure {measure!r} with the peer {peer!r}")
    return max(found, key=lambda row: float(row["peer"]))


def _compared(row: dict[str, Any], peer: str) -> list[str]:
    """Return the cells of a comparison: our value, the peer's name and value, and the ratio."""
    ratio = row["ours"] / row["peer"]
    text = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
    return [_number(row["ours"]), f"{peer}: {_number(row['peer'])}", text]


def _scores(strength: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the results of matches in Othello at equal simulations and at equal time.

    Returns:
        For each match, the name of its condition and the cells of its row: the score with its
        interval in percent, and no peer or ratio.
    """
    scores = []
    for result in strength["results"]:
        if result["game"].startswith("othello"):
            low, high = (100 * bound for bound in result["score_interval"])
            score = f"{100 * result['score']:.1f} % ({low:.1f} to {high:.1f})"
            scores.append((f"Othello, equal {result['condition']}", [score, "", ""]))
    return scores


def _number(value: float) -> str:
    """Return a number with three significant digits, such as `11.8 M`."""
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            value, suffix = value / size, unit
            break
    else:
        suffix = ""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}{suffix}"


if __name__ == "__main__":
    main()
