"""Compiler of rule sheets: from text to a network."""

import gc
import threading
from pathlib import Path

from ludoteca.envs.gdl.checks import require_valid
from ludoteca.envs.gdl.errors import GDLError, GDLLimitError, GrowingTermsError
from ludoteca.envs.gdl.gates import Gates
from ludoteca.envs.gdl.ground import ground
from ludoteca.envs.gdl.growth import growing_rules
from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS, Limits
from ludoteca.envs.gdl.network import Network, make_network
from ludoteca.envs.gdl.network_cache import load_network, network_digest, save_network
from ludoteca.envs.gdl.parse import parse, read_sheet
from ludoteca.envs.gdl.persistence import persistent_fluents, replace_persistent_fluents
from ludoteca.envs.gdl.rules import Rule, read_rules

# Thresholds of Python's garbage collector during the compilation, which makes millions of tuples.
RARE_COLLECTIONS = (200_000, 20, 50)
MIN_CACHED_SECONDS = 0.3  # CPU seconds; networks of sheets that compile faster are not cached


def compile_sheet(
    path: str | Path,
    *,
    max_seconds: float = MAX_SECONDS,
    max_instances: int = MAX_INSTANCES,
    use_cache: bool = True,
) -> Network:
    """Return the network of a rule sheet.

    Args:
        path: the file.
        max_seconds: limit of CPU seconds for the compilation; no limit for a network in the disk
            cache, as its compilation may have taken longer on another machine.
        max_instances: limit of ground instances of rules.
        use_cache: whether networks are read from the disk cache and written to it.

    Raises:
        OSError: if the file cannot be read.
        GDLError: if it is not a valid rule sheet.
        GDLLimitError: if the compilation exceeds a limit, or the network in the disk cache has
            more than `max_instances`.
    """
    return compile_text(
        read_sheet(path),
        Path(path).name,
        max_seconds=max_seconds,
        max_instances=max_instances,
        use_cache=use_cache,
    )


def compile_text(
    text: str,
    name: str = "sheet",
    *,
    max_seconds: float = MAX_SECONDS,
    max_instances: int = MAX_INSTANCES,
    use_cache: bool = False,
) -> Network:
    """Return the network of the text of a rule sheet; see `compile_sheet`.

    Args:
        text: the sheet.
        name: name of the sheet in messages.
        max_seconds: as for `compile_sheet`.
        max_instances: limit of ground instances of rules.
        use_cache: whether networks are read from the disk cache and written to it.

    Raises:
        GDLError: if it is not a valid rule sheet.
        GDLLimitError: as for `compile_sheet`.
    """
    limits = Limits(max_seconds, max_instances)
    digest = network_digest(text)
    network = load_network(digest) if use_cache else None
    if network is not None:
        try:
            limits.check_instances(network.counted_instances)
        except GDLLimitError as error:
            raise GDLLimitError(f"{name}: {error}") from None
        return network
    rules = read_rules(parse(text, name), name)
    problems = require_valid(rules, name)
    try:
        with _rare_collections:
            grounder = ground(replace_persistent_fluents(rules), limits)
            network = make_network(
                grounder,
                Gates(grounder, limits),
                tuple(map(str, problems)),
                has_hidden_information=any(rule.head[0] == "sees" for rule in rules),
                persistent=persistent_fluents(rules),
                counted_instances=limits.counted_instances,
            )
    except GrowingTermsError as error:
        raise GDLLimitError(f"{name}: {error}{_first_growing_rule(rules)}") from None
    except GDLLimitError as error:
        raise GDLLimitError(f"{name}: {error}") from None
    except GDLError as error:
        raise GDLError(f"{name}: {error}") from None
    except MemoryError:
        raise GDLLimitError(
            f"{name}: not enough memory; so far the sheet has {limits.instances:,} ground "
            "instances of rules; a lower max_instances stops the compilation earlier"
        ) from None
    except RecursionError:
        problem = f"terms grow without end, or are nested too deep{_first_growing_rule(rules)}"
        raise GDLLimitError(f"{name}: {problem}") from None
    if use_cache and limits.seconds > MIN_CACHED_SECONDS:
        save_network(digest, network)
    return network


def _first_growing_rule(rules: list[Rule]) -> str:
    """Return the first rule by which terms may grow without end, or an empty string."""
    found = growing_rules(rules)
    return (
        f", by line {found[0].line}, column {found[0].column}: {found[0]!s:.160}" if found else ""
    )


class _RareCollections:
    """Context in which garbage is collected less often, in any number of threads at once.

    The first thread that enters sets the thresholds, and the last one that leaves restores them.
    """

    def __init__(self) -> None:
        self._lock, self._entered = threading.Lock(), 0
        self._thresholds = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._entered:
                self._thresholds = gc.get_threshold()
                gc.set_threshold(*RARE_COLLECTIONS)
            self._entered += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered:
                gc.set_threshold(*self._thresholds)


_rare_collections = _RareCollections()
