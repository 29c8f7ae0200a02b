"""Results of the thesis on Hungry Geese, tables 1 and 2 and section 3.2.

Martín Miralles, "Modelos de inteligencia artificial aplicados al juego Hungry Geese", master's
thesis, Universitat de les Illes Balears, 2021.
"""

GAMES = 100  # games of each competition
PLAYED = 4  # times that the competition of figure 10 was played, each with the same result

# Seconds per move of flat Monte Carlo, by simulations and playout depth (table 1).
SECONDS = {
    (125, 4): 0.115,
    (250, 4): 0.216,
    (500, 4): 0.452,
    (1000, 4): 0.867,
    (125, 6): 0.148,
    (250, 6): 0.282,
    (500, 6): 0.583,
    (1000, 6): 1.121,
}
# Wins, deaths, and mean length of the survivors, for each agent of each competition (table 2,
# figures 7 to 11).
RESULTS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "depth-4": ((22, 69, 24), (33, 61, 26), (19, 73, 22), (22, 73, 27)),
    "depth-6": ((19, 60, 23), (27, 56, 23), (29, 57, 24), (30, 65, 26)),
    "mixed": ((20, 73, 24), (21, 68, 23), (32, 60, 24), (30, 57, 23)),
    "simulated": ((22, 78, 12), (18, 82, 15), (19, 81, 16), (16, 84, 16)),
    "real": ((28, 63, 18), (27, 72, 20), (18, 79, 20), (25, 76, 22)),
    "final": ((20, 77, 20), (40, 58, 21), (2, 98, 21), (33, 63, 20)),
}
# Validation accuracy of each network in % (section 3.2), and in parentheses the range of ratings of
# the players that it imitates.
ACCURACY = {
    "net-125": "65.5",
    "net-250": "69.4",
    "net-500": "70.9",
    "net-1000": "73.6",
    "net-real-0": "78.2 (900 to 1000)",
    "net-real-1": "75.2 (1001 to 1100)",
    "net-real-2": "75.5 (1101 to 1200)",
    "net-real-3": "77.5 (above 1200)",
}
