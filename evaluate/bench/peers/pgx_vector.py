"""pgx on the CPU: a batch of games stepped inside one compiled loop of JAX.

Actions are sampled inside the compiled loop, where JAX fuses the sampling with the step, so the
time of the sampling is always included. Observations and masks cannot be optimized away: each
iteration of the loop passes them to the next, and the last ones are returned.
"""

import os
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any

Run = Callable[[float], tuple[int, float]]  # seconds to run -> steps of all games, seconds passed


def prepare(
    game: str, num_envs: int, cores: int, sampler: str, steps_per_call: int = 32
) -> tuple[dict[str, str], Run]:
    """Compile a loop of steps of a batch of games with automatic resets, and warm up.

    Args:
        game: id of the game in pgx, such as `"hex"`.
        num_envs: number of games in the batch.
        cores: maximum number of processor cores; 0 for all. No effect on systems without
            `os.sched_setaffinity`.
        sampler: how random legal actions are sampled: `"act_randomly"` as pgx does, or `"count"`,
            with one random number per game, which is faster.
        steps_per_call: steps of each game per call of the compiled loop.

    Returns:
        The versions of the packages, and a function that steps the batch, see `Run`.

    Raises:
        ImportError: if pgx or JAX is not installed.
        KeyError: if there is no such sampler.
    """
    if cores and hasattr(os, "sched_setaffinity"):
        # Before JAX starts its threads, which inherit the affinity.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make(game)
    step = jax.vmap(auto_reset(env.step, env.init))
    sample = {"act_randomly": act_randomly, "count": sample_by_counting}[sampler]

    def loop_body(_: int, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carry
        key, action_key, reset_key = jax.random.split(key, 3)
        action = sample(action_key, state.legal_action_mask)
        return step(state, action, jax.random.split(reset_key, num_envs)), key

    play = jax.jit(lambda carry: jax.lax.fori_loop(0, steps_per_call, loop_body, carry))
    init_key, loop_key = jax.random.split(jax.random.PRNGKey(0))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(init_key, num_envs))
    carry = jax.block_until_ready(play((state, loop_key)))

    def run(seconds: float) -> tuple[int, float]:
        nonlocal carry
        steps = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            carry = jax.block_until_ready(play(carry))
            steps += steps_per_call * num_envs
        return steps, passed

    run(0.2)
    return {name: version(name) for name in ("pgx", "jax", "jaxlib")}, run


def sample_by_counting(key: Any, masks: Any) -> Any:
    """Sample a uniform legal action of each of B games: the k-th legal one, for a uniform k.

    Args:
        key: random key of JAX.
        masks: legal actions. Shape `[B, num_actions]`.

    Returns:
        The actions. Shape `[B]`.
    """
    import jax
    import jax.numpy as jnp

    legal_so_far = jnp.cumsum(masks.astype(jnp.int32), axis=1)
    uniform = jax.random.uniform(key, (masks.shape[0], 1))
    # From 0 to the number of legal actions - 1.
    k = (uniform * legal_so_far[:, -1:]).astype(jnp.int32)
    return jnp.argmax(legal_so_far > k, axis=1)
