"""Study of two published comparisons of selection policies that Valencia's thesis builds on."""
