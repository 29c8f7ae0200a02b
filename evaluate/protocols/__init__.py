"""Text protocols in which other programs use agents as engines."""
