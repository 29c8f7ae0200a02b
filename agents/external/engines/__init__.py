"""Engines of other programs as agents: GTP and HTP (Hex), NBoard (Othello)."""
