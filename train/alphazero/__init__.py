"""AlphaZero: self-play with search, for every game of two players who move in turn."""
