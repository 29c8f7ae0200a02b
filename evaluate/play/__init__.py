"""Interactive games of people against agents, in a window or in the terminal."""
