"""OpenSpiel's NFSP (PyTorch) on a game of this package, and the exploitability of its policies.

Usage: `python docs/results/nfsp/openspiel_nfsp.py GAME SEED GAMES`, with the packages `open_spiel`,
`dm-tree` and PyTorch.
"""

import sys

import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import nfsp

from ludoteca.agents import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.envs.adapters.openspiel import load_game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.exploit import exploitability

INTERVAL = 4_000  # games between measurements


class AveragePolicies(Agent):
    """Agent that plays by OpenSpiel's NFSP agents, one for each player.

    With `best_response`, it plays the greedy actions of their Q networks, otherwise their average
    policies.
    """

    def __init__(self, game, agents, best_response=False):
        super().__init__(game)
        self.agents, self.best_response = agents, best_response
        self.observer = Observer(game)

    def action_probabilities(self, states, seats):
        """Return the probabilities of all actions, float64 `[K, num_actions]`.

        Args:
            states: K positions.
            seats: the player to move in each position. Shape `[K]`.
        """
        planes, masks = self.observer.observe(states, seats)
        probabilities = np.zeros(masks.shape)
        for player, agent in enumerate(self.agents):
            rows = seats == player
            network = agent._rl_agent._q_network if self.best_response else agent._avg_network
            inputs = torch.from_numpy(planes.reshape(len(planes), -1)[rows].astype(np.float32))
            with torch.no_grad():
                # Illegal actions get a finite logit, far below those of networks.
                outputs = network(inputs).masked_fill(torch.from_numpy(masks[rows]) == 0, -1e9)
            if self.best_response:
                probabilities[rows] = np.eye(masks.shape[1])[outputs.argmax(1).numpy()]
            else:
                probabilities[rows] = outputs.double().softmax(1).numpy()
        return probabilities

    def act(self, states, seats, rngs, env_indices):
        """Raise an error: only the probabilities are used."""
        raise NotImplementedError


def main(name: str, seed: int, games: int) -> None:
    """Train an agent for each player, and print the exploitability of their policies.

    Args:
        name: spec string of the game.
        seed: seed of the networks and of the exploration.
        games: number of training games.
    """
    torch.set_num_threads(1)
    np.random.seed(seed)  # noqa: NPY002 - OpenSpiel samples from this generator
    game = make_game(name)
    environment = rl_environment.Environment(load_game(game))
    size = environment.observation_spec()["info_state"][0]
    agents = [
        nfsp.NFSP(
            player,
            size,
            game.num_actions,
            (64, 64),
            reservoir_buffer_capacity=500_000,
            anticipatory_param=0.2,
            batch_size=128,
            rl_learning_rate=1e-3,
            sl_learning_rate=1e-3,
            min_buffer_size_to_learn=400,
            # In steps: with 5 steps in a game, a quarter of an update per game, as in our runs.
            learn_every=20,
            optimizer_str="adam",
            seed=10 * seed + player,
            replay_buffer_capacity=8_000,
            epsilon_start=0.1,
            epsilon_end=0.0,
            # Counted in steps as the best response: 5 steps in a fifth of the games.
            epsilon_decay_duration=games,
            epsilon_decay_schedule_str="linear",
            update_target_network_every=800,
        )
        for player in range(game.num_players)
    ]
    for count in range(1, games + 1):
        step = environment.reset()
        while not step.last():
            step = environment.step([agent.step(step).action for agent in agents])
        for agent in agents:
            agent.step(step)
        if count % INTERVAL == 0:
            average, best = (
                exploitability(game, AveragePolicies(game, agents, response)).exploitability
                for response in (False, True)
            )
            print(f"{count} games: average {average:.3f}, best response {best:.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
