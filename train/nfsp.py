"""Neural fictitious self-play (NFSP), for games of two players or more.

Heinrich and Silver, "Deep reinforcement learning from self-play in imperfect-information games"
(2016). Each player of a game plays either a best response, learned by deep Q-learning from all
transitions in a ring buffer, or the average policy, learned by imitation of the best response's
decisions in a reservoir buffer. One pair of networks plays all seats. An interrupted run resumes,
with the same result, when the same command is given again.
"""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.nfsp_network import (
    NFSPNetwork,
    load_nfsp_network,
    make_nfsp_network,
)
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.nfsp import NFSPAgent
from ludoteca.agents.sampling import sample_by_weight, sample_legal
from ludoteca.agents.seat_network import SeatNetworkAgent, masked_softmax
from ludoteca.envs.game import ActionArray, Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.train.algorithm import Algorithm, Inference, Model, ReportText, Tensors
from ludoteca.train.examples import ExampleLayout, Kind
from ludoteca.train.minibatches import DECISION
from ludoteca.train.optimizer import epsilon_at, learning_rate
from ludoteca.train.rollout_games import Turn
from ludoteca.train.settings import AUTO, AutoLimits, RLConfig

ILLEGAL_LOGIT = -1e9  # finite: with minus infinity, the entropy of illegal actions would be NaN


@dataclass(frozen=True)
class NFSPConfig(RLConfig):
    """Settings of neural fictitious self-play."""

    algorithm = "nfsp"

    run_dir: Path = Path("runs/nfsp")
    game: str = "hungry_geese"
    """Game, as a spec string: for two players or more."""
    games: int = 100_000
    network: ACConfig = field(default_factory=lambda: ACConfig(value=False))
    """Architecture of the average policy and of the best response, each."""

    anticipatory_param: float = 0.1
    """Anticipatory parameter eta: probability that a player plays the best response in a game,
    instead of the average policy."""
    learning_rate: float = 1e-3
    """Initial learning rate of the best response (OpenSpiel: `rl_learning_rate`)."""
    final_learning_rate: float = 1e-4
    """Final learning rate of the best response, after a cosine decay."""
    sl_learning_rate: float = 1e-3
    """Initial learning rate of the average policy."""
    final_sl_learning_rate: float = 1e-4
    """Final learning rate of the average policy, after a cosine decay."""
    weight_decay: float = 0.0
    batch_size: int = 256
    """Transitions per minibatch, and as many decisions to imitate, sampled independently. Each
    minibatch is one gradient update of both networks."""
    replay_ratio: float = 2.0
    """Mean number of times that each transition is sampled for an update."""
    learning_starts: int = AUTO
    """Transitions collected before the first update. -1: 1/100 of the positions of the run (games,
    times the mean plies of random games), at least a minibatch (or 1/4 of the positions, if that is
    less), at most 5,000."""
    buffer_size: int = AUTO
    """Capacity of the ring buffer of transitions. -1: 1/10 of the positions of the run (see
    `learning_starts`), at most 200,000. The best response is learned against the average policies
    that played these transitions; in a large buffer, most of these policies are outdated."""
    reservoir_buffer_capacity: int = 500_000
    """Capacity of the reservoir buffer of the best response's decisions, a uniform sample of all of
    them."""

    exploration_initial_eps: float = 0.1
    """Initial probability of a random move of the best response (epsilon-greedy)."""
    exploration_final_eps: float = 0.0
    """Final probability of a random move, after a linear decay."""
    exploration_fraction: float = 1.0
    """Fraction of the games over which the exploration rate decays."""
    gamma: float = 1.0
    """Discount factor per decision of a player."""
    double_q: bool = True
    """Double DQN: the online network selects the next action, the target network evaluates it."""
    target_update_interval: int = 200
    """Updates between copies of the online network to the target network; 0: no target network."""

    eval_opponents: tuple[str, ...] = ("random",)
    """Opponents in evaluations, as spec strings; each takes all other seats. The evaluation score
    is the mean over them."""
    checkpoint_selection: Literal["best", "last"] = "last"
    final_eval_games: int = 250

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_auto("buffer_size")
        self.check_auto("learning_starts", least=0)
        check_integer("reservoir_buffer_capacity", self.reservoir_buffer_capacity, 1, 10**9)
        check_integer("target_update_interval", self.target_update_interval, 0, 2**62)
        check_choice("double_q", self.double_q, (False, True))
        for name in (
            "anticipatory_param",
            "exploration_initial_eps",
            "exploration_final_eps",
            "exploration_fraction",
            "gamma",
        ):
            check_real(name, getattr(self, name), 0, 1)
        for name in ("sl_learning_rate", "final_sl_learning_rate"):
            check_real(name, getattr(self, name), 0, 1e9)
        if self.network.value:
            raise ValueError(
                "the networks of NFSP have no value head: expected network.value=False, got True"
            )
        if not self.eval_opponents:
            raise ValueError("eval_opponents must name at least one opponent, got none")


@dataclass(frozen=True)
class NFSPRollout:
    """Rollout of B games of P players, with N decisions in order of play.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: returns of all players. Shape `[B, P]`.
        responders: whether each player plays the best response in the game. Shape `[B, P]`.
        env_indices: game of each decision. Shape `[N]`.
        seats: player of each decision. Shape `[N]`.
        planes: observations, packed by `ludoteca.train.replay.Packing`. Shape `[N, bytes]`.
        masks: legal actions, packed likewise. Shape `[N, bytes]`.
        actions: actions, in the network's numbering (see `SeatEncoder`). Shape `[N]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    responders: NDArray[np.bool_]
    env_indices: NDArray[np.int32]
    seats: NDArray[np.int8]
    planes: NDArray[np.uint8]
    masks: NDArray[np.uint8]
    actions: ActionArray


class NFSP(Algorithm[NFSPConfig]):
    """Neural fictitious self-play; see `Algorithm` for its methods.

    Attributes:
        transitions: columns of the ring buffer.
        decisions: columns of the reservoir buffer.
        target: target network of the best response; set by `begin_learning`.
    """

    title = "Neural fictitious self-play"
    module = "ludoteca.train.nfsp"
    config_class, rollout_class = NFSPConfig, NFSPRollout
    encoder_class, make_network, load_network = SeatEncoder, make_nfsp_network, load_nfsp_network
    agent_name, agent_class = "nfsp", NFSPAgent
    learns_one_player = False  # without other players there is no policy to respond to
    reservoir = True
    limits = AutoLimits(
        games_per_iteration=128,
        log_interval=1_024,
        eval_interval=10_240,
        start=("learning_starts", 5_000),
        buffer=("buffer_size", 200_000),
        buffer_fraction=0.1,
    )
    rollout_metrics = ("plies", "decisions", "best_response_return")
    summed_metrics = ("decisions",)
    loss_metrics = ("rl_loss", "sl_loss", "entropy")
    plotted_losses = ("rl_loss", "sl_loss")

    def __init__(self, config: NFSPConfig, game: Game, network: NFSPNetwork):
        super().__init__(config, game, network)
        self.encoder = SeatEncoder(game, config.network.view)
        decision: dict[str, Kind] = {"planes": "planes", "mask": "mask", "action": "action"}
        next_decision: dict[str, Kind] = {"next_planes": "planes", "next_mask": "mask"}
        scalars: dict[str, Kind] = dict.fromkeys(("reward", "discount", "imitated"), "scalar")
        transitions = decision | scalars | next_decision
        decisions = {DECISION + name: kind for name, kind in decision.items()}
        self.transitions = ExampleLayout(self.encoder, transitions)
        self.decisions = ExampleLayout(self.encoder, decisions)
        self.layout = ExampleLayout(self.encoder, transitions | decisions)

    def collect(self, infer: Inference, rng: np.random.Generator, games: int) -> NFSPRollout:
        """Play a rollout after `games` games of the run.

        In each game, each player plays the best response with probability eta.
        """
        batch, epsilon = self.rollout_games, epsilon_at(self.config, games)
        batch.reset(rng)
        shape = (batch.count, self.game.num_players)
        responders = rng.random(shape) < self.config.anticipatory_param
        lengths = np.zeros(batch.count, np.int64)
        decisions: list[tuple[NDArray[Any], ...]] = []
        for turn in batch.turns():
            responds = responders[turn.env_indices, turn.movers]
            actions = self._act(infer, turn, responds, epsilon, rng)
            decisions.append(
                (
                    turn.env_indices.astype(np.int32),
                    turn.movers.astype(np.int8),
                    self.layout.planes.pack(turn.planes),
                    self.layout.masks.pack(turn.masks),
                    actions.astype(self.game.action_dtype),
                )
            )
            batch.step(turn, self.encoder.translate(actions, turn.movers))
            lengths[turn.env_indices] = turn.ply + 1
        columns = (np.concatenate(parts) for parts in zip(*decisions, strict=True))
        return NFSPRollout(lengths, batch.returns, responders, *columns)

    def _act(
        self,
        infer: Inference,
        turn: Turn,
        responds: NDArray[np.bool_],
        epsilon: float,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return actions of the best response (epsilon-greedy) or of the average policy.

        Args:
            infer: forward pass of both networks for the same observations. It returns logits of the
                average policy, then Q values of the best response, `[K, 2 * num_actions]`.
            turn: K decisions.
            responds: whether the best response decides. Shape `[K]`.
            epsilon: exploration rate.
            rng: random stream of the rollout.
        """
        outputs, count = infer(turn.planes), len(turn.movers)
        logits, q_values = np.split(outputs, 2, axis=1)
        policies = masked_softmax(logits, turn.masks).astype(np.float64)
        averages = sample_by_weight(policies, rng.random(count))
        best = np.where(turn.masks == 1, q_values, -np.inf).argmax(1)
        random = sample_legal(turn.masks, rng.random(count))
        best = np.where(rng.random(count) < epsilon, random, best)
        return np.where(responds, best, averages)

    def targets(self, rollout: NFSPRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return the transition of each decision to the player's next one."""
        rewards, following = self._transitions(rollout)
        records = np.zeros(len(rewards), self.transitions.dtype)
        records["planes"], records["mask"] = rollout.planes, rollout.masks
        records["action"], records["reward"] = rollout.actions, rewards
        records["imitated"] = rollout.responders[rollout.env_indices, rollout.seats]
        has_next = following >= 0
        records["discount"] = np.where(has_next, self.config.gamma, 0)
        records["next_planes"][has_next] = rollout.planes[following[has_next]]
        records["next_mask"][has_next] = rollout.masks[following[has_next]]
        return records

    def _transitions(self, rollout: NFSPRollout) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return rewards, and indices of the players' next decisions, or -1. Shapes `[N]`."""
        players = rollout.env_indices.astype(np.int64) * self.game.num_players + rollout.seats
        order = np.argsort(players, kind="stable")
        same_player = players[order[1:]] == players[order[:-1]]
        following = np.full(len(players), -1)
        following[order[:-1][same_player]] = order[1:][same_player]
        returns = rollout.returns[rollout.env_indices, rollout.seats]
        return np.where(following < 0, returns, 0).astype(np.float32), following

    def loss(self, batch: Tensors) -> Tensors:
        """Compute the squared TD error of Q plus the cross-entropy of the average policy."""
        # The average policy sees the first planes, the best response the last, see `NFSPNetwork`.
        planes = torch.cat([batch[f"{DECISION}planes"], batch["planes"]], 1)
        logits, q_values = self.model.outputs(planes).chunk(2, 1)
        chosen = q_values.gather(1, batch["action"][:, None])[:, 0]
        rl_loss = functional.mse_loss(chosen, self.td_targets(batch))
        log_policy = logits.masked_fill(batch[f"{DECISION}mask"] == 0, ILLEGAL_LOGIT).log_softmax(1)
        sl_loss = functional.nll_loss(log_policy, batch[f"{DECISION}action"])
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        losses = {"rl_loss": rl_loss, "sl_loss": sl_loss, "entropy": entropy}
        return {"loss": rl_loss + sl_loss, **losses}

    def td_targets(self, batch: Tensors) -> Tensor:
        """Return TD targets `reward + discount * Q(next, best)`. Shape `[N]`."""
        with torch.no_grad():
            planes, illegal = batch["next_planes"], batch["next_mask"] == 0
            values = self.model.evaluate(self.target, planes)
            selecting = self.network.best_response if self.config.double_q else self.target
            q_values = self.model.evaluate(selecting, planes)
            best = q_values.masked_fill(illegal, ILLEGAL_LOGIT).argmax(1, keepdim=True)
            return batch["reward"] + batch["discount"] * values.gather(1, best)[:, 0]

    def begin_learning(self, model: Model) -> None:
        """Copy the best response to the target network, unless there is none."""
        super().begin_learning(model)
        best_response = self.network.best_response
        has_target = self.config.target_update_interval > 0
        self.target = copy.deepcopy(best_response) if has_target else best_response

    def after_update(self, updates: int) -> None:
        """Update the target network at its interval."""
        interval = self.config.target_update_interval
        if interval and updates % interval == 0:
            self.target.load_state_dict(self.network.best_response.state_dict())

    def networks(self) -> dict[str, nn.Module]:
        """Return the two networks, and the target network of the best response."""
        return {"network": self.network, "target": self.target}

    def optimized(self) -> tuple[nn.Module, ...]:
        """Return the average policy and the best response."""
        return (self.network.average_policy, self.network.best_response)

    def learning_rates(self, progress: float) -> tuple[float, ...]:
        """Return the learning rates of the average policy and of the best response."""
        config = self.config
        average = learning_rate(config.sl_learning_rate, config.final_sl_learning_rate, progress)
        return (average, *super().learning_rates(progress))

    def measure(self, rollout: NFSPRollout) -> dict[str, tuple[float, float]]:
        """Return sums and counts: plies, decisions, and returns of the best response.

        The returns are those of games in which all other players played the average policy.
        """
        only_responder = rollout.responders & (rollout.responders.sum(1, keepdims=True) == 1)
        return {
            "plies": (int(rollout.lengths.sum()), len(rollout.lengths)),
            "decisions": (len(rollout.actions), 1),
            "best_response_return": (
                float(rollout.returns[only_responder].sum()),
                int(only_responder.sum()),
            ),
        }

    def metrics(self, games: int) -> dict[str, float | int | None]:
        """Return the exploration rate."""
        return {"epsilon": epsilon_at(self.config, games)}

    def agent(self) -> SeatNetworkAgent:
        """Return an agent that samples the average policy."""
        config, network = self.config, self.network.average_policy
        runner = Runner(network, self.encoder.scale, config.device, config.precision)
        return SeatNetworkAgent(self.encoder, runner, temperature=1.0)

    def report_text(self) -> ReportText:
        """Return the description of the run in its report."""
        return ReportText("itself", "any", "The average policy is sampled, without search.")


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("nfsp")
