"""Registry of optimizers, and their construction from spec strings such as `"ntbea:levels=20"`."""

import inspect
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from ludoteca.envs.names import did_you_mean
from ludoteca.envs.spec import call_checked, parse_name, parse_spec
from ludoteca.evaluate.tuning.optimizers.optimizer import Optimizer, OptimizerFactory
from ludoteca.evaluate.tuning.parameters import TunedParameter
from ludoteca.evaluate.tuning.playout_weights import METHODS

# Classes of the optimizers by name, as `MODULE:CLASS`.
OPTIMIZERS = {
    "spsa": "ludoteca.evaluate.tuning.optimizers.spsa:SPSA",
    "cma_es": "ludoteca.evaluate.tuning.optimizers.cma_es:CMAES",
    "ntbea": "ludoteca.evaluate.tuning.optimizers.ntbea:NTBEA",
    "optuna": "ludoteca.evaluate.tuning.optimizers.optuna:Optuna",
    "grid": "ludoteca.evaluate.tuning.optimizers.grid:Grid",
}
COMMON_PARAMS = ("parameters", "start", "evaluations", "seed")  # arguments of every constructor


def find_optimizer(spec: str) -> OptimizerFactory:
    """Return the class of the optimizer that a spec string names.

    Raises:
        ValueError: if there is no such optimizer.
    """
    name = _name(spec)
    if name not in OPTIMIZERS:
        names = [*OPTIMIZERS, *METHODS]
        hint = did_you_mean(name, names)
        raise ValueError(f"unknown optimizer {name!r}{hint}; there are {', '.join(names)}")
    module, _, attribute = OPTIMIZERS[name].partition(":")
    maker: OptimizerFactory = getattr(import_module(module), attribute)
    return maker


def make_optimizer(
    spec: str,
    parameters: Sequence[TunedParameter],
    start: Sequence[float],
    evaluations: int,
    seed: int,
) -> Optimizer:
    """Make the optimizer of a spec string; see `OptimizerFactory` for the arguments.

    Raises:
        ValueError: if there is no such optimizer or setting, or the optimizer does not support the
            parameters.
        ModuleNotFoundError: if the package of the optimizer is not installed.
    """
    maker = find_optimizer(spec)
    settings_params = {
        key: parameter
        for key, parameter in inspect.signature(maker).parameters.items()
        if key not in COMMON_PARAMS
    }
    settings = parse_spec(spec, known=settings_params)[1]
    for key in settings:
        if key not in settings_params:
            raise ValueError(
                f"optimizer {_name(spec)} has no setting {key!r}"
                f"{did_you_mean(key, settings_params)}; it has {', '.join(settings_params)}"
            )
    make = partial(maker, parameters, start, evaluations, seed)
    return call_checked(spec, make, settings, settings_params)


def _name(spec: str) -> str:
    """Return the name of the optimizer in a spec string, as in `OPTIMIZERS`."""
    return parse_name(spec).lower().replace("-", "_")
