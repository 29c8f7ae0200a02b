"""`python -m ludoteca.evaluate.cards`: cards of shipped networks, written and measured.

A card is described in `ludoteca.agents.networks.cards`. `new` makes one from what is in a network's
file, `measure` plays a match with the network and adds the result, `add` adds that of a match which
was played before, and `check` plays the matches of a card again and compares.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro
from tyro.conf import Positional

from ludoteca.agents.networks.cards import card_path, load_card
from ludoteca.agents.networks.weights import find_weights, load_weights
from ludoteca.envs.registry import make_game
from ludoteca.envs.spec import parse_name
from ludoteca.envs.targets import names_from
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.seat_results import seat_results
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info


def new(agent: Positional[str], trained_by: str, trained_against: tuple[str, ...] = ()) -> None:
    """Write the card of a network from what its file holds, the evaluation after its training too.

    Args:
        agent: the network as an agent, such as `az:hex5,simulations=32`; so it was evaluated.
        trained_by: how it was trained, in a sentence.
        trained_against: opponents in its training, besides itself.
    """
    kind, name = split(agent)
    _, about = load_weights(find_weights(name, kind))
    made = about["card"]
    command, config = made["about"]["command"], made["config"]
    match = {"game": about["game"], "seed": config["seed"] + 2, "command": command}
    match |= {"date": made["about"]["date"], "versions": made["versions"]}
    with names_from(find_weights(name, kind)):
        rivals = make_game(about["game"]).num_players - 1
    strength = [
        {
            **match,
            "agents": [agent, *[part["opponent"]] * rivals],
            "games": sum(seat["games"] for seat in part["seats"]),
            "seats": part["seats"],
        }
        for part in made.get("evaluation", ())
    ]
    write(
        {
            "agent": f"{kind}:{name}",
            "game": about["game"],
            "trained_by": trained_by,
            "trained_against": list(trained_against),
            "command": command,
            "seed": config["seed"],
            "date": made["about"]["date"],
            "versions": made["versions"],
            "strength": strength,
        }
    )


def measure(
    agent: Positional[str], rivals: tuple[str, ...], games: int = 400, seed: int = 1
) -> None:
    """Play a match of a network that comes with the package, and add the result to its card.

    A result of the same agents is replaced.

    Args:
        agent: the network as an agent, such as `ac:geese` or `az:hex5,simulations=32`.
        rivals: the other agents.
        games: how many are played; the agents take turns in every seat.
        seed: determines the match.
    """
    game, about = load_card(*split(agent))["game"], run_info()
    agents = [agent, *rivals]
    result = {
        "game": game,
        "seed": seed,
        "command": about["command"],
        "date": about["date"],
        "versions": package_versions(),
        "agents": agents,
        "games": games,
        "seats": play(game, agents, games, seed),
    }
    _add(result)


def add(match: Positional[Path]) -> None:
    """Add the result of a match that was played before to the card of its first agent.

    A result of the same agents is replaced.

    Args:
        match: what `ludoteca match --json`, or a study's match, has written.
    """
    found = json.loads(match.read_text())
    total = found["agents"][0]["total"]
    low, high = wilson(total["wins"], total["games"])
    seat = {key: total[key] for key in ("games", "wins", "draws", "losses", "win_rate")}
    seat |= {"seat": "any", "distinct": found.get("distinct", total["games"])}
    _add(
        {
            "game": found["game"],
            "seed": found["seed"],
            "command": found["about"]["command"],
            "date": found["about"]["date"],
            "versions": found["versions"],
            "agents": [one["agent"] for one in found["agents"]],
            "games": found["games"],
            "seats": [seat | {"low": low, "high": high}],
        }
    )


def check(agent: Positional[str], games: int = 100, seed: int = 7) -> None:
    """Play the matches of a card again; raise an error if the network plays otherwise.

    Args:
        agent: the network as an agent, such as `ac:geese`.
        games: how many games of each match are played.
        seed: determines the matches.

    Raises:
        ValueError: if a share of wins differs from the card's by more than chance.
    """
    wrong = []
    for match in load_card(*split(agent))["strength"]:
        count = games - games % len(match["agents"])  # as many in each seat
        played = play(match["game"], match["agents"], count, seed)
        for said, found in zip(match["seats"], played, strict=True):
            rates = f"{share(said)}, played again {share(found)}"
            line = f"{' '.join(match['agents'])}, {said['seat']} seat: card {rates}"
            print(line)
            if not agree(said, found):
                wrong.append(line)
    if wrong:
        raise ValueError(f"more than chance apart: {'; '.join(wrong)}")


def agree(said: dict[str, Any], found: dict[str, Any], level: float = 1e-4) -> bool:
    """Return whether two shares of wins are the same up to chance, by Fisher's exact test.

    Chance is that of both, of the card's games and of those that were played again. Games that are
    all the same count once: then both were won, or both were not.

    Args:
        said: how a network did in a seat, by its card.
        found: how it did now.
        level: probability of a difference that is held against it.
    """
    from scipy.stats import fisher_exact

    if found["distinct"] == 1:
        return bool(said["wins"]) == bool(found["wins"])
    counts = [(one["wins"], one["games"] - one["wins"]) for one in (said, found)]
    return float(fisher_exact(counts).pvalue) > level


def share(seat: dict[str, Any]) -> str:
    """Return the games won of a seat, with the 95 % interval of their share."""
    low, high = (100 * seat[end] for end in ("low", "high"))
    return f"{seat['wins']:,} of {seat['games']:,} ({low:.1f} to {high:.1f} %)"


def _add(result: dict[str, Any]) -> None:
    card = load_card(*split(result["agents"][0]))
    others = [one for one in card["strength"] if one["agents"] != result["agents"]]
    write(card | {"strength": [*others, result]})


def play(game: str, agents: Sequence[str], games: int, seed: int) -> list[dict[str, Any]]:
    """Play a match as cards show it; return the results of the first agent, see `seat_results`."""
    made = make_game(game)
    names = ("any",) if made.simultaneous else ("first", "second")
    return seat_results(play_match(made, agents, games, seed=seed), names)


def split(agent: str) -> tuple[str, str]:
    """Return the kind and the name of a network, from its spec string as an agent."""
    kind = parse_name(agent)
    return kind, agent.partition(":")[2].partition(",")[0]


def write(card: dict[str, Any]) -> None:
    """Write a card beside the network's file."""
    path = card_path(*split(card["agent"]))
    write_whole(path, json.dumps(card, indent=1) + "\n")
    print(f"card: {path}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status: 2 if the user asked for what cannot be."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        tyro.extras.subcommand_cli_from_dict(
            {"new": new, "measure": measure, "add": add, "check": check},
            prog="python -m ludoteca.evaluate.cards",
            args=list(sys.argv[1:] if arguments is None else arguments),
        )
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("LUDOTECA_DEBUG"):
            raise
        print(f"cards: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
