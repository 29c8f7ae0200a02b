"""Learning the moves of others, from games in which all move at once."""
