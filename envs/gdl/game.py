"""Games from rule sheets: the factory of `make_game("gdl:path=FILE.kif")`.

Encoding of a state of a sheet with two players and the fluents (at 1), (at 2), (at 3) and
(control x), of which (at 2) and (control x) are true, as player 1 observes it without a board; each
plane has one cell:

    `fluents`   planes
    bits 0-3    0 1 2 3   4 5
    0 1 0 1     0 1 0 1   0 1

With a board, `boards.Board` has the plane and the cell of each fluent.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.compilation import LOCK
from ludoteca.envs.game import Game, action_dtype
from ludoteca.envs.gdl.actions import NONE, action_terms, number_actions
from ludoteca.envs.gdl.board_actions import BoardActions, arrange_actions, reorder_moves
from ludoteca.envs.gdl.board_layout import board_layout, fluent_layout
from ludoteca.envs.gdl.board_views import board_view, flat_view, percept_view
from ludoteca.envs.gdl.boards import Board
from ludoteca.envs.gdl.compile import compile_text
from ludoteca.envs.gdl.dynamics import LARGEST_LIMIT, Dynamics, analyze, is_zero_sum
from ludoteca.envs.gdl.errors import GDLError, GDLLimitError, GDLWarning
from ludoteca.envs.gdl.interpreted_network import interpret_text
from ludoteca.envs.gdl.kernels import GDLKernels, make_kernels
from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.gdl.parse import read_sheet
from ludoteca.envs.gdl.percepts import validate_percepts
from ludoteca.envs.gdl.state_record import RUNNING
from ludoteca.envs.gdl.symmetries import DetectedBoard, SheetSymmetries, find_sheet_board
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.record_views import view_records

PLANES = ("board", "flat")
MAX_VALUES = 100_000  # of an observation on a board; larger ones are flat
_games: dict[Any, Game] = {}  # by text of the sheet and parameters
# By the text of the sheet and the limits.
_networks: dict[tuple[str, float, int], tuple[Network, Dynamics]] = {}
_boards: dict[tuple[str, float, int], DetectedBoard | None] = {}


def gdl(
    path: str = "tictactoe",
    max_plies: int | None = None,
    max_seconds: float = MAX_SECONDS,
    max_instances: int = MAX_INSTANCES,
    observe: str = "auto",
    planes: str = "board",
) -> Game:
    """Game from a rule sheet in the Game Description Language (GDL).

    If the fluents of the sheet are on a board, such as `(cell 1 2 x)`, observations are the planes
    of the board, `board(game).planes`. Otherwise they are the fluents, one plane of one cell each,
    in the order of `rules(game).fluents`. The observing player follows, one-hot, one plane for each
    player, unless the rules are the same for both players, see docs/gdl.md. If the sheet has rules
    for `sees`, observations are the percepts of the player instead, see `percepts`.

    A sheet that exceeds a limit of the compilation is interpreted, with a `GDLWarning`: the game is
    the same, thousands of times slower.

    Args:
        path: the file, or the name of a sheet of this package, such as `"connect4"`.
        max_plies: joint moves after which a game ends: as a draw, or, if there is a single player,
            as a loss. By default the bound that follows from the rules, or, if none is found, a
            multiple of the length of the longest of many random games.
        max_seconds: limit of CPU seconds for the compilation of the sheet.
        max_instances: limit of ground instances of rules.
        observe: `"auto"`: players observe the state, or their percepts if the sheet has rules for
            `sees`; `"state"`: they always observe the state.
        planes: `"board"`, or `"flat"` for observations without a board.

    Raises:
        ValueError: if a parameter is out of range, or there is no such file.
        GDLError: if it is not a valid rule sheet, or it can be neither compiled nor interpreted
            within the limits.
    """
    if max_plies is not None:
        check_integer("max_plies", max_plies, 1, LARGEST_LIMIT)
    check_choice("observe", observe, ("auto", "state"))
    check_choice("planes", planes, PLANES)
    file = find_sheet(path)
    try:
        text = read_sheet(file)
    except OSError as error:
        reason = error.strerror
        raise ValueError(f"path must be a rule sheet, got {str(path)!r}: {reason}") from None
    key = (text, str(path), max_plies, max_seconds, max_instances, observe, planes)
    with LOCK:
        if key not in _games:
            network, dynamics = _compiled(text, file.name, max_seconds, max_instances)
            params = {
                "path": str(path),
                "max_plies": max_plies,
                "max_seconds": max_seconds,
                "max_instances": max_instances,
                "observe": observe,
                "planes": planes,
            }
            limits = text, max_seconds, max_instances
            if limits not in _boards:
                _boards[limits] = find_sheet_board(text, network, dynamics)
            found = _boards[limits]
            game = make_network_game(
                network, dynamics, file.stem, params, max_plies, observe == "state", found
            )
            object.__setattr__(game, "_factory", gdl)  # the dataclass is frozen
            _games[key] = game
        return _games[key]


def rules(game: Game) -> Network:
    """Return the network of a game that `gdl` has made, with the names of fluents and moves.

    Raises:
        ValueError: for any other game.
    """
    return _rules(game)[0]


def dynamics(game: Game) -> Dynamics:
    """Return the dynamics of a game that `gdl` has made, from proofs and random games.

    Raises:
        ValueError: for any other game.
    """
    return _rules(game)[1]


def board(game: Game) -> Board | None:
    """Return the board of a game that `gdl` has made, or None if it has none.

    Raises:
        ValueError: for any other game.
    """
    _rules(game)
    found: Board | None = vars(game)["_board"]
    return found


def new_position(game: Game, fluents: Iterable[str], plies: int = 0, seed: int = 0) -> Any:
    """Return the position of a game that `gdl` has made in a state, as a record like `Game.new`.

    The record has no last moves, and no percepts. If only chance moves in the state, joint moves
    are made, and noted, until a player has an action or the game is over. They count as plies
    unless `plies` is 0, as at the start of a game.

    Args:
        game: the game.
        fluents: the true fluents, names in `rules(game).fluents`.
        plies: number of joint moves so far.
        seed: seed of the chance events to come.

    Raises:
        ValueError: if the game is not from a rule sheet, a fluent can never be true, or a
            persistent fluent, such as a wall of a maze, does not have its initial value.
    """
    network, _, kernels = _rules(game)
    is_true = np.zeros(-(-len(network.fluents) // 64) * 64, np.bool_)
    for fluent in fluents:
        if fluent not in network.fluents:
            raise ValueError(f"the fluent {fluent} can never be true")
        is_true[network.fluents.index(fluent)] = True
    if problem := _persistence_problem(network, is_true[: len(network.fluents)]):
        raise ValueError(problem)
    s = game.new(seed)
    s.fluents[:] = np.packbits(is_true, bitorder="little").view("<u8")
    for name, value in (("joint", NONE), ("percepts", 0), ("turn_percepts", 0),
                        ("game_percepts", 0), ("last_action", NONE)):  # fmt: skip
        if name in (game.state.names or ()):
            s[name] = value
    s.plies = plies
    with np.errstate(all="ignore"):  # kernels may rely on integer overflow
        kernels.refresh(s)
        kernels.play_while_waiting(s)
    return s


def _persistence_problem(network: Network, is_true: NDArray[np.bool_]) -> str:
    """Return how fluents differ from persistent ones of the initial state, or an empty string.

    The rules were compiled with the initial values of persistent fluents.
    """
    changed = np.flatnonzero(network.persistent & (is_true != network.initial))
    if not len(changed):
        return ""
    value = "true" if network.initial[changed[0]] else "false"
    return f"fluents must have {network.fluents[changed[0]]}, which never changes, {value}"


def _rules(game: Game) -> tuple[Network, Dynamics, GDLKernels]:
    """Return the network, dynamics and kernels that `make_network_game` has stored in a game."""
    rules: tuple[Network, Dynamics, GDLKernels] | None = vars(game).get("_rules")
    if rules is None:
        raise ValueError(f"{game.short_spec} is not a game from a rule sheet")
    return rules


def _compiled(
    text: str, name: str, max_seconds: float, max_instances: int
) -> tuple[Network, Dynamics]:
    """Return the network and the dynamics of a sheet; both are computed once per process."""
    key = text, max_seconds, max_instances
    if key not in _networks:
        network, dynamics = _compile(text, name, max_seconds, max_instances)
        for warning in dynamics.warnings:
            warnings.warn(f"{name}: {warning}", GDLWarning, stacklevel=4)
        _networks[key] = network, dynamics
    return _networks[key]


def _compile(
    text: str, name: str, max_seconds: float, max_instances: int
) -> tuple[Network, Dynamics]:
    """Return the network of a sheet or, if it exceeds a limit, a network that is interpreted."""
    try:
        network = compile_text(
            text, name, max_seconds=max_seconds, max_instances=max_instances, use_cache=True
        )
    except GDLLimitError as limit:
        try:
            interpreted = interpret_text(text, name)
        except GDLError as error:
            raise type(error)(f"{limit}; nor can it be interpreted: {error}") from None
        slower = "its rules are interpreted, which is thousands of times slower"
        warnings.warn(f"{limit}; {slower}", GDLWarning, stacklevel=5)
        return interpreted
    with interpreting(False):  # `analyze` plays thousands of games, too slow in Python
        return network, analyze(network)


def make_network_game(
    network: Network,
    dynamics: Dynamics,
    title: str,
    params: dict[str, Any],
    max_plies: int | None = None,
    observe_state: bool = False,
    found: DetectedBoard | None = None,
) -> Game:
    """Return the game of a network.

    Args:
        network: the network.
        dynamics: its dynamics.
        title: displayed name.
        params: parameters of the factory; with `planes="flat"`, observations have no board.
        max_plies: limit of joint moves, or None for that of the dynamics.
        observe_state: whether players observe the state even if the sheet has rules for `sees`.
        found: its board, if there is one.
    """
    terms = action_terms(network, dynamics)
    order = BoardActions("none", terms)
    if found is not None:
        order = arrange_actions(terms, found.board, found.has_stacks)
        network, dynamics = reorder_moves(network, dynamics, order.terms)
    actions = number_actions(network, dynamics, order.terms)
    limit = dynamics.max_plies if max_plies is None else max_plies
    kernels = make_kernels(network, dynamics, actions, limit)
    num_cells = found.board.rows * found.board.columns if found else 0
    symmetries = SheetSymmetries(
        network, dynamics, found, actions, num_cells if order.kind == "cells" else 0
    )
    players, num_actions = len(network.players), len(actions.names)
    hidden_information = network.has_hidden_information and not observe_state
    if hidden_information:
        view = percept_view(network, num_actions)
    elif (
        found is None
        or params.get("planes") == "flat"
        or (len(found.board.planes) + players) * num_cells > MAX_VALUES
    ):
        view = flat_view(network, symmetries)
    else:
        view = board_view(network, symmetries)
    layout = fluent_layout(network)
    if found is not None:
        layout = board_layout(network, found.board, found.empty, order)
    game = Game(
        name="gdl",
        title=f"{title} (GDL)",
        params=params,
        num_players=players,
        num_actions=num_actions,
        max_plies=limit,
        observation_shape=view.shape,
        dynamics="sequential" if dynamics.sequential else "simultaneous",
        zero_sum=is_zero_sum(network, dynamics.random_games),
        hidden_information=hidden_information,
        state=kernels.state,
        init=kernels.init,
        player=kernels.player,
        is_active=kernels.is_active,
        legal_actions=kernels.legal_actions,
        step=kernels.step,
        many=kernels.many,
        chance=kernels.chance,
        is_terminal=kernels.is_terminal,
        returns=kernels.returns,
        observe=view.observe,
        layout=layout,
        action_names=actions.names,
        symmetries=view.symmetries,
        mirror=view.mirror,
        validate=_make_validate(network, kernels, limit, num_actions),
    )
    object.__setattr__(game, "_rules", (network, dynamics, kernels))
    object.__setattr__(game, "_board", found and found.board)
    return game


def _make_validate(network: Network, kernels: GDLKernels, max_plies: int, num_actions: int) -> Any:
    """Return the function `validate` of `Game`."""
    num_fluents, num_moves = len(network.fluents), len(network.moves)

    padding = (2**64 - 1) ^ (2 ** (num_fluents % 64 or 64) - 1)  # unused bits of the last word

    def validate(s: Any) -> str:
        if num_fluents and int(s["fluents"][-1]) & padding:
            return f"fluents has bits beyond its {num_fluents} fluents"
        bits = np.unpackbits(s["fluents"].astype("<u8").view(np.uint8), bitorder="little")
        if problem := _persistence_problem(network, bits[:num_fluents].astype(np.bool_)):
            return problem
        if not 0 <= s["plies"] <= max_plies:
            return f"plies is {s['plies']}, expected 0 to {max_plies}"
        if (s["joint"] < -1).any() or (s["joint"] >= num_moves).any():
            return f"joint is {s['joint'].tolist()}, expected moves from -1 to {num_moves - 1}"
        if not np.isin(s["forfeited"], (0, 1)).all():
            return f"forfeited is {s['forfeited'].tolist()}, expected 0s and 1s"
        if network.has_hidden_information and (
            problem := validate_percepts(network, num_actions, s)
        ):
            return problem
        copy = np.zeros(1, kernels.state)
        copy[0] = np.asarray(s)[()]
        fresh = view_records(copy)[0]
        with np.errstate(all="ignore"):  # kernels may rely on integer overflow
            kernels.refresh(fresh)
        for name in ("outputs", "to_move", "over"):
            if not np.array_equal(fresh[name], s[name]):
                return f"{name} is {s[name]}, but the fluents give {fresh[name]}"
        is_running = kernels.player is not None and fresh.over == RUNNING
        if is_running and not kernels.legal_actions(
            fresh, np.zeros(num_actions, action_dtype(num_actions))
        ):
            return "only chance moves in this state, expected one in which a player has an action"
        return ""

    return validate
