"""Kaggle, both ways: submissions to its competition as agents, and agents as submissions."""

from ludoteca.agents.kaggle.agent import KaggleAgent
from ludoteca.agents.kaggle.function import FunctionAgent, kaggle_function

__all__ = ["FunctionAgent", "KaggleAgent", "kaggle_function"]
