"""Study of RAVE and GRAVE: exploration constant and equivalence parameter in eight games."""
