"""OpenSpiel's NFSP (PyTorch), and the exploitability of its policies.

Usage: `python docs/results/nfsp/openspiel_nfsp.py GAME SEED GAMES`, with the packages `open_spiel`,
`dm-tree` and PyTorch. GAME is a game of this package with perfect information, measured by its
function, or `kuhn_poker` or `leduc_poker` of OpenSpiel, measured in chips by OpenSpiel's function.
"""

import sys

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy, rl_environment
from open_spiel.python.algorithms import exploitability as openspiel_exploitability
from open_spiel.python.pytorch import nfsp

from ludoteca.agents import Agent
from ludoteca.agents.predictor import Observer
from ludoteca.envs.adapters.openspiel import load_game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.exploit import exploitability

# Games between measurements, and settings with as many updates per game as in our runs, and ring
# buffers of the same part of the run: steps of an agent between updates, and capacity of the
# buffer. With a ring buffer for each player, half of ours.
SETTINGS = {
    "kuhn_poker": (10_000, 30, 12_000),
    "leduc_poker": (10_000, 24, 20_000),
    "": (4_000, 20, 8_000),  # Goofspiel with four cards: 5 steps in a game
}


def probabilities_of(agent, best_response, inputs, masks):
    """Return the probabilities of all actions by one of OpenSpiel's NFSP agents, `[K, A]`.

    Args:
        agent: the agent.
        best_response: whether it plays the greedy actions of its Q network, instead of its average
            policy.
        inputs: information states. Shape `[K, N]`.
        masks: 1 for legal actions, else 0. Shape `[K, A]`.
    """
    network = agent._rl_agent._q_network if best_response else agent._avg_network
    with torch.no_grad():
        outputs = network(torch.from_numpy(np.asarray(inputs, np.float32)))
        # Illegal actions get a finite logit, far below those of networks.
        outputs = outputs.masked_fill(torch.from_numpy(np.asarray(masks)) == 0, -1e9)
    if best_response:
        return np.eye(outputs.shape[1])[outputs.argmax(1).numpy()]
    return outputs.double().softmax(1).numpy()


class NFSPPolicy(policy.Policy):
    """Policy of OpenSpiel's NFSP agents, for OpenSpiel's measures."""

    def __init__(self, game, agents, best_response=False):
        super().__init__(game, list(range(game.num_players())))
        self.agents, self.best_response = agents, best_response

    def action_probabilities(self, state, player_id=None):
        """Return the probability of each legal action of the player to move."""
        player = state.current_player()
        inputs, masks = [state.information_state_tensor(player)], [state.legal_actions_mask(player)]
        shares = probabilities_of(self.agents[player], self.best_response, inputs, masks)[0]
        return {action: shares[action] for action in state.legal_actions()}


class NFSPPlayers(Agent):
    """Agent that plays by OpenSpiel's NFSP agents, one for each player, for our measures."""

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
            inputs = planes.reshape(len(planes), -1)[rows]
            probabilities[rows] = probabilities_of(agent, self.best_response, inputs, masks[rows])
        return probabilities

    def act(self, states, seats, rngs, env_indices):
        """Raise an error: only the probabilities are used."""
        raise NotImplementedError


def measure(name, environment, agents, best_response):
    """Return the exploitability of the agents' average policies, or of their best responses."""
    if name in pyspiel.registered_names():
        game = environment.game
        return openspiel_exploitability.exploitability(
            game, NFSPPolicy(game, agents, best_response)
        )
    game = make_game(name)
    return exploitability(game, NFSPPlayers(game, agents, best_response)).exploitability


def main(name: str, seed: int, games: int) -> None:
    """Train an agent for each player, and print the exploitability of their policies.

    Args:
        name: the game, see above.
        seed: seed of the networks and of the exploration.
        games: number of training games.
    """
    torch.set_num_threads(1)
    np.random.seed(seed)  # noqa: NPY002 - OpenSpiel samples from this generator
    ours = name not in pyspiel.registered_names()
    environment = rl_environment.Environment(load_game(make_game(name)) if ours else name)
    size = environment.observation_spec()["info_state"][0]
    interval, learn_every, capacity = SETTINGS["" if ours else name]
    agents = [
        nfsp.NFSP(
            player,
            size,
            environment.action_spec()["num_actions"],
            (64, 64),
            reservoir_buffer_capacity=500_000,
            anticipatory_param=0.2,
            batch_size=128,
            rl_learning_rate=1e-3,
            sl_learning_rate=1e-3,
            min_buffer_size_to_learn=400,
            learn_every=learn_every,
            optimizer_str="adam",
            seed=10 * seed + player,
            replay_buffer_capacity=capacity,
            epsilon_start=0.1,
            epsilon_end=0.0,
            # Counted in steps as the best response: 5 steps in a fifth of the games.
            epsilon_decay_duration=games,
            epsilon_decay_schedule_str="linear",
            update_target_network_every=800,
        )
        for player in range(environment.num_players)
    ]
    for count in range(1, games + 1):
        step = environment.reset()
        while not step.last():
            movers = agents if step.is_simultaneous_move() else [agents[step.current_player()]]
            step = environment.step([agent.step(step).action for agent in movers])
        for agent in agents:
            agent.step(step)
        if count % interval == 0:
            average, best = (measure(name, environment, agents, b) for b in (False, True))
            print(
                f"seed {seed}, {count} games: average {average:.3f}, best response {best:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
