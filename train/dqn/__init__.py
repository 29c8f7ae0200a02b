"""Deep Q-learning with experience replay, for every game of two players who move in turn."""
