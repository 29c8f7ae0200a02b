"""Neural networks that play: what they see, how they are built, kept in files and run."""
