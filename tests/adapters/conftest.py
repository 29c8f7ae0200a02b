"""Fixtures of the tests of adapters, which import the libraries themselves."""

import gc
import tempfile
import warnings

import pytest


@pytest.fixture(scope="module")
def _ray():
    """Run Ray on this machine, with our environments registered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray

        from ludoteca.envs.adapters.rllib import register

    ray.init(
        num_cpus=2,
        object_store_memory=200_000_000,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=tempfile.mkdtemp(prefix="ray"),
    )
    register()
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray does not wait for its processes
        ray.shutdown()
        gc.collect()
