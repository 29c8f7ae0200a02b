"""Study of the best constant of UCB1 by the number of arms (Valencia, UAEMex, 2021)."""
