"""Study of selection policies in P-games, random trees of known value (Kocsis and Szepesvari)."""
