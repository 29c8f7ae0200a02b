"""pgx on the CPU: a batch of games stepped inside one compiled loop of JAX.

Choosing happens inside the compiled loop, where JAX fuses it with the step, so it cannot be left
out of the time. Nor can observations and masks be optimized away: they are carried from each turn
of the loop to the next, and the last ones are returned.
"""

import os
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any

Run = Callable[[float], tuple[int, float]]


def prepare(
    game: str, num_envs: int, cores: int, choice: str, turns: int = 32
) -> tuple[dict[str, str], Run]:
    """Compile `turns` steps of `num_envs` games with automatic resets, and warm up.

    Args:
        game: id, such as `"hex"`.
        num_envs: size of the batch.
        cores: maximum number of processor cores; 0 for all.
        choice: sampling of random legal actions: `"act_randomly"` as pgx does, or `"count"`, with
            one random number per game, which is faster.
        turns: steps per call of the compiled loop.
    """
    if cores and hasattr(os, "sched_setaffinity"):
        # Before JAX starts its threads, which inherit it.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make(game)
    step = jax.vmap(auto_reset(env.step, env.init))
    choose = {"act_randomly": act_randomly, "count": choose_by_counting}[choice]

    def turn(_: int, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carried
        key, choosing, resetting = jax.random.split(key, 3)
        action = choose(choosing, state.legal_action_mask)
        return step(state, action, jax.random.split(resetting, num_envs)), key

    play = jax.jit(lambda carried: jax.lax.fori_loop(0, turns, turn, carried))
    first, second = jax.random.split(jax.random.PRNGKey(0))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(first, num_envs))
    carried = jax.block_until_ready(play((state, second)))

    def run(seconds: float) -> tuple[int, float]:
        nonlocal carried
        steps = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            carried = jax.block_until_ready(play(carried))
            steps += turns * num_envs
        return steps, passed

    run(0.2)
    return {name: version(name) for name in ("pgx", "jax", "jaxlib")}, run


def choose_by_counting(key: Any, masks: Any) -> Any:
    """Draw k below the number of legal actions, and take the k-th one."""
    import jax
    import jax.numpy as jnp

    counted = jnp.cumsum(masks.astype(jnp.int32), axis=1)
    uniform = jax.random.uniform(key, (masks.shape[0], 1))
    k = (uniform * counted[:, -1:]).astype(jnp.int32)
    return jnp.argmax(counted > k, axis=1)
