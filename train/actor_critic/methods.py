"""Methods of actor-critic learning."""

from ludoteca.train.actor_critic.config import ActorCriticConfig
from ludoteca.train.actor_critic.search_imitation import SearchImitationTraining
from ludoteca.train.actor_critic.training import ActorCriticTraining
from ludoteca.train.actor_critic.uib2021 import UIB2021Training

# One line for each method.
METHODS: dict[str, type[ActorCriticTraining]] = {
    "ppo": ActorCriticTraining,
    "search": SearchImitationTraining,
    "uib2021": UIB2021Training,
}


def make_training(config: ActorCriticConfig, tensorboard: bool = True) -> ActorCriticTraining:
    """Return a run with the method of its settings."""
    return METHODS[config.method](config, tensorboard)
