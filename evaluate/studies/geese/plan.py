"""The plan of the study on Hungry Geese: what is made, of which size, in which order."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import fingerprint, shipped_weights
from ludoteca.evaluate.studies.geese.tasks import (
    Agreement,
    Games,
    Network,
    Recorded,
    SelfPlay,
    Task,
    Tasks,
)
from ludoteca.evaluate.studies.match_task import Match

SIMULATIONS = (125, 250, 500, 1000)
GAMES = 2_000  # of a competition
# Competition of flat Monte Carlo -> simulations and depth of each agent. The last one is not the
# thesis': it tells apart what more depth and what more simulations are worth.
FLAT = {
    "depth-4": tuple((count, 4) for count in SIMULATIONS),
    "depth-6": tuple((count, 6) for count in SIMULATIONS),
    "mixed": ((125, 4), (250, 4), (500, 6), (1000, 6)),
    "factors": ((125, 4), (1000, 4), (125, 6), (1000, 6)),
}
BEST_FLAT = (1000, 6)
# The thesis' goose of fixed rules, to the letter, and as its text can be read, too: a goose without
# food of its own takes the first valid move, or follows its tail.
LITERAL = "deterministic:variant=thesis"
LITERAL_TAIL = f"{LITERAL},tail=True"
TAUGHT_GAMES = 1_000  # that a network learns from; the deterministic agent's are twice as long
SHIPPED = "geese"  # name of the network of self-play that comes with the package
SEARCH = "simulations=32"  # of the network of self-play
# A move may take 1 s in the competition; games of agents that take all of it would take days.
SECONDS = 0.05
TIMED_SEARCH = f"simulations=100000,seconds={SECONDS}"
# Competitions of the network of self-play -> how many times fewer games than of others.
FEWER = {
    "ours": 1,
    "ours-search": 2,
    "ours-timed": 20,
    "ours-search-or-not": 8,
    "ours-timed-or-not": 20,
    "ours-mcts": 4,
    "ours-random-safe": 4,
    "tree": 2,
}
# Competitions with three agents that the network of self-play has never been trained against.
OUTSIDERS = {"ours-mcts": "mcts:simulations=500", "ours-random-safe": "random_safe"}
TREE = "mcts:simulations=1000"  # the tree search without a network, in the same competition
TARGET = 0.6  # share of games that the network of self-play is to win, and to survive
# The thesis' last competition, by which of the geese of fixed rules plays in it, and games.
FINALS = {
    "final": (LITERAL, 500),
    "final-tail": (LITERAL_TAIL, 500),
    "final-default": ("deterministic", GAMES),
}
# Networks that learn by self-play -> preset of the training, games, and games between
# evaluations. The thesis does not tell how many games its loop had.
LOOPS = {
    "loop-document": ("uib2021", 20_000, 2_000),
    "loop-modern": ("default", 16_384, 2_048),
}
OPPONENT = "deterministic"  # in their evaluations
# Whose moves of recorded games a network learns, the weakest first, as in the thesis: names of
# agents of the public episodes that come closest to its ratings.
BANDS = (
    "kaggle-greedy+crazy-goose+straightforward-bfs+risk-averse-greedy",
    "thesis-deterministic+boilergoose",
    "smart-geese-rl",
    "league-net",
)
RATINGS = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?|inf)")  # of a band that is told by ratings


def document_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the competitions of flat Monte Carlo and of its pupils, by name, in their order.

    Args:
        fast: learn from few games and play few.
        precision: of the networks' numbers.
    """
    best, agents = flat(*BEST_FLAT), {f"{count}": flat(count, 6) for count in SIMULATIONS}
    teachers = agents | {"deterministic": "deterministic"}
    tasks: list[Task] = [
        competition(name, tuple(flat(*one) for one in agents), fast)
        for name, agents in FLAT.items()
    ]
    count = 24 if fast else TAUGHT_GAMES
    data = {
        name: Games(f"games-{name}", spec, count // (1 if name in agents else 2))
        for name, spec in teachers.items()
    }
    # Those that take longest first: nobody waits for them in the end.
    tasks += [data[name] for name in reversed(teachers)]
    tasks += [
        Network(f"net-{name}", data[name], f"network of {called(spec)}", learning(fast, precision))
        for name, spec in teachers.items()
    ]
    # With more answers to each question, which one is the most frequent is told better.
    options = {"games": 40, "moves": 2_000, "repeats": 64}
    if fast:
        options = {"games": 4, "moves": 100, "repeats": 8}
    tasks.append(Agreement("agreement", tuple(teachers.values()), options))
    nets = {name: cnn(f"net-{name}", precision) for name in teachers}
    tasks += [
        competition("simulated", tuple(nets[name] for name in agents), fast, nets_of(agents)),
        competition(
            "teachers", (best, nets["1000"], "deterministic", nets["deterministic"]), fast,
            nets_of(("1000", "deterministic")),
        ),
        competition(
            "without-real", ("deterministic", best, "{simulated}", "greedy"), fast,
            ("simulated", *nets_of(agents)), {"simulated": "simulated"},
        ),
    ]  # fmt: skip
    return {task.name: task for task in tasks}


def real_tasks(
    sources: tuple[Path, ...],
    bands: tuple[str, ...] = BANDS,
    fast: bool = False,
    precision: str = "auto",
) -> Tasks:
    """Return the networks that learn from recorded games, and their competitions.

    Args:
        sources: episode files, archives and folders.
        bands: four groups of agents, the weakest first: names joined by `+`, or ratings such as
            `900-1000`.
        fast: learn little and play few games.
        precision: of the networks' numbers.
    """
    data, options = Recorded("games-real", sources), learning(fast, precision)
    tasks: list[Task] = [data]
    for k, band in enumerate(bands):
        first, *others = band.split("+")
        label = f"network of group {k + 1}: {first}{', ...' if others else ''}"
        tasks.append(Network(f"net-real-{k}", data, label, {**chosen(band), **options}))
    tasks.append(Network("net-real-all", data, "network of all", options))
    names = tuple(f"net-real-{k}" for k in range(len(bands)))
    strongest = names[-1]
    after = (*names, *nets_of(map(str, SIMULATIONS)), "real", "simulated")
    tasks += [
        competition("real", tuple(cnn(name, precision) for name in names), fast, names),
        competition(
            "all-or-best", (cnn("net-real-all", precision), cnn(strongest, precision)), fast,
            ("net-real-all", strongest),
        ),
        *(
            competition(
                name, (goose, flat(*BEST_FLAT), "{simulated}", "{real}"), fast, after,
                {"simulated": "simulated", "real": "real"}, games,
            )
            for name, (goose, games) in FINALS.items()
        ),
    ]  # fmt: skip
    return {task.name: task for task in tasks}


def beyond_tasks(fast: bool = False, precision: str = "auto") -> Tasks:
    """Return the loops of self-play, and the competitions of the network of the package, by name.

    Args:
        fast: learn little and play few games.
        precision: of the networks' numbers.
    """
    ours = f"ac:{SHIPPED}"
    players = {
        "ours": f"{ours},precision={precision}",
        "ours-search": f"{ours},{SEARCH},precision={precision}",
        "ours-timed": f"{ours},{TIMED_SEARCH},precision={precision}",
    }
    simulated = ("simulated", *nets_of(map(str, SIMULATIONS)))
    real = ("real", *(f"net-real-{k}" for k in range(len(BANDS))))
    tasks: list[Task] = []
    for name, (preset, games, every) in LOOPS.items():
        options = {
            "games": games // 40 if fast else games,
            "eval_interval": every // 40 if fast else every,
            "eval_games": 4 if fast else 50,
            "final_eval_games": 8 if fast else 250,
            "eval_opponents": (OPPONENT,),
            "threads": 1,
            "precision": precision,
        }
        tasks.append(SelfPlay(name, preset, options))
    file = shipped_weights("ac").get(SHIPPED)
    shipped = {ours: fingerprint(file)} if file else {}
    for name, spec in players.items():
        others = ("deterministic", flat(*BEST_FLAT))
        tasks.append(
            competition(
                name, (spec, *others, "{simulated}"), fast, simulated,
                {"simulated": "simulated"}, GAMES // FEWER[name], shipped,
            )
        )  # fmt: skip
        if name == "ours":
            agents = (spec, *others, "{real}")
            tasks.append(
                competition("ours-real", agents, fast, real, {"real": "real"}, networks=shipped)
            )
        else:
            match, against = f"{name}-or-not", (spec, players["ours"])
            games = GAMES // FEWER[match]
            tasks.append(competition(match, against, fast, games=games, networks=shipped))
    for name, rival in OUTSIDERS.items():
        agents = (players["ours"], rival, rival, rival)
        games = GAMES // FEWER[name]
        tasks.append(competition(name, agents, fast, games=games, networks=shipped))
    agents = (TREE, "deterministic", flat(*BEST_FLAT), "{simulated}")
    winners = {"simulated": "simulated"}
    tasks.append(competition("tree", agents, fast, simulated, winners, GAMES // FEWER["tree"]))
    return {task.name: task for task in tasks}


def needing_episodes(planned: Mapping[str, Task]) -> set[str]:
    """Return the names of the tasks that need recorded games, or tasks that do."""
    found: set[str] = set()
    for name, task in planned.items():  # in their order: what a task needs comes before it
        if isinstance(task, Recorded) or not found.isdisjoint(task.requires):
            found.add(name)
    return found


def competition(
    name: str,
    agents: tuple[str, ...],
    fast: bool,
    requires: tuple[str, ...] = (),
    winners: Mapping[str, str] | None = None,
    games: int = GAMES,
    networks: Mapping[str, str] | None = None,
) -> Match:
    """Return a match of Hungry Geese that tells what becomes of each goose."""
    return Match(
        name, agents, min(20, max(4, games // 50)) if fast else games, requires,
        winners=winners or {}, networks=networks or {},
        command="ludoteca.evaluate.studies.geese.match",
    )  # fmt: skip


def flat(simulations: int, depth: int) -> str:
    """Return the spec string of flat Monte Carlo."""
    return f"flat:simulations={simulations},playout_depth={depth}"


def cnn(name: str, precision: str) -> str:
    """Return the spec string of an agent that plays a network."""
    return f"cnn:{{folder}}/{name},precision={precision}"


def nets_of(teachers: Any) -> tuple[str, ...]:
    """Return the names of the networks of some teachers."""
    return tuple(f"net-{name}" for name in teachers)


def learning(fast: bool, precision: str) -> dict[str, Any]:
    """Return how long networks learn."""
    few = {"positions_per_epoch": 4_000} if fast else {}
    return {"epochs": 2 if fast else 15, "precision": precision, **few}


def chosen(band: str) -> dict[str, Any]:
    """Return the options of learning only the moves of a band, see `real_tasks`."""
    ratings = RATINGS.fullmatch(band)
    return {"rating_range": ratings.groups()} if ratings else {"agents": tuple(band.split("+"))}


def called(spec: str, networks: Mapping[str, str] | None = None) -> str:
    """Return what an agent is called in the report.

    Args:
        spec: its spec string.
        networks: what networks are called, by the name of their folder.
    """
    name, _, rest = spec.partition(":")
    options = dict(pair.split("=", 1) for pair in rest.split(",") if "=" in pair)
    if spec in GEESE:
        return GEESE[spec]
    if name == "mcts":
        return f"decoupled UCT {options['simulations']}"
    if name == "flat":
        return f"flat {options['simulations']}, depth {options['playout_depth']}"
    if name == "cnn":
        folder = Path(rest.partition(",")[0]).name
        return (networks or {}).get(folder, folder)
    if name == "ac":
        if "seconds" in options:
            return f"self-play, {options['seconds']} s a move"
        count = options.get("simulations")
        return f"self-play, {count} simulations" if count else "self-play"
    return spec


GEESE = {LITERAL: "deterministic (thesis)", LITERAL_TAIL: "deterministic (thesis, tail)"}


def is_shipped() -> bool:
    """Return whether the package comes with a network of self-play for Hungry Geese."""
    return SHIPPED in shipped_weights("ac")
