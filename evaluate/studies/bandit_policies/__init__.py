"""Study of selection policies in bandits: pulls of the best arm, regret, and its bounds."""
