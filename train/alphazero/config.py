"""Settings of AlphaZero."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludoteca.agents.guided.selection import SelectionParams
from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.envs.params import choice, integer, real
from ludoteca.train.auto_settings import AutoLimits
from ludoteca.train.settings import AUTO, RLConfig

LIMITS = AutoLimits(
    games_per_iteration=256,
    log_interval=512,
    eval_interval=2_560,
    start=("learning_starts", 10_000),
    buffer=("buffer_size", 500_000),
    buffer_share=0.5,  # searches of young networks are soon worth less
)


@dataclass(frozen=True)
class AlphaZeroConfig(RLConfig):
    """Settings; with the same ones, a run gives the same network on the same machine."""

    run_dir: Path = Path("runs/alphazero")
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
    learning_starts: int = AUTO
    """Positions before the first update. -1: a hundredth of the run, at most 10,000."""

    eval_opponents: tuple[str, ...] = ("random", "mcts:simulations=200")
    """Opponents there; the last one tells which network is the best."""
    checkpoint_selection: Literal["best", "last"] = "last"

    eval_simulations: int = 32
    """Of each search in evaluations."""

    search_policy: Literal["puct", "gumbel"] = "gumbel"
    """How searches choose: `gumbel` learns from few simulations (Danihelka et al., 2022)."""
    num_simulations: int = 32
    """Of a full search, whose policy is learned from."""
    fast_simulations: int = 8
    """Of a fast one, which only chooses a move (playout cap randomization: Wu, "Accelerating
    self-play learning in Go", 2019, section 3.1)."""
    full_search_prob: float = 1.0
    """Share of full searches."""
    max_num_considered_actions: int = 16
    """Gumbel: moves that are tried at most."""
    c_puct: float = 1.25
    """PUCT's constant."""
    dirichlet_fraction: float = 0.25
    """PUCT: share of Dirichlet noise in the priors of roots of full searches."""
    dirichlet_alpha: float = 0.0
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

    solver_empties: int = 0
    """Games of which endgames can be solved: positions with at most so many empty squares are
    solved and played perfectly, without search; see `ludoteca.agents.games.endgame`."""
    outcome_weight: float = 0.75
    """Values are learned from so much of the game's result, and the search's value for the rest."""
    vf_coef: float = 1.0
    """Of the value's loss, mean squared error, beside the policy's, cross-entropy."""
    buffer_size: int = AUTO
    """Positions kept. -1: half of the run, at most 500,000."""

    gating_interval: int = 0
    """Games between trials of the network: it plays only if it beats the last one that did (Silver
    et al., "Mastering the game of Go without human knowledge", 2017); 0: the latest always does."""
    gating_games: int = 100
    """Games of a trial."""
    gating_threshold: float = 0.55
    """Score that it needs there."""

    @property
    def search_rule(self) -> SelectionParams:
        """How searches choose, in self-play and evaluations."""
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
