"""`ludoteca new-package`: a small package of one's own with a game, an agent and their tests."""
