"""Agents with a network that comes with the package, listed without loading PyTorch."""

from importlib import resources
from pathlib import Path

from ludoteca.agents.registry import AGENTS


def shipped_networks() -> tuple[str, ...]:
    """Return the spec strings of the agents with a network that comes with the package."""
    folder = Path(str(resources.files("ludoteca.agents"))) / "weights"
    names = [name for name in ("az", "dqn", "ac", "cnn") if name in AGENTS]
    files = ((name, path) for name in names for path in sorted((folder / name).glob("*.json")))
    return tuple(f"{name}:{path.stem}" for name, path in files)
