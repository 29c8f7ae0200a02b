"""Study of agents for Hungry Geese (Martín Miralles, UIB, 2021), with further experiments."""
