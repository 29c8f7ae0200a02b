"""`ludoteca new-package`: templates of a package with a game, an agent and tests."""
