"""How an actor-critic network can learn."""

from ludoteca.train.actor_critic.config import Config
from ludoteca.train.actor_critic.document import DocumentTraining
from ludoteca.train.actor_critic.search import SearchTraining
from ludoteca.train.actor_critic.training import Training

# One line for each method.
METHODS: dict[str, type[Training]] = {
    "ppo": Training,
    "search": SearchTraining,
    "document": DocumentTraining,
}


def make_training(config: Config, tensorboard: bool = True) -> Training:
    """Return a run by the method of its settings."""
    return METHODS[config.method](config, tensorboard)
