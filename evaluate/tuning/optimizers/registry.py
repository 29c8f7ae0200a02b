"""Registry of optimizers, and their construction from spec strings such as `"ntbea:levels=20"`."""

import inspect
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from ludoteca.envs.names import did_you_mean
from ludoteca.envs.spec import call_checked, parse_name, parse_spec
from ludoteca.evaluate.tuning.optimizers.optimizer import Maker, Optimizer
from ludoteca.evaluate.tuning.parameters import TunedParameter

# One line per optimizer: its name and its class.
OPTIMIZERS = {
    "spsa": "ludoteca.evaluate.tuning.optimizers.spsa:SPSA",
    "cma_es": "ludoteca.evaluate.tuning.optimizers.cma_es:CMAES",
    "ntbea": "ludoteca.evaluate.tuning.optimizers.ntbea:NTBEA",
    "optuna": "ludoteca.evaluate.tuning.optimizers.optuna:Optuna",
    "grid": "ludoteca.evaluate.tuning.optimizers.grid:Grid",
}
COMMON = ("parameters", "start", "evaluations", "seed")  # arguments of every constructor


def find_optimizer(spec: str) -> Maker:
    """Return the class of the optimizer that a spec string names.

    Raises:
        ValueError: if there is no such optimizer.
    """
    name = _name(spec)
    if name not in OPTIMIZERS:
        hint = did_you_mean(name, OPTIMIZERS)
        raise ValueError(f"unknown optimizer {name!r}{hint}; there are {', '.join(OPTIMIZERS)}")
    module, _, attribute = OPTIMIZERS[name].partition(":")
    maker: Maker = getattr(import_module(module), attribute)
    return maker


def make_optimizer(
    spec: str,
    parameters: Sequence[TunedParameter],
    start: Sequence[float],
    evaluations: int,
    seed: int,
) -> Optimizer:
    """Make the optimizer of a spec string; see `Maker` for the arguments.

    Raises:
        ValueError: if there is no such optimizer or setting, or it does not suit the parameters.
        ModuleNotFoundError: if its package is not installed.
    """
    maker = find_optimizer(spec)
    known = {
        key: parameter
        for key, parameter in inspect.signature(maker).parameters.items()
        if key not in COMMON
    }
    settings = parse_spec(spec, known=known)[1]
    for key in settings:
        if key not in known:
            raise ValueError(
                f"optimizer {_name(spec)} has no setting {key!r}{did_you_mean(key, known)}; it has "
                f"{', '.join(known)}"
            )
    make = partial(maker, parameters, start, evaluations, seed)
    return call_checked(spec, make, settings, known)


def _name(spec: str) -> str:
    return parse_name(spec).lower().replace("-", "_")
