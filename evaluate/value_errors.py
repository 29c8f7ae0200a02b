"""Errors of a value network on fresh games: `python -m ludoteca.evaluate.value_errors`."""

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
from ludoteca.files import write_atomically
from ludoteca.provenance import run_info

# Phases of a game by the number of moves played: from, and below.
PHASES = {f"{low} to {low + 9}": (low, low + 10) for low in range(0, 50, 10)}
PHASES |= {"50 and more": (50, 10**6)}


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
        player: agent that plays the games, a spec string.
        opponents: opponents of the player: spec strings, or `self`; each is tested separately.
        out: the JSON file to write.
        game: the game's spec string.
        games: number of games against each opponent.
        seed: seed of the games, different from that of the training games.
    """
    made = make_game(game)
    loaded, _ = load_value_network(made, find_weights(network, "uctnet"))
    runner = Runner(loaded, 1 / made.observation_high, precision="auto")
    view = ValueView(made, loaded.config.view)
    content: dict[str, Any] = {"about": run_info(), "games": games, "tests": []}
    for opponent in opponents:
        other = player if opponent == "self" else opponent
        played = np.zeros(games, np.int64)
        recorders = [PositionRecorder(spec, made, played) for spec in (player, other)]
        # All games in one batch, so that game k has index k.
        result = play_match(made, recorders, games, seed=seed, batch_size=games)
        assert result.returns is not None
        parts = [part for recorder in recorders for part in recorder.parts]
        states, seats, env_indices, plies = map(np.concatenate, zip(*parts, strict=True))
        targets = result.returns[env_indices, 0].astype(np.float32)
        batches = [slice(k, k + 4096) for k in range(0, len(states), 4096)]
        predicted = np.concatenate(
            [
                runner(view.encode(states[part], seats[part])) * view.signs(seats[part])
                for part in batches
            ]
        )
        phases = [
            {"moves": name, **errors(predicted[chosen], targets[chosen])}
            for name, (low, high) in PHASES.items()
            if (chosen := (low <= plies) & (plies < high)).any()
        ]
        about = {"opponent": opponent, "player_won": result.totals[0].win_rate}
        content["tests"].append({**about, **errors(predicted, targets), "phases": phases})
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


class PositionRecorder(TimedAgent):
    """Agent that records the positions in which it moves.

    Attributes:
        parts: positions, seats, indices of games and moves played, of each call of `act`.
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

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> NDArray[np.int64]:
        """See `Agent`."""
        played = self._played[env_indices]
        self.parts.append((states.copy(), seats.copy(), env_indices.copy(), played))
        self._played[env_indices] += 1
        return super().act(states, seats, rngs, env_indices)


def errors(values: NDArray[np.float32], targets: NDArray[np.float32]) -> dict[str, float]:
    """Return the number of `positions`, their mean squared error, and the share of right signs.

    `accuracy` is a fraction of the positions in decided games.
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
