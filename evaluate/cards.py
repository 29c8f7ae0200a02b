"""Model cards of shipped networks: `python -m ludoteca.evaluate.cards`.

A card is a JSON file with the training of a network and the results of its matches; see
`ludoteca.agents.networks.cards`. The command `new` makes a card from
the metadata in a network's file, `measure` plays a match of the network and adds its result, `add`
adds the result of an earlier match, and `check` plays the matches of a card again and compares the
results.
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
from ludoteca.envs.targets import untrusted_names
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.seat_results import seat_names, seat_results
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance


def new_card(
    agent: Positional[str], trained_by: str, trained_against: tuple[str, ...] = ()
) -> None:
    """Write the card of a network from its file, with the final evaluation of its training.

    Args:
        agent: spec string of the network's agent in that evaluation, such as
            `az:hex5,simulations=32`.
        trained_by: method of training, in a sentence.
        trained_against: opponents in training, besides the network itself.

    Raises:
        ValueError: if the file has no record of its training.
    """
    kind, name = kind_and_name(agent)
    path = find_weights(name, kind)
    _, metadata = load_weights(path)
    if "card" not in metadata:
        raise ValueError(
            f"{path} has no record of its training and evaluation; of the files of a finished run, "
            "best.safetensors has one"
        )
    training = metadata["card"]
    command, config = training["about"]["command"], training["config"]
    # The final evaluation of a training uses its seed + 2.
    match = {"game": metadata["game"], "seed": config["seed"] + 2, "command": command}
    match |= {"date": training["about"]["date"], "versions": training["versions"]}
    with untrusted_names(path):
        rivals = make_game(metadata["game"]).num_players - 1
    strength = [
        {
            **match,
            "agents": [agent, *[evaluation["opponent"]] * rivals],
            "games": sum(seat["games"] for seat in evaluation["seats"]),
            "seats": evaluation["seats"],
        }
        for evaluation in training.get("evaluation", ())
    ]
    write_card(
        {
            "agent": f"{kind}:{name}",
            "game": metadata["game"],
            "trained_by": trained_by,
            "trained_against": list(trained_against),
            "command": command,
            "seed": config["seed"],
            "date": training["about"]["date"],
            "versions": training["versions"],
            "strength": strength,
        }
    )


def measure_strength(
    agent: Positional[str], rivals: tuple[str, ...], games: int = 400, seed: int = 1
) -> None:
    """Play a match of a shipped network, and add the result to its card.

    The result replaces an earlier one of the same agents.

    Args:
        agent: spec string of the network's agent, such as `ac:geese` or `az:hex5,simulations=32`.
        rivals: spec strings of the other agents in the match.
        games: number of games; the agents rotate through the seats.
        seed: seed of the match.
    """
    game, provenance = load_card(*kind_and_name(agent))["game"], run_provenance()
    agents = [agent, *rivals]
    result = {
        "game": game,
        "seed": seed,
        "command": provenance["about"]["command"],
        "date": provenance["about"]["date"],
        "versions": provenance["versions"],
        "agents": agents,
        "games": games,
        "seats": play_card_match(game, agents, games, seed),
    }
    _add_to_card(result)


def add_match(match: Positional[Path]) -> None:
    """Add the result of an earlier match to the card of its first agent.

    The result replaces an earlier one of the same agents.

    Args:
        match: JSON file written by `ludoteca match --json`, or by a match of a study.
    """
    result = json.loads(match.read_text())
    total = result["agents"][0]["total"]
    low, high = wilson(total["wins"], total["games"])
    seat = {key: total[key] for key in ("games", "wins", "draws", "losses", "win_rate")}
    seat |= {"seat": "any", "distinct": result.get("distinct", total["games"])}
    _add_to_card(
        {
            "game": result["game"],
            "seed": result["seed"],
            "command": result["about"]["command"],
            "date": result["about"]["date"],
            "versions": result["versions"],
            "agents": [entry["agent"] for entry in result["agents"]],
            "games": result["games"],
            "seats": [seat | {"low": low, "high": high}],
        }
    )


def check_card(agent: Positional[str], games: int = 100, seed: int = 7) -> None:
    """Play the matches of a card again; raise an error if the results differ significantly.

    Args:
        agent: spec string of the network's agent, such as `ac:geese`.
        games: number of games of each match.
        seed: seed of the matches.

    Raises:
        ValueError: if a win rate differs significantly from that of the card.
    """
    differences = []
    for match in load_card(*kind_and_name(agent))["strength"]:
        count = games - games % len(match["agents"])  # equally many in each seat
        replayed = play_card_match(match["game"], match["agents"], count, seed)
        for on_card, again in zip(match["seats"], replayed, strict=True):
            rates = f"{win_rate_text(on_card)}, played again {win_rate_text(again)}"
            line = f"{' '.join(match['agents'])}, {on_card['seat']} seat: card {rates}"
            print(line)
            if not rates_agree(on_card, again):
                differences.append(line)
    if differences:
        raise ValueError(f"significantly different: {'; '.join(differences)}")


def rates_agree(on_card: dict[str, Any], replayed: dict[str, Any], level: float = 1e-4) -> bool:
    """Return whether two win rates do not differ significantly, by Fisher's exact test.

    The test accounts for the sampling error of both. If all replayed games are identical, they
    count as one game: the rates agree if the network wins it and has wins on its card, or neither.

    Args:
        on_card: result of a network in a seat, from its card, see `seat_results`.
        replayed: result of the network in this seat in the replayed games.
        level: level of significance.
    """
    from scipy.stats import fisher_exact

    if replayed["distinct"] == 1:
        return bool(on_card["wins"]) == bool(replayed["wins"])
    counts = [(seat["wins"], seat["games"] - seat["wins"]) for seat in (on_card, replayed)]
    return float(fisher_exact(counts).pvalue) > level


def win_rate_text(seat: dict[str, Any]) -> str:
    """Return the number of wins in a seat, with the 95 % interval of the win rate."""
    low, high = (100 * seat[bound] for bound in ("low", "high"))
    return f"{seat['wins']:,} of {seat['games']:,} ({low:.1f} to {high:.1f} %)"


def _add_to_card(result: dict[str, Any]) -> None:
    """Add the result of a match to the card of its first agent."""
    card = load_card(*kind_and_name(result["agents"][0]))
    other_matches = [match for match in card["strength"] if match["agents"] != result["agents"]]
    write_card(card | {"strength": [*other_matches, result]})


def play_card_match(
    game: str, agents: Sequence[str], games: int, seed: int
) -> list[dict[str, Any]]:
    """Play a match for a card; return the results of the first agent, see `seat_results`."""
    loaded_game = make_game(game)
    match = play_match(loaded_game, agents, games, seed=seed)
    return seat_results(match, seat_names(loaded_game))


def kind_and_name(agent: str) -> tuple[str, str]:
    """Return agent name and network name, `"az"` and `"hex5"` for `"az:hex5,simulations=9"`."""
    kind = parse_name(agent)
    return kind, agent.partition(":")[2].partition(",")[0]


def write_card(card: dict[str, Any]) -> None:
    """Write a card into the folder of the network's file."""
    path = card_path(*kind_and_name(card["agent"]))
    write_atomically(path, json.dumps(card, indent=1) + "\n")
    print(f"card: {path}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status: 2 if the arguments are invalid."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are faster in one thread
    try:
        tyro.extras.subcommand_cli_from_dict(
            {
                "new": new_card,
                "measure": measure_strength,
                "add": add_match,
                "check": check_card,
            },
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
