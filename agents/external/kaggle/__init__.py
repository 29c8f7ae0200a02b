"""Kaggle, both ways: submissions to its competition as agents, and agents as submissions."""

from ludoteca.agents.external.kaggle.agent import KaggleAgent
from ludoteca.agents.external.kaggle.function import FunctionAgent, kaggle_function

__all__ = ["FunctionAgent", "KaggleAgent", "kaggle_function"]
