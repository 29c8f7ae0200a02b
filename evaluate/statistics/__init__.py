"""Statistics of tournaments: ranks, tests of differences, and ratings."""
