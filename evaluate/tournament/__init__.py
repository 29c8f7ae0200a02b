"""Tournaments: round robins of agents in several games, and reports of them."""
