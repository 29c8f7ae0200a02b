"""Study of value networks and AlphaZero in Othello (University of Seville)."""
