"""Value network on fresh games: `python -m ludoteca.evaluate.studies.othello.fresh_games`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.value_network import ValueView, load_value_network
from ludoteca.agents.networks.weights import find_weights
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.timed_match import TimedAgent
from ludoteca.files import write_whole
from ludoteca.provenance import run_info

MOST = 10**6
# Moves played: from, and below.
PHASES = ((0, 10), (10, 20), (20, 30), (30, 40), (40, 50), (50, MOST))


def fresh_games(
    network: Path,
    player: str,
    opponents: tuple[str, ...],
    out: Path,
    game: str = "othello",
    games: int = 2000,
    seed: int = 10**6,
) -> dict[str, Any]:
    """Predict the results of fresh games with a network, and write its errors.

    It evaluates all positions in which a player is to move.

    Args:
        network: folder of its training.
        player: who plays the games, a spec string.
        opponents: against whom: a spec string, or `self`; each is a test of its own.
        out: the JSON file to write.
        game: the game's spec string.
        games: how many are played against each.
        seed: determines them, and should not be that of the games learned from.
    """
    made = make_game(game)
    loaded, _ = load_value_network(made, find_weights(network, "uctnet"))
    runner = Runner(loaded, 1 / made.observation_high, precision="auto")
    view = ValueView(made, loaded.config.view)
    content: dict[str, Any] = {"about": run_info(), "games": games, "tests": []}
    for opponent in opponents:
        other = player if opponent == "self" else opponent
        played = np.zeros(games, np.int64)
        seen = [Watched(spec, made, played) for spec in (player, other)]
        # All at once: game k then has index k.
        result = play_match(made, seen, games, seed=seed, batch_size=games)
        assert result.returns is not None
        states, seats, env_indices, plies = (
            np.concatenate([part[k] for one in seen for part in one.parts]) for k in range(4)
        )
        targets = result.returns[env_indices, 0].astype(np.float32)
        predicted = np.concatenate(
            [
                runner(view.encode(states[part], seats[part])) * view.signs(seats[part])
                for part in (slice(k, k + 4096) for k in range(0, len(states), 4096))
            ]
        )
        about = {"opponent": opponent, "player_won": result.totals[0].win_rate}
        phases = []
        for low, high in PHASES:
            chosen = (plies >= low) & (plies < high)
            if chosen.any():
                phases.append(
                    {"moves": phase(low, high)} | errors(predicted[chosen], targets[chosen])
                )
        content["tests"].append(about | errors(predicted, targets) | {"phases": phases})
    write_whole(out, json.dumps(content, indent=1) + "\n")
    return content


class Watched(TimedAgent):
    """Agent whose questions are recorded.

    Attributes:
        parts: positions, seats, indices of games and moves played of each question.
    """

    def __init__(self, spec: str, game: Game, played: NDArray[np.int64]):
        """Make the agent.

        Args:
            spec: its spec string.
            game: the game it plays.
            played: moves played at each index so far; all agents of a match count them together.
        """
        super().__init__(spec, game)
        self._played = played
        self.parts: list[tuple[NDArray[Any], ...]] = []

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See `Agent`."""
        self.parts.append(
            (states.copy(), seats.copy(), env_indices.copy(), self._played[env_indices])
        )
        self._played[env_indices] += 1
        return super().act(states, seats, rngs, env_indices)


def phase(low: int, high: int) -> str:
    """Return what a phase of the game is called."""
    return f"{low} to {high - 1}" if high < MOST else f"{low} and more"


def errors(values: NDArray[np.float32], targets: NDArray[np.float32]) -> dict[str, float]:
    """Return how many there are, their mean squared error, and how many signs are right.

    The share of right signs, `accuracy`, is that of positions in decided games.
    """
    decided = targets != 0
    right = (values > 0) == (targets > 0)
    return {
        "positions": len(targets),
        "loss": float(np.square(values - targets).mean()),
        "accuracy": float(right[decided].mean()) if decided.any() else 0.5,
    }


if __name__ == "__main__":
    tyro.cli(fresh_games)
