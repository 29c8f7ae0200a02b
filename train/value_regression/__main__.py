"""Value regression: a network predicts the results of recorded games.

`python -m ludoteca.train.value_regression --data games.npz` builds and trains the network of Sancho
and Fernández' Othello document: Adam, mean squared error. An interrupted run resumes, with the same
result, when the same command is given again.
"""

import tyro

from ludoteca.train.command import run_command
from ludoteca.train.value_regression.config import ValueRegressionConfig
from ludoteca.train.value_regression.run import train

if __name__ == "__main__":
    run_command(
        "ludoteca.train.value_regression",
        lambda: train(
            tyro.cli(
                ValueRegressionConfig,
                prog="python -m ludoteca.train.value_regression",
                description=__doc__,
            ),
            progress=True,
        ),
    )
