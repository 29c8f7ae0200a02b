"""Moving games of the landing page: `python -P docs/site/moving_games.py`.

Agents of the package play a game each, which is written to docs/images/moving as an animated SVG
file.
"""

from collections.abc import Sequence
from pathlib import Path

from ludoteca.envs.registry import make_game
from ludoteca.envs.render.scene import scene
from ludoteca.envs.render.svg import svg_animation
from ludoteca.evaluate.match import play_match

OUT = Path(__file__).parents[1] / "images" / "moving"
# Name of the file, spec string of the game, agents by seat, seed of the match, and maximum number
# of positions in the animation.
GAMES: tuple[tuple[str, str, tuple[str, ...], int, int], ...] = (
    (
        "hungry_geese",
        "hungry_geese",
        ("ac:geese", "deterministic", "greedy", "flat:simulations=300"),
        1,
        90,
    ),
    ("othello", "othello", ("az:othello,simulations=32", "mcts:simulations=300"), 2, 65),
    ("hex", "hex:board_size=7", ("dqn:hex7", "mcts:simulations=2000"), 3, 50),
    ("connect4", "connect4", ("az:connect4,simulations=64", "mcts:simulations=2000"), 4, 43),
    ("tron", "tron", ("mcts:simulations=1000", "mcts:simulations=1000"), 5, 60),
    ("breakthrough", "breakthrough", ("mcts:simulations=1000", "mcts:simulations=1000"), 6, 60),
)
SECONDS, LAST_SECONDS = 0.45, 3.0  # time of a position, and of the last one


def main() -> None:
    """Play the games and write the files."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name, spec, agents, seed, limit in GAMES:
        text = moving_game(spec, agents, seed, limit)
        (OUT / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{name}.svg: {len(text) / 1000:.0f} kB")


def moving_game(spec: str, agents: Sequence[str], seed: int, limit: int) -> str:
    """Return an animated SVG file of a game.

    Args:
        spec: spec string of the game.
        agents: spec strings of the agents by seat.
        seed: seed of the match.
        limit: maximum number of positions; the rest of a longer game is not shown.
    """
    game = make_game(spec)
    (replay,) = play_match(game, agents, 1, seed=seed, num_replays=1).replays
    pictures = []
    for s, action in zip(replay.positions(), [None, *replay.actions], strict=True):
        last = None if game.simultaneous else action
        pictures.append(scene(game, s, last, captions=()))
    return svg_animation(pictures[:limit], SECONDS, LAST_SECONDS)


if __name__ == "__main__":
    main()
