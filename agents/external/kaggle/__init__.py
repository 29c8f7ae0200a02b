"""Kaggle submissions as agents, and agents as Kaggle submissions."""

from ludoteca.agents.external.kaggle.agent import KaggleAgent
from ludoteca.agents.external.kaggle.function import KaggleFunctionAgent, kaggle_function

__all__ = ["KaggleAgent", "KaggleFunctionAgent", "kaggle_function"]
