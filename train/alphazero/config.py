"""Settings of AlphaZero."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.guided.selection import SelectionParams
from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.scale import Limits
from ludoteca.train.settings import AUTO, RoundConfig

LIMITS = Limits(
    games_per_round=256,
    log_every=512,
    evaluate_every=2_560,
    start=("warm_up", 10_000),
    buffer=("window", 500_000),
    buffer_share=0.5,  # searches of young networks are soon worth less
)


@dataclass(frozen=True)
class Config(RoundConfig):
    """Settings; with the same ones, a run gives the same network on the same machine."""

    folder: Path = Path("runs/alphazero")
    game: str = "othello"
    """The game, for two players who move in turn, as a spec string."""
    games: int = 20_000
    """How many games of self-play. A run can be made longer; its learning rate falls over all."""
    network: PVConfig = field(default_factory=PVConfig)

    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam with decoupled weight decay, or SGD with momentum 0.9."""
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    """Of either optimizer."""
    replay_ratio: float = 3.0
    warm_up: int = AUTO
    """Positions before the first update. -1: a hundredth of the run, at most 10,000."""

    evaluate_against: tuple[str, ...] = ("random", "mcts:simulations=200")
    """Opponents there; the last one tells which network is the best."""
    select: Literal["best", "last"] = "last"

    evaluate_simulations: int = 32
    """Of each search in evaluations."""

    rule: Literal["puct", "gumbel"] = "gumbel"
    """How searches choose: `gumbel` learns from few simulations (Danihelka et al., 2022)."""
    simulations: int = 32
    """Of a full search, whose policy is learned from."""
    fast_simulations: int = 8
    """Of a fast one, which only chooses a move (playout cap randomization: Wu, "Accelerating
    self-play learning in Go", 2019, section 3.1)."""
    full_share: float = 1.0
    """Share of full searches."""
    considered: int = 16
    """Gumbel: moves that are tried at most."""
    c: float = 1.25
    """PUCT's constant."""
    noise: float = 0.25
    """PUCT: share of Dirichlet noise in the priors of roots of full searches."""
    concentration: float = 0.0
    """Of that noise; 0: 10 divided by the mean number of legal moves."""
    temperature: float = 1.0
    """PUCT: moves are drawn by visits ** (1 / temperature), at first."""
    temperature_plies: int = 12
    """For so many plies; then the best is played."""
    random_plies: int = 2
    """So many plies at most, drawn for each game, begin it at random, some by the network's policy
    and some uniformly, in shares drawn for each game. Results are only learned from after them.
    The more of them, the better the network knows positions that it would avoid, and others will
    lead it to."""

    exact: int = 0
    """Games of which endgames can be solved: positions with at most so many empty squares are
    solved and played perfectly, without search; see `ludoteca.agents.games.endgame`."""
    outcome_weight: float = 0.75
    """Values are learned from so much of the game's result, and the search's value for the rest."""
    value_weight: float = 1.0
    """Of the value's loss, mean squared error, beside the policy's, cross-entropy."""
    window: int = AUTO
    """Positions kept. -1: half of the run, at most 500,000."""

    gate_every: int = 0
    """Games between trials of the network: it plays only if it beats the last one that did (Silver
    et al., "Mastering the game of Go without human knowledge", 2017); 0: the latest always does."""
    gate_games: int = 100
    """Games of a trial."""
    gate_share: float = 0.55
    """Score that it needs there."""

    @property
    def search_rule(self) -> SelectionParams:
        """How searches choose, in self-play and evaluations."""
        return SelectionParams(gumbel=self.rule == "gumbel", c_init=self.c)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("simulations", "considered"):
            integer(name, getattr(self, name), 1, 10**9)
        self.check_auto("window")
        self.check_auto("warm_up", least=0)
        for name in (
            "fast_simulations",
            "temperature_plies",
            "random_plies",
            "exact",
            "gate_every",
        ):
            integer(name, getattr(self, name), 0, 2**62)
        integer("evaluate_simulations", self.evaluate_simulations, 0, 10**6)
        integer("gate_games", self.gate_games, 2, 10**6)
        for name in ("full_share", "noise", "outcome_weight", "gate_share"):
            real(name, getattr(self, name), 0, 1)
        for name in ("c", "concentration", "temperature", "value_weight"):
            real(name, getattr(self, name), 0, 1e9)
        choice("rule", self.rule, ("puct", "gumbel"))
        if not self.evaluate_against:
            raise ValueError("evaluate_against must name at least one opponent, got none")


MODERN = Config()
