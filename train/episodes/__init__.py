"""Games in which all move at once, with who played: to learn moves and results from."""
