"""Study of readings of the formula of UCB-Tuned in the setting of a thesis."""
