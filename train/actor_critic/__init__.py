"""Actor-critic by self-play, for games in which all move at once."""
