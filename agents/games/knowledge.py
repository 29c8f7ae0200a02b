"""Knowledge of one game: policies, evaluations, features, endgame solver, OpenSpiel's version."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ludoteca.agents.agent import Policy
from ludoteca.envs.game import Game
from ludoteca.envs.targets import load_target

# An evaluation kernel, `evaluate(s, out)`, which writes one score in [-1, 1] per player to `out`.
Evaluation = Callable[[Any, Any], None]
# A reward kernel, `reward(s, player, plies) -> float`, after a playout of `plies` plies.
Reward = Callable[[Any, int, int], float]
# A kernel that partitions actions, `group(s, action) -> int`, from 0 to `num_actions - 1`.
MoveGroup = Callable[[Any, int], int]
# An import target, `"module:attribute"`, loaded at the first use.
Target = str


@dataclass(frozen=True)
class Knowledge:
    """Game-specific knowledge of agents beyond the rules; every part is optional.

    Attributes:
        greedy: policy of the agent `greedy`, also the playout policy `"greedy"`.
        playouts: playout policies by name.
        default_playout: name and depth in plies of the playouts that agents use by default; None
            for uniformly random playouts to the end of the game.
        evaluations: evaluations of unfinished positions, by name, for alpha-beta search and for
            truncated playouts; the first is the default. Scores are strictly between -1 and 1.
        move_groups: functions from the game to a partition of its actions, by name, see
            `ludoteca.agents.move_groups`.
        move_features: function from the game to the features of its moves, for softmax playouts.
        playout_reward: reward of a playout for the agent `flat`, in place of the return.
        features: hand-crafted features for networks, a target of type `HandCraftedFeatures`.
        endgame_solver: class of the endgame solver, a target: an `EndgameSolver` that is made with
            the game.
        openspiel: function from the game to OpenSpiel's version of it (a `Counterpart`), a target.
    """

    greedy: Policy | None = None
    playouts: Mapping[str, Policy] = field(default_factory=dict)
    default_playout: tuple[str, int] | None = None
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    move_groups: Mapping[str, Callable[[Game], MoveGroup]] = field(default_factory=dict)
    move_features: Callable[[Game], "MoveFeatures"] | None = None
    playout_reward: Reward | None = None
    features: Target = ""
    endgame_solver: Target = ""
    openspiel: Target = ""


class MoveFeatures(NamedTuple):
    """Binary features of the moves of a sequential game.

    Attributes:
        num_features: number of features.
        max_active: maximum number of active features of a move.
        write: kernel `write(s, action, out) -> n`, which writes the indices of the active features
            of an action of the player to move to `out[:n]`, int16 `[max_active]`.
    """

    num_features: int
    max_active: int
    write: Callable[[Any, int, Any], int]


class HandCraftedFeatures(NamedTuple):
    """Hand-crafted features of a game for networks, used in place of its observation.

    Attributes:
        planes: number of planes.
        high: largest value.
        workspace_rows: function from the number of players to the rows of the kernels' workspace,
            int32 `[rows, cells]`.
        prepare: kernel `prepare(s, workspace)`, which computes the parts that all players share.
        observe: kernel `observe(s, player, workspace, out)`, which writes the planes to `out`, int8
            `[planes, rows, columns]`.
        safe_actions: kernel `safe_actions(s, player, workspace, out) -> count`, which writes the
            mask of the actions that do not certainly lose, int8 `[num_actions]`, to `out`, and
            returns their number.
    """

    planes: int
    high: int
    workspace_rows: Callable[[int], int]
    prepare: Callable[..., None]
    observe: Callable[..., None]
    safe_actions: Callable[..., int]


def load(target: Target) -> Any:
    """Import the object that a target names."""
    return load_target(target)
