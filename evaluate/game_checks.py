"""Conformance checks of a game: its kernels, as plain Python and compiled, and its environments."""

from collections.abc import Callable

from ludoteca.envs.contract import (
    check_compiled,
    check_copy,
    check_ends,
    check_init,
    check_layout,
    check_names,
    check_play,
    check_repeats,
    check_symmetric_play,
    check_symmetries,
)
from ludoteca.envs.contract_chance import check_chance
from ludoteca.envs.contract_many import check_many
from ludoteca.envs.contract_positions import require
from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.params import check_integer
from ludoteca.evaluate.environment_checks import as_game, check_environments


def check_game(
    game: Game | str | Callable[[], Game],
    *,
    games: int = 20,
    seed: int = 0,
    environments: bool = True,
) -> None:
    """Check a game: its kernels as plain Python and compiled, and all its environments.

    Compiling takes some seconds the first time. Small boards are faster and reveal the same errors.

    Args:
        game: the game, its spec string, such as `"mygames:dots_and_boxes:size=1"`, or its factory.
        games: number of random games in plain Python, at least 1.
        seed: seed of the first game.
        environments: whether the environments are checked, too, see `check_environments`.

    Raises:
        ContractError: at the first violation.
        TypeError: if `game` is none of these.
        Exception: as raised by a kernel, or by Numba if a kernel cannot be compiled.
    """
    made = as_game(game)
    check_kernels(made, games=games, seed=seed)
    check_compiled(made, seed=seed)
    check_repeats(made, seed=seed, interpreted=False)
    check_many(made, seed=seed)
    check_chance(made, seed=seed)
    check_ends(made, games=max(games, 100), seed=seed)
    check_symmetric_play(made, seed=seed)
    if environments:
        check_environments(made, seed=seed)


def check_kernels(
    game: Game | str | Callable[[], Game],
    *,
    games: int = 20,
    seed: int = 0,
) -> None:
    """Check a game's kernels as plain Python, without compiling.

    Args:
        game: as for `check_game`.
        games: as for `check_game`.
        seed: as for `check_game`.

    Raises:
        ContractError: at the first violation.
    """
    check_integer("games", games, 1, 10**6)
    game = as_game(game)
    check_names(game)
    require(game.num_players >= 1, f"{game.spec} must have a player, got {game.num_players}")
    for k in range(games):
        check_play(game, seed=seed + k)
    check_layout(game)
    check_init(game, seed=seed)
    check_repeats(game, seed=seed)
    check_many(game, seed=seed, interpreted=True)
    with interpreting():
        check_chance(game, seed=seed)
    for fraction in (0.0, 0.5):  # at the start, and in the middle of a game
        check_copy(game, seed=seed, fraction=fraction)
    check_symmetries(game)
    check_symmetric_play(game, seed=seed, interpreted=True)
