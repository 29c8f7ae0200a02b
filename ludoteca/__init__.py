"""Ludoteca."""
