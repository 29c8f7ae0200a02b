"""Games from rule sheets in the Game Description Language (GDL)."""
