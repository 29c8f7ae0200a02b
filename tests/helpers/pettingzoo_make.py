"""PettingZoo's environments by id, with PettingZoo's registry or, before 1.27, without it."""

from typing import Any

import pettingzoo

from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.parallel import parallel_env

HAS_REGISTRY = hasattr(pettingzoo, "make")


def make_pettingzoo(kind: str, id_: str, **options: Any) -> Any:
    """Return the AEC or parallel environment that `pettingzoo.make(kind, id_)` makes."""
    if HAS_REGISTRY:
        return pettingzoo.make(kind, id_, **options)
    return {"aec": aec_env, "parallel": parallel_env}[kind](id_, **options)
