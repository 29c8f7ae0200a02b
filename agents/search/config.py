"""Configuration of a search: `SearchConfig` at compile time, `SEARCH_PARAMS` at run time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_STATISTIC
from ludoteca.agents.softmax_playouts import find_move_features
from ludoteca.envs.game import MAX_TOGETHER, Game
from ludoteca.envs.params import check_choice

STRATEGIES = ("", "mab", "he", "nmc", "lsi")  # strategies of on-line tuning; "": none


@dataclass(frozen=True)
class SearchConfig:
    """Options that are compiled into a search.

    An arm is an action of one player in one node, as in a multi-armed bandit.

    Attributes:
        policy: a name in `policies.POLICIES`.
        draw_is_loss: score a draw 0 for every player instead of 1/2, as Valencia's thesis on
            General Game Playing (UAEMex, 2021) does.
        solver: back up proven wins, draws and losses (sequential games for two players).
        amaf: all-moves-as-first (AMAF) statistics in selection: `""`, `"amaf"` (constant weight),
            `"rave"` or `"grave"`, see `ludoteca.agents.search.select.make_mixed_mean`.
        amaf_fpu: the first-play urgency of an action with AMAF statistics is its AMAF mean.
            Sequential games only.
        mast: `""`, `"gibbs"` or `"greedy"`: move-average sampling in playouts (Finnsson and
            Bjornsson, "Simulation-based approach to general game playing", 2008; epsilon-greedy
            after Tak, Winands and Bjornsson, "N-grams and the last-good-reply policy applied in
            general game playing", 2012).
        decisive: `""`; `"win"`: play a winning move at once, in the tree and in playouts; `"both"`:
            in the tree also avoid moves after which the opponent could win at once, if there are
            others (Teytaud and Teytaud, "On the huge benefit of decisive moves", 2010). Sequential
            games only.
        transpositions: equal positions share their children and statistics
            (UCT1 of Childs, Brodeur and Kocsis, "Transpositions and move groups", 2008). Sequential
            games only.
        shared_tree: several threads search one tree (tree parallelization). Sequential games only.
        playout: a name of `ludoteca.agents.playouts.playout_names`, or `"softmax"`.
        evaluation: evaluation of truncated playouts, see
            `ludoteca.agents.evaluations.find_evaluation`.
        many_playouts: each leaf is evaluated by the mean of several playouts, see
            `ludoteca.agents.search.leaf_parallel`.
        exploration_schedule: the exploration factor decays over the budget of a search, see
            `ludoteca.agents.search.exploration.make_exploration`.
        exploration_by_depth: the exploration factor is multiplied by `depth_decay` at each ply.
        exploration_stdev: `""`; `"node"` or `"root"`: the exploration factor is proportional to the
            standard deviation of the scores in the node or in the root.
        groups: `""`, or the name of a partition of the actions into move groups, see
            `sequential.groups` and `ludoteca.agents.move_groups`. Sequential games only.
        tune: `""`, or the strategy by which the parameters of each simulation are selected, see
            `ludoteca.agents.search.tuning`. Sequential games only.
    """

    policy: str = "ucb1"
    draw_is_loss: bool = False
    solver: bool = False
    amaf: str = ""
    amaf_fpu: bool = False
    mast: str = ""
    decisive: str = ""
    transpositions: bool = False
    shared_tree: bool = False
    playout: str = "uniform"
    evaluation: str = ""
    many_playouts: bool = False
    exploration_schedule: bool = False
    exploration_by_depth: bool = False
    exploration_stdev: str = ""
    groups: str = ""
    tune: str = ""

    def __post_init__(self) -> None:
        check_choice("policy", self.policy, tuple(POLICIES))
        check_choice("amaf", self.amaf, ("", "amaf", "rave", "grave"))
        check_choice("mast", self.mast, ("", "gibbs", "greedy"))
        check_choice("decisive", self.decisive, ("", "win", "both"))
        check_choice("exploration.stdev", self.exploration_stdev, ("", "node", "root"))
        check_choice("tune", self.tune, STRATEGIES)
        if not isinstance(self.groups, str):
            raise ValueError(f"groups must be the name of a partition, got {self.groups!r}")
        if self.scales_exploration and not POLICIES[self.policy].has_exploration_term:
            names = ", ".join(name for name in POLICIES if POLICIES[name].has_exploration_term)
            raise ValueError(
                f"exploration needs a policy with an exploration term, one of {names}, got "
                f"policy={self.policy!r}"
            )
        if self.groups and POLICIES[self.policy].statistic is not NO_STATISTIC:
            raise ValueError(
                f"groups need a policy without statistics of its own, got policy={self.policy!r}"
            )
        if self.mast and self.playout != "uniform":
            raise ValueError(
                f"mast={self.mast!r} needs uniform playouts, got playout={self.playout!r}"
            )
        if self.amaf_fpu and not self.amaf:
            raise ValueError("amaf.fpu needs amaf=amaf, rave or grave")
        if self.amaf_fpu and self.groups:
            raise ValueError(f"amaf.fpu needs groups='', got {self.groups!r}")
        if self.amaf and self.many_playouts:
            raise ValueError(
                f"amaf={self.amaf!r} needs playout.count=1: its visit counts are compared with "
                "those of nodes, which have one visit for all playouts of a leaf"
            )

    @property
    def scales_exploration(self) -> bool:
        """Whether the exploration term has a factor.

        See `ludoteca.agents.search.exploration.make_exploration`.
        """
        return bool(
            self.exploration_schedule or self.exploration_by_depth or self.exploration_stdev
        )


SEARCH_PARAMS = np.dtype(
    [
        ("policy_params", np.float64, (4,)),  # in the order of `SelectionPolicy.params`
        ("fpu", np.float64),  # first-play urgency: the score of an arm without visits
        ("amaf_weight", np.float64),  # "amaf": the weight; "rave", "grave": bias, sets its decay
        ("mast_parameter", np.float64),  # temperature (gibbs) or epsilon (greedy)
        ("final_exploration", np.float64),  # exploration factor at the end of the schedule
        ("exploration_exponent", np.float64),  # exponent of the schedule
        ("depth_decay", np.float64),  # exploration factor of one ply
        # Simulations of a thread in this search, before the current call and altogether; only for
        # the schedule.
        ("completed_simulations", np.int64),
        ("planned_simulations", np.int64),
        ("grave_reference", np.int32),  # visits above which an ancestor's AMAF statistics are used
        ("playout_depth", np.int32),  # plies of a playout before the position is evaluated
        ("max_depth", np.int32),  # maximum depth of the tree below its root; 0: unlimited
        ("playout_count", np.int32),  # playouts of a leaf, only with `many_playouts`
    ],
    align=True,
)


def plays_together(game: Game, config: SearchConfig) -> bool:
    """Return whether the playouts of a leaf are played together, if they are enough.

    MAST learns from one playout for the next, and decisive moves look at single successors.
    """
    one_by_one = config.mast != "" or config.decisive != ""
    return config.many_playouts and game.many is not None and not one_by_one


def work_dtype(game: Game, config: SearchConfig | None = None) -> np.dtype[np.void]:
    """Return the record dtype of one thread's scratch space.

    Softmax playouts, and many playouts of a leaf, need the `config`.
    """
    is_softmax = config is not None and config.playout == "softmax"
    features = find_move_features(game) if is_softmax else None
    players, actions, plies = game.num_players, game.num_actions, game.max_plies + 1
    action_dtype = game.action_dtype
    per_ply = (players,) if game.simultaneous else ()
    moves = plies * (players if game.simultaneous else 1)
    scores = np.float64 if game.simultaneous else np.float32
    leaf_fields: list[tuple[Any, ...]] = []
    if config is not None and config.many_playouts:
        together = MAX_TOGETHER if plays_together(game, config) else 0
        leaf_fields = [
            ("leaf_rng", np.uint64, (1,)),  # random stream that seeds those of the playouts
            ("score_sums", np.float64, (players,)),  # of the playouts
            ("streams", np.uint64, (together,)),  # random streams of the playouts
            ("running", np.uint8, (together,)),  # 1 for a playout that has not ended, else 0
        ]
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),  # random stream
            ("probability", np.float64),  # probability with which the last arm was sampled
            ("decay", np.float64),  # exploration factor by schedule and depth
            ("exploration", np.float64),  # exploration factor of the current selection
            ("urgency", np.float64),  # first-play urgency, with `amaf_fpu`
            ("root_stdev", np.float64, (players,)),  # standard deviations of scores in the root
            ("mast_value", np.float64, (players, actions)),  # MAST: sum of scores
            ("weights", np.float64, (actions,)),  # unnormalized probabilities of arms
            # AMAF statistics of the reference node of GRAVE, by action; visits are -1 without one.
            ("reference_value", np.float64, (actions,)),
            ("reference_visits", np.int32, (actions,)),
            ("reference_node", np.int32),  # node of these statistics, in a sequential game
            ("reference_nodes", np.int32, (players,)),  # the nearest one for each player to move
            # Softmax playouts: weights of features, and the active features of a move.
            ("playout_weights", np.float64, (features.num_features if features else 0,)),
            ("features", np.int16, (features.max_active if features else 0,)),
            ("probabilities", np.float64, (plies, *per_ply)),  # `probability`, along the path
            ("scores", scores, (players,)),  # the players' scores of the simulation, in [0, 1]
            ("joint", np.int64, (players,)),  # joint action: one action per player
            ("simulation", np.int32),  # number of the simulation, for `last_seen`
            # Length of the move record, see `ludoteca.agents.search.playouts.make_move_record`.
            ("num_moves", np.int32),
            ("mast_visits", np.int32, (players, actions)),  # MAST: number of scores
            ("last_seen", np.int32, (players, actions)),  # last simulation that played the action
            ("group_prior", np.float64),  # prior probability of each move group
            # Move groups of a node, by group; members that are proven are left out.
            ("group_value", np.float64, (actions,)),  # sum of scores
            ("group_square", np.float64, (actions,)),  # sum of squared scores
            ("group_visits", np.int32, (actions,)),
            ("group_size", np.int32, (actions,)),  # number of members, proven ones included
            ("group_unvisited", np.int32, (actions,)),  # number of members without visits
            ("group_open", np.int32, (actions,)),  # number of members that are not proven
            ("group_index", np.int32, (actions,)),  # group of a node, by number of the partition
            ("path", np.int32, (plies,)),  # visited nodes, the root first
            ("legal", action_dtype, (actions,)),  # legal actions
            ("replies", action_dtype, (actions,)),  # legal actions after a move
            ("path_actions", action_dtype, (plies, *per_ply)),  # actions along the path
            ("move_actions", action_dtype, (moves,)),  # move record: every action of the simulation
            ("move_players", np.int8, (moves,)),  # move record: the player of each action
            *leaf_fields,
        ],
        align=True,
    )
