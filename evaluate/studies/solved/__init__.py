"""Study of AlphaZero in solved games: Tic-Tac-Toe, Hex 5x5 and Connect Four."""
