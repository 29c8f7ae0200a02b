"""Tests of the lazy exports of `ludoteca.agents`."""

import subprocess
import sys

import pytest

from ludoteca import agents


@pytest.mark.parametrize("name", agents.__all__)
def test_every_export_is_importable_and_listed(name: str) -> None:
    try:
        exported = getattr(agents, name)
    except ImportError as error:
        pytest.skip(str(error))
    assert name == "AGENTS" or exported.__name__ == name
    assert name in dir(agents)


def test_unknown_names_raise_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'ludoteca\.agents' has no attribute 'Agnt'"):
        agents.Agnt  # noqa: B018


def test_importing_the_package_imports_neither_pytorch_nor_agent_classes() -> None:
    code = "import sys, ludoteca.agents; print('torch' in sys.modules, *sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert modules[0] == "False"
    assert not {"ludoteca.agents.dqn", "ludoteca.agents.mcts", "ludoteca.agents.flat"} & {*modules}
