"""Study of agents for Hungry Geese (Martín Miralles, UIB, 2021), and beyond it."""
