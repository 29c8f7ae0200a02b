"""Games of self-play with search, side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.dqn import nth_legal
from ludoteca.agents.guided.search import Evaluate, GuidedSearch
from ludoteca.agents.guided.selection import Rule
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.envs.lanes import Lanes
from ludoteca.envs.stepper import EVERY_SEAT, make_stepper, scratch_dtype
from ludoteca.train.alphazero.config import Config
from ludoteca.train.replay import Packing


@dataclass(frozen=True)
class Round:
    """B games, each of at most T plies.

    Attributes:
        lengths: plies of each game. Shape `[B]`.
        returns: results for player 0. Shape `[B]`.
        planes: what the mover saw, packed. Shape `[B, T, bytes]`.
        policies: what the search made of the moves, as the network numbers them, float16. Shape
            `[B, T, A]`.
        values: what the search thought of the position, for the mover. Shape `[B, T]`.
        movers: who moved. Shape `[B, T]`.
        full: whether the search was a full one, to be learned from. Shape `[B, T]`.
    """

    lengths: NDArray[np.int64]
    returns: NDArray[np.float32]
    planes: NDArray[np.uint8]
    policies: NDArray[np.float16]
    values: NDArray[np.float32]
    movers: NDArray[np.int8]
    full: NDArray[np.bool_]


class SelfPlay:
    """Where a network plays rounds against itself."""

    def __init__(self, encoder: Encoder, config: Config):
        """Make room for a round of games."""
        game = encoder.game
        self._encoder, self._config = encoder, config
        self._lanes = Lanes(game, config.games_per_round)
        self._stepper = make_stepper(game)
        self._scratch = np.zeros(1, scratch_dtype(game))
        self._packing = Packing(encoder.shape, game.observation_high == 1)
        self._search = GuidedSearch(
            encoder,
            config.games_per_round,
            max(config.simulations, config.fast_simulations),
            Rule(gumbel=config.rule == "gumbel", c_init=config.c),
            config.considered,
        )

    def play(self, evaluate: Evaluate, rng: np.random.Generator) -> Round:
        """Play a game in every lane.

        Args:
            evaluate: the network.
            rng: decides about everything in the round.
        """
        game, lanes, count = self._encoder.game, self._lanes, self._config.games_per_round
        plies = game.max_plies
        lanes.lanes["rng"][:, 0] = rng.integers(2**63, size=count)
        everyone = np.ones(count, np.bool_)
        self._stepper.restart(lanes.states, lanes.lanes, everyone, lanes.history, EVERY_SEAT)
        opening = rng.integers(self._config.random_plies + 1, size=count)
        kept = Round(
            lengths=np.zeros(count, np.int64),
            returns=np.zeros(count, np.float32),
            planes=np.zeros((count, plies, self._packing.size), np.uint8),
            policies=np.zeros((count, plies, game.num_actions), np.float16),
            values=np.zeros((count, plies), np.float32),
            movers=np.zeros((count, plies), np.int8),
            full=np.zeros((count, plies), np.bool_),
        )
        for ply in range(plies):
            going = np.flatnonzero(~lanes.lanes["over"])
            if len(going) == 0:
                break
            self._ply(going, ply, kept, evaluate, rng, opening[going] > ply)
            kept.lengths[going] += 1
        kept.returns[:] = lanes.lanes["rewards"][:, 0]
        return kept

    def _ply(
        self,
        going: NDArray[np.int64],
        ply: int,
        kept: Round,
        evaluate: Evaluate,
        rng: np.random.Generator,
        opening: NDArray[np.bool_],
    ) -> None:
        """Play one ply in the lanes `going`."""
        config, lanes = self._config, self._lanes
        states, movers = lanes.states[going], lanes.lanes["mover"][going]
        seats = movers.astype(np.int64)
        planes, masks = self._encoder.encode(states, seats)
        full = rng.random(len(going)) < config.full_share
        found = self._search.run(
            states,
            evaluate,
            np.where(full, config.simulations, config.fast_simulations),
            rng,
            noise=1.0 if config.rule == "gumbel" else config.noise,
            concentration=config.concentration or 10 / float(masks.sum(1).mean()),
        )
        chosen = found.best
        if config.rule == "puct" and ply < config.temperature_plies and config.temperature > 0:
            chosen = draw(found.policy.astype(np.float64) ** (1 / config.temperature), rng)
        if opening.any():  # the network's policy, a little random, for different games
            priors = np.maximum(self._search.trees.priors[:, 0], 0).astype(np.float64)
            legal = (self._search.trees.priors[:, 0] >= 0).astype(np.int8)
            by_prior = draw(priors, rng)
            uniform = nth_legal(legal, rng.random(len(going)))
            mixed = np.where(rng.random(len(going)) < 0.25, uniform, by_prior)
            chosen = np.where(opening, mixed, chosen)
        kept.planes[going, ply] = self._packing.pack(planes)
        kept.policies[going, ply] = self._encoder.translate_policy(found.policy, seats)
        kept.values[going, ply] = found.value
        kept.movers[going, ply] = movers
        kept.full[going, ply] = full
        joint = np.zeros((len(going), 2), np.int64)
        joint[np.arange(len(going)), seats] = chosen
        wrong = self._stepper.reply(
            lanes.states, lanes.lanes, going, joint, lanes.history, self._scratch
        )
        assert wrong < 0, "the search chose an illegal action"


def draw(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw an action for each row of weights. Shape `[K]`."""
    shares = weights.cumsum(1)
    wanted = rng.random(len(weights)) * shares[:, -1]
    last = weights.shape[1] - 1  # rounding may leave a wish just above all shares
    chosen: NDArray[np.int64] = np.minimum((shares <= wanted[:, None]).sum(1), last)
    return chosen


def examples(played: Round, outcome_weight: float, dtype: Any) -> NDArray[np.void]:
    """Return what is to be learned from a round: positions of full searches.

    Args:
        played: a round.
        outcome_weight: share of the game's result in the value; the rest is the search's.
        dtype: of the records, with `planes`, `policy` and `value`.
    """
    learned = played.full & (np.arange(played.full.shape[1]) < played.lengths[:, None])
    game, ply = np.nonzero(learned)
    records = np.zeros(len(game), dtype)
    records["planes"] = played.planes[game, ply]
    records["policy"] = played.policies[game, ply]
    result = played.returns[game] * np.where(played.movers[game, ply] == 0, 1, -1)
    searched = played.values[game, ply]
    records["value"] = outcome_weight * result + (1 - outcome_weight) * searched
    return records
