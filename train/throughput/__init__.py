"""How many games per second self-play actors feed to a learner: measured here, simulated beyond."""
