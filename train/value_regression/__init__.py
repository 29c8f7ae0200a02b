"""Learning the value of positions from games that were played before."""
