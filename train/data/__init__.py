"""Recorded games: one data set format, its files, generators, converters and checks."""
