"""Targets of `tests/fuzz`, by name; see `fuzz_inputs`."""

from collections.abc import Callable
from pathlib import Path

from fuzz_games import (
    edited_cells,
    environments,
    faces,
    game_records,
    replays,
    states_bytes,
    states_json,
)
from fuzz_inputs import Attempt, RefusedError
from fuzz_names import agent_specs, command_lines, game_specs
from fuzz_networks import network_files, rllib_policies, run_states, sb3_archives
from fuzz_programs import gdl_traces, ggp_messages, kaggle_answers, rule_sheets, submission_archives
from fuzz_records import (
    archives_of_games,
    episodes,
    ratings,
    tables,
    tournament_records,
    tournaments_in_progress,
)

# For each target: the function that makes its attempt, the errors that attempts may raise, and the
# relative number of attempts.
Errors = tuple[type[BaseException], ...]
TARGETS: dict[str, tuple[Callable[[Path], Attempt], Errors, float]] = {
    "game_specs": (game_specs, (ValueError,), 0.252),
    "agent_specs": (agent_specs, (ValueError, OSError, ImportError), 0.02),
    "command_lines": (command_lines, (RefusedError,), 0.001),
    "replays": (replays, (ValueError,), 0.04),
    "game_records": (game_records, (ValueError,), 0.03),
    "states_json": (states_json, (ValueError,), 0.05),
    "states_bytes": (states_bytes, (ValueError,), 0.05),
    "environments": (environments, (ValueError,), 0.03),
    "faces": (faces, (ValueError, TypeError), 0.05),
    "network_files": (network_files, (ValueError,), 0.008),
    "rllib_policies": (rllib_policies, (ValueError,), 0.008),
    "sb3_archives": (sb3_archives, (ValueError, TypeError), 0.003),
    "run_states": (run_states, (ValueError,), 0.02),
    "tables": (tables, (ValueError,), 0.02),
    "archives_of_games": (archives_of_games, (ValueError,), 0.008),
    "episodes": (episodes, (ValueError,), 0.02),
    "ratings": (ratings, (ValueError,), 0.11),
    "tournament_records": (tournament_records, (ValueError,), 0.01),
    "tournaments_in_progress": (tournaments_in_progress, (ValueError,), 0.01),
    "edited_cells": (edited_cells, (ValueError,), 0.02),
    "kaggle_answers": (kaggle_answers, (ValueError,), 0.29),
    "rule_sheets": (rule_sheets, (ValueError,), 0.02),
    "ggp_messages": (ggp_messages, (ValueError,), 0.05),
    "gdl_traces": (gdl_traces, (ValueError,), 0.02),
    "submission_archives": (submission_archives, (ValueError, OSError), 0.01),
}
