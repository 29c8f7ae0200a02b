"""Errors of a value network on newly played games: `python -m ludoteca.evaluate.value_errors`."""

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

# Phases of a game: bounds `low <= plies < high` of the number of plies before a position, by name.
PHASES = {f"{low} to {low + 9}": (low, low + 10) for low in range(0, 50, 10)}
PHASES |= {"50 and more": (50, 10**6)}
BATCH_SIZE = 4096  # positions that the network evaluates at a time


def value_errors(
    network: Path,
    player: str,
    opponents: tuple[str, ...],
    out: Path,
    game: str = "othello",
    games: int = 2000,
    seed: int = 10**6,
) -> dict[str, Any]:
    """Predict the results of newly played games with a value network, and write its errors.

    The network evaluates all positions but the last of each game.

    Args:
        network: folder of the network's training run.
        player: spec string of the agent that plays the games.
        opponents: opponents of the player: spec strings, or `self` for the player itself; each
            is tested separately.
        out: the JSON file to write.
        game: the game's spec string.
        games: number of games against each opponent.
        seed: seed of the games, different from that of the training games.
    """
    game_object = make_game(game)
    value_network, _ = load_value_network(game_object, find_weights(network, "uctnet"))
    runner = Runner(value_network, 1 / game_object.observation_high, precision="auto")
    view = ValueView(game_object, value_network.config.view)
    content: dict[str, Any] = {"about": run_info(), "games": games, "tests": []}
    for opponent in opponents:
        opponent_spec = player if opponent == "self" else opponent
        plies_played = np.zeros(games, np.int64)
        recorders = [
            PositionRecorder(spec, game_object, plies_played) for spec in (player, opponent_spec)
        ]
        # One batch of all games, so that `env_indices` are the numbers of the games.
        result = play_match(game_object, recorders, games, seed=seed, batch_size=games)
        assert result.returns is not None
        records = [record for recorder in recorders for record in recorder.records]
        states, seats, env_indices, plies = map(np.concatenate, zip(*records, strict=True))
        targets = result.returns[env_indices, 0].astype(np.float32)
        batches = [slice(k, k + BATCH_SIZE) for k in range(0, len(states), BATCH_SIZE)]
        predicted = np.concatenate(
            [
                runner(view.encode(states[batch], seats[batch])) * view.signs(seats[batch])
                for batch in batches
            ]
        )
        phases = [
            {"moves": name, **error_statistics(predicted[in_phase], targets[in_phase])}
            for name, (low, high) in PHASES.items()
            if (in_phase := (low <= plies) & (plies < high)).any()
        ]
        about = {"opponent": opponent, "player_won": result.totals[0].win_rate}
        content["tests"].append({**about, **error_statistics(predicted, targets), "phases": phases})
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


class PositionRecorder(TimedAgent):
    """Agent that records the positions in which it moves.

    Attributes:
        records: arrays of each call of `act` with K games: positions, seats, indices of the games,
            and numbers of plies before the positions. Shape `[K]` each.
    """

    def __init__(self, spec: str, game: Game, plies_played: NDArray[np.int64]):
        """Make the agent.

        Args:
            spec: spec string of the agent.
            game: the game.
            plies_played: number of plies played in each game, an array that all agents of a match
                share and update. Shape `[games]`.
        """
        super().__init__(spec, game)
        self._plies_played = plies_played
        self.records: list[tuple[NDArray[Any], ...]] = []

    def act(self, states: Any, seats: Any, rngs: Any, env_indices: Any) -> NDArray[np.int64]:
        """See `Agent`."""
        plies = self._plies_played[env_indices]
        self.records.append((states.copy(), seats.copy(), env_indices.copy(), plies))
        self._plies_played[env_indices] += 1
        return super().act(states, seats, rngs, env_indices)


def error_statistics(values: NDArray[np.float32], targets: NDArray[np.float32]) -> dict[str, float]:
    """Return the errors of predicted values.

    Args:
        values: predicted values for player 0. Shape `[positions]`.
        targets: returns of player 0 in the games. Shape `[positions]`.

    Returns:
        `"positions"`: number of positions. `"loss"`: mean squared error. `"accuracy"`: fraction of
        values with the sign of the return, among the positions of games that were not drawn; 0.5 if
        all were drawn.
    """
    decisive = targets != 0
    is_correct = (values > 0) == (targets > 0)
    return {
        "positions": len(targets),
        "loss": float(np.square(values - targets).mean()),
        "accuracy": float(is_correct[decisive].mean()) if decisive.any() else 0.5,
    }


if __name__ == "__main__":
    tyro.cli(value_errors)
