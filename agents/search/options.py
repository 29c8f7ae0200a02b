"""Search options as users write them, and their translation to configuration and parameters.

An option with parameters of its own is a nested spec string, such as `policy="ucb_v:zeta=2"`. In
the spec string of an agent these are keys with a dot: `mcts:policy=ucb_v,policy.zeta=2`.
"""

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.playouts import choose_playout
from ludoteca.agents.search.config import SEARCH_PARAMS, STRATEGIES, SearchConfig
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import check_parameter_names
from ludoteca.agents.search.tuning import AMAF_WEIGHT, FPU, tuned_params
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.spec import parse_params

# Parameters of options and their defaults; None: the default depends on the option or the game.
AMAF_PARAMS = {"weight": None, "reference": 50, "fpu": False}
MAST_PARAMS = {"parameter": None}
EXPLORATION_PARAMS = {"final": 0.0, "exponent": None, "depth_decay": 1.0, "stdev": ""}
SCHEDULES = ("", "linear", "power")  # of the exploration factor; "": none
PLAYOUT_PARAMS = {"depth": None, "evaluation": "", "weights": "", "count": 1}
MAX_PLAYOUTS = 10**6  # of a leaf


class CommonOptions(TypedDict, total=False):
    """Options of every search, see `SearchOptions`."""

    draw: str
    fpu: float
    amaf: str
    mast: str
    playout: str
    exploration: str
    max_depth: int


class SequentialOptions(CommonOptions, total=False):
    """Options of a search in sequential games, see `SearchOptions`."""

    solver: bool
    transpositions: bool
    decisive: str
    groups: str
    tune: str


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search, see `MCTSAgent`."""

    policy: str = "ucb1"
    draw: str = "half"
    fpu: float = math.inf
    solver: bool = False
    transpositions: bool = False
    amaf: str = ""
    mast: str = ""
    decisive: str = ""
    playout: str = ""
    exploration: str = ""
    max_depth: int = 0
    groups: str = ""
    tune: str = ""

    def config(self, game: Game, shared_tree: bool = False) -> SearchConfig:
        """Return the options that are compiled into the search.

        Raises:
            ValueError: if an option is out of range, or does not apply to the game.
        """
        if self.solver and game.num_players != 2:
            raise ValueError(f"solver needs two players, and {game.name} has {game.num_players}")
        if self.solver and not game.zero_sum:
            raise ValueError(f"solver needs a zero-sum game, and {game.short_spec} is not zero-sum")
        if game.has_chance:
            for option in ("solver", "transpositions", "decisive"):
                if getattr(self, option):
                    raise ValueError(
                        f"{option} needs a game without chance, and {game.name} has chance"
                    )
            if self.amaf and shared_tree:
                raise ValueError(
                    f"amaf needs one thread or parallel='root' in a game with chance, {game.name}"
                )
        playout, playout_params = parse_nested("playout", self.playout, PLAYOUT_PARAMS)
        playout, depth = choose_playout(game, playout, playout_params["depth"], min_depth=0)
        count = check_integer("playout.count", playout_params["count"], 1, MAX_PLAYOUTS)
        if count > 1 and depth == 0:
            raise ValueError(
                f"playout.count={count} needs playouts of one ply or more, got playout.depth=0"
            )
        schedule, exploration_params = self._exploration()
        amaf, amaf_params = parse_nested("amaf", self.amaf, AMAF_PARAMS)
        amaf_fpu = check_choice("amaf.fpu", amaf_params["fpu"], (False, True))
        if amaf_fpu and game.simultaneous:
            raise ValueError(f"amaf.fpu needs a sequential game, and {game.name} is simultaneous")
        return SearchConfig(
            policy=self._policy()[0],
            draw_is_loss=check_choice("draw", self.draw, ("half", "loss")) == "loss",
            solver=check_choice("solver", self.solver, (False, True)),
            amaf=amaf,
            amaf_fpu=amaf_fpu,
            mast=parse_nested("mast", self.mast, MAST_PARAMS)[0],
            decisive=self.decisive,
            transpositions=check_choice("transpositions", self.transpositions, (False, True)),
            shared_tree=shared_tree,
            playout=playout,
            # Playouts to the end of the game need no evaluation: do not compile the game's own.
            evaluation=playout_params["evaluation"]
            or ("" if depth < game.max_plies else "returns"),
            many_playouts=count > 1,
            exploration_schedule=schedule != "",
            exploration_by_depth=exploration_params["depth_decay"] != 1,
            exploration_stdev=exploration_params["stdev"],
            groups=self.groups,
            tune=parse_nested("tune", self.tune, self._targets())[0],
        )

    def params(self, game: Game) -> NDArray[np.void]:
        """Return the parameters at run time, a record of `SEARCH_PARAMS`, shape `[1]`.

        With `tune` they are those of each player, records of `TUNED_PARAMS`, shape `[players]`.

        Raises:
            ValueError: if a parameter is out of range, or unknown to its option.
        """
        name, policy = self._policy()
        amaf, amaf_params = parse_nested("amaf", self.amaf, AMAF_PARAMS)
        mast, mast_params = parse_nested("mast", self.mast, MAST_PARAMS)
        playout, playout_params = parse_nested("playout", self.playout, PLAYOUT_PARAMS)
        weight, parameter = amaf_params["weight"], mast_params["parameter"]
        params = np.zeros(1, SEARCH_PARAMS)
        params["policy_params"] = POLICIES[name].parameters(policy)
        params["fpu"] = self.fpu
        # Defaults that depend on the option, see `MCTSAgent`.
        params["amaf_weight"] = (0.5 if amaf == "amaf" else 0.1) if weight is None else weight
        params["mast_parameter"] = (
            (0.3 if mast == "gibbs" else 0.4) if parameter is None else parameter
        )
        params["grave_reference"] = check_integer(
            "amaf.reference", amaf_params["reference"], 0, 10**9
        )
        params["playout_depth"] = choose_playout(
            game, playout, playout_params["depth"], min_depth=0
        )[1]
        params["playout_count"] = playout_params["count"]
        exploration_params = self._exploration()[1]
        params["final_exploration"] = exploration_params["final"]
        params["exploration_exponent"] = exploration_params["exponent"]
        params["depth_decay"] = exploration_params["depth_decay"]
        params["max_depth"] = check_integer("max_depth", self.max_depth, 0, 10**6)
        strategy, grid = self.tuning()
        if not strategy:
            return params
        return np.repeat(tuned_params(params, strategy, grid, self._targets()), game.num_players)

    def playout_weights(self, game: Game) -> NDArray[np.float64] | None:
        """Return the weights of softmax playouts, or None for other playouts.

        Raises:
            FileNotFoundError: if the file of the weights does not exist.
            ValueError: if the file is missing among the options, or invalid; or if the playouts
                have no weights.
        """
        playout, params = parse_nested("playout", self.playout, PLAYOUT_PARAMS)
        path = str(params["weights"])
        if playout != "softmax":
            if path:
                raise ValueError(f"playout.weights needs playout=softmax, got {playout!r}")
            return None
        if not path:
            raise ValueError("playout=softmax needs a file of weights, playout.weights=FILE")
        from ludoteca.agents.playout_weights import load_playout_weights  # needs PyTorch

        return load_playout_weights(path, game)

    def tuning(self) -> tuple[str, dict[str, Any]]:
        """Return the strategy of `tune`, or `""`, and the values to select from, by parameter.

        Values are text such as `"0.5/1/2"`, or one number.

        Raises:
            ValueError: if a parameter cannot be tuned, or there are values without a strategy.
        """
        strategy = parse_nested("tune", self.tune, self._targets())[0]
        grid = parse_params(self.tune, self.tune.partition(":")[2])
        if grid and not strategy:
            raise ValueError(f"tune needs a strategy, one of {STRATEGIES[1:]}, got {self.tune!r}")
        return strategy, grid

    def _targets(self) -> dict[str, int]:
        """Return the parameters that can be tuned, and their `targets` in `TUNED_PARAMS`."""
        names = POLICIES[self._policy()[0]].params
        policy_targets = {name: k for k, name in enumerate(names)}
        return policy_targets | {"fpu": FPU} | ({"weight": AMAF_WEIGHT} if self.amaf else {})

    def _exploration(self) -> tuple[str, dict[str, Any]]:
        """Return the schedule of the exploration factor, and all parameters of `exploration`."""
        name, params = parse_nested("exploration", self.exploration, EXPLORATION_PARAMS)
        check_choice("exploration", name, SCHEDULES)
        given = parse_params(self.exploration, self.exploration.partition(":")[2])
        needed = {"final": ("linear", "power"), "exponent": ("power",)}
        for key, schedules in needed.items():
            if key in given and name not in schedules:
                raise ValueError(
                    f"exploration.{key} needs exploration={' or '.join(schedules)}, got {name!r}"
                )
        default_exponent = 2.0 if name == "power" else 1.0
        exponent = default_exponent if params["exponent"] is None else params["exponent"]
        return name, {
            "final": check_real("exploration.final", params["final"], 0, 1),
            "exponent": check_real("exploration.exponent", exponent, 0.01, 100),
            "depth_decay": check_real("exploration.depth_decay", params["depth_decay"], 0, 10),
            "stdev": params["stdev"],
        }

    def _policy(self) -> tuple[str, dict[str, Any]]:
        """Return the name and the parameters of the selection policy."""
        name = self.policy.partition(":")[0] or "ucb1"
        check_choice("policy", name, tuple(POLICIES))
        params = parse_nested("policy", self.policy, POLICIES[name].params)[1]
        return name, {key: check_real(f"policy.{key}", params[key], -1e9, 1e9) for key in params}


def parse_nested(option: str, text: str, defaults: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Split `name:parameter=value,...` into the name and all parameters, with their defaults.

    Args:
        option: name of the option in error messages.
        text: the value of the option.
        defaults: the option's parameters and their defaults.

    Raises:
        ValueError: if the option has no such parameter.
    """
    if not isinstance(text, str):
        raise ValueError(f"{option} must be a string such as 'name:parameter=1', got {text!r}")
    name, _, params_text = text.partition(":")
    params = parse_params(text, params_text)
    check_parameter_names(f"{option} {name!r}" if name else option, params, defaults)
    return name, {**defaults, **params}


def signature_with_options(
    init: Any, options: type[CommonOptions] | type[SequentialOptions]
) -> inspect.Signature:
    """Return the signature of a constructor `init` with its options in place of `**options`."""
    explicit = [
        parameter
        for parameter in list(inspect.signature(init).parameters.values())[1:]
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    keywords = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=option.type,
        )
        for option in fields(SearchOptions)
        if option.name in options.__annotations__
    ]
    return inspect.Signature([*explicit, *keywords])
