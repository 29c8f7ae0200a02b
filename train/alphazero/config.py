"""Settings of AlphaZero."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.agents.search.network.selection import SelectionParams
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.auto_settings import AutoLimits
from ludoteca.train.settings import AUTO, RLConfig

LIMITS = AutoLimits(
    games_per_iteration=256,
    log_interval=512,
    eval_interval=2_560,
    start=("learning_starts", 10_000),
    buffer=("buffer_size", 500_000),
    buffer_share=0.5,  # targets of early networks are soon outdated
)


@dataclass(frozen=True)
class AlphaZeroConfig(RLConfig):
    """Settings of AlphaZero."""

    run_dir: Path = Path("runs/alphazero")
    game: str = "othello"
    """Sequential two-player game, as a spec string."""
    games: int = 20_000
    """Number of self-play games. A finished run can be extended with a larger number; the learning
    rate schedule covers all games."""
    network: PVConfig = field(default_factory=PVConfig)

    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam with decoupled weight decay (AdamW). `sgd`: SGD with momentum 0.9."""
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    """Weight decay coefficient, of either optimizer."""
    replay_ratio: float = 3.0
    learning_starts: int = AUTO
    """Positions collected before the first update. -1: 1/100 of those of the run, at most
    10,000."""

    eval_opponents: tuple[str, ...] = ("random", "mcts:simulations=200")
    """Opponents in evaluations, as spec strings. The evaluation score is the one against the last
    of them."""
    checkpoint_selection: Literal["best", "last"] = "last"

    eval_simulations: int = 32
    """Simulations per move in evaluations; 0: no search."""

    search_policy: Literal["puct", "gumbel"] = "gumbel"
    """Search policy: `puct` (AlphaZero), or `gumbel`, which learns from few simulations (Danihelka
    et al., 2022)."""
    num_simulations: int = 32
    """Simulations of a full search; its policy is a training target."""
    fast_simulations: int = 8
    """Simulations of a fast search, which only selects a move (playout cap randomization: Wu,
    "Accelerating self-play learning in Go", 2019, section 3.1)."""
    full_search_prob: float = 1.0
    """Probability of a full search; 1: no playout cap randomization."""
    max_num_considered_actions: int = 16
    """Gumbel: maximum number of actions considered at the root."""
    c_puct: float = 1.25
    """PUCT: exploration constant."""
    dirichlet_fraction: float = 0.25
    """PUCT: fraction of Dirichlet noise in the root priors of full searches."""
    dirichlet_alpha: float = 0.0
    """PUCT: concentration of the Dirichlet noise; 0: 10 / (mean number of legal actions)."""
    temperature: float = 1.0
    """PUCT: sample moves in proportion to visits ** (1 / temperature), in the first
    `temperature_plies` plies."""
    temperature_plies: int = 12
    """PUCT: plies with sampled moves; afterwards the best move is played."""
    random_plies: int = 2
    """Maximum number of random opening plies; the number of each game is uniform from 0 to it. A
    fraction of them, drawn for each game, is uniform over legal moves, the others are sampled from
    the policy network. Game results are value targets only after them. More of them train the
    network on positions that it would avoid, and that opponents lead it to."""

    solver_empties: int = 0
    """Endgame solver: positions with at most this number of empty squares are solved and played
    perfectly, without search (for games with a solver, see `ludoteca.agents.games.endgame`); 0: no
    solver."""
    outcome_weight: float = 0.75
    """Weight of the game's result in value targets; the rest is the root value of the search."""
    vf_coef: float = 1.0
    """Coefficient of the value loss (mean squared error); that of the policy loss (cross-entropy)
    is 1."""
    buffer_size: int = AUTO
    """Capacity of the replay buffer, in positions. -1: half of those of the run, at most
    500,000."""

    gating_interval: int = 0
    """Games between gatekeeper matches: a candidate network replaces the self-play network only if
    it beats it (Silver et al., "Mastering the game of Go without human knowledge", 2017); 0: no
    gating, the latest network plays."""
    gating_games: int = 100
    """Games of a gatekeeper match."""
    gating_threshold: float = 0.55
    """Score that the candidate needs in a gatekeeper match."""

    @property
    def search_rule(self) -> SelectionParams:
        """Selection rule of searches, in self-play and evaluations."""
        return SelectionParams(gumbel=self.search_policy == "gumbel", c_init=self.c_puct)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("num_simulations", "max_num_considered_actions"):
            integer(name, getattr(self, name), 1, 10**9)
        self.check_auto("buffer_size")
        self.check_auto("learning_starts", least=0)
        for name in (
            "fast_simulations",
            "temperature_plies",
            "random_plies",
            "solver_empties",
            "gating_interval",
        ):
            integer(name, getattr(self, name), 0, 2**62)
        integer("eval_simulations", self.eval_simulations, 0, 10**6)
        integer("gating_games", self.gating_games, 2, 10**6)
        for name in (
            "full_search_prob",
            "dirichlet_fraction",
            "outcome_weight",
            "gating_threshold",
        ):
            real(name, getattr(self, name), 0, 1)
        for name in ("c_puct", "dirichlet_alpha", "temperature", "vf_coef"):
            real(name, getattr(self, name), 0, 1e9)
        choice("search_policy", self.search_policy, ("puct", "gumbel"))
        if not self.eval_opponents:
            raise ValueError("eval_opponents must name at least one opponent, got none")


DEFAULT = AlphaZeroConfig()
