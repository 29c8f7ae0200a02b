"""Images of a middlegame position of every game: `python -m ludoteca.envs.render docs/images`."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render.raster import png
from ludoteca.envs.render.scene import scene
from ludoteca.envs.render.status import board_codes, count_cells, player_piece

FRACTION_PLAYED = 0.6  # where among the undecided positions of a random game the image is taken


def main() -> None:
    """Write `NAME.png` for every registered game, or for those of `--games`."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m ludoteca.envs.render")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--games", nargs="*", default=list(GAMES), metavar="SPEC")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for spec in args.games:
        game = make_game(spec)
        s, last_action = middle_position(game, args.seed)
        path = args.folder / f"{game.name}.png"
        path.write_bytes(png(scene(game, s, last_action)))
        print(f"{path}: {path.stat().st_size / 1000:.1f} kB")


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def middle_position(game: Game, seed: int = 0) -> tuple[Any, Any]:
    """Return a position of a random game, and the action that led to it.

    In this position no player has won, lost or been eliminated yet. It depends only on the seed.
    """
    rng = np.random.default_rng(seed)
    s, action = game.new(seed), None
    undecided: list[tuple[Any, Any]] = []
    returns = np.zeros(game.num_players)
    while not game.is_terminal(s) and not returns.any():
        undecided.append((np.array([s], game.state).view(np.recarray)[0], action))
        action = choose_action(game, s, rng)
        game.step(s, action)
        game.returns(s, returns)
    return undecided[int(FRACTION_PLAYED * len(undecided))]


def choose_action(game: Game, s: Any, rng: np.random.Generator) -> Any:
    """Return a random legal action, or in simultaneous games the best action of each player.

    Random actions would end a simultaneous game within a few plies. Actions are chosen one player
    after the other by `_rate_action`.
    """
    legal = np.zeros(game.num_actions, np.int64)
    if not game.simultaneous:
        return int(rng.choice(legal[: game.legal_actions(s, legal)]))
    actions = np.zeros(game.num_players, np.int64)
    for player in rng.permutation(game.num_players):
        n = game.legal_actions(s, player, legal)
        shuffled = rng.permutation(legal[:n])
        actions[player] = max(
            shuffled, key=lambda a: _rate_action(game, s, actions, player, a), default=0
        )
    return actions


def _rate_action(game: Game, s: Any, actions: Any, player: int, action: int) -> tuple[float, ...]:
    """Return the player's return, number of cells and negative distance to food after `action`.

    `actions` are those of all players, 0 for players that have not chosen yet.
    """
    next_s = np.array([s], game.state).view(np.recarray)[0]
    joint = actions.copy()
    joint[player] = action
    game.step(next_s, joint)
    returns = np.zeros(game.num_players)
    game.returns(next_s, returns)
    codes = board_codes(game, next_s)
    food = [code for code, piece in enumerate(game.layout.pieces, 1) if piece.shape == "food"]
    head = game.layout.pieces.index(player_piece(game, player)) + 1
    distances = [
        int(np.abs(head_cell - food_cell).sum())
        for head_cell in np.argwhere(codes == head)
        for food_cell in np.argwhere(np.isin(codes, food))
    ]
    return float(returns[player]), count_cells(game, next_s)[player], -min(distances, default=0)


if __name__ == "__main__":
    main()
