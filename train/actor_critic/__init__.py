"""Actor-critic learning by self-play, for simultaneous games."""
