"""Playing: people against agents, in a window or in the terminal."""
