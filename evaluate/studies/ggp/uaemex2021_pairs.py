"""Results of the thesis on General Game Playing (UAEMex, 2021) for each pair of policies.

Source: tables 4.2, 4.4, ..., 4.16, 4.17, and 4.22, 4.24, ..., 4.36.
"""

import numpy as np

from ludoteca.evaluate.studies.ggp.uaemex2021 import GAMES, GAMES_PER_PAIR, POLICY_NAMES

# The policy whose wins are counted, and its opponent, in each column of the tables, as indices into
# POLICY_NAMES. Where both directions are listed, they are the same 300 games; their wins add up to
# fewer than 300 if there were draws. The thesis counts no wins of the first three policies against
# the last two.
DIRECTED_PAIRS = (
    (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1),
    (3, 0), (3, 1), (3, 2), (3, 4), (4, 0), (4, 1), (4, 2), (4, 3),
)  # fmt: skip
PAIR_NAMES = tuple(f"{POLICY_NAMES[a]} against {POLICY_NAMES[b]}" for a, b in DIRECTED_PAIRS)

# Wins of the first policy of each of DIRECTED_PAIRS in % of 300 games, rounded to 2 decimals: the
# mean of three matches of 100 games. Each of GAMES has two rows: first with 100 simulations per
# move, then with 1000.
_WIN_PERCENTAGES = """
42.67 55.00 57.33 53.67 45.00 46.33 65.00 57.67 64.00 50.33 67.00 49.33 60.67 49.67
43.33 55.00 56.67 64.33 45.00 35.67 63.33 55.67 66.33 49.33 62.33 59.00 63.33 50.67
39.67 52.67 60.33 66.00 47.33 34.00 60.67 57.00 63.00 54.33 67.00 49.67 60.67 45.67
63.67 51.00 36.33 32.00 49.00 68.00 70.00 77.67 67.67 48.67 70.67 78.00 69.33 51.33
45.33 52.33 54.67 52.33 47.67 47.67 56.33 57.00 52.33 50.67 53.00 59.67 58.00 49.33
65.33 50.67 34.67 30.00 49.33 70.00 69.67 80.00 71.33 52.33 68.67 76.67 70.00 47.67
55.67 51.33 44.33 47.00 48.67 53.00 45.33 49.67 51.00 49.33 52.00 51.67 56.00 50.67
55.33 53.33 44.67 49.33 46.67 50.67 63.00 52.00 58.67 51.33 55.00 47.00 59.00 48.67
45.67 53.00 54.33 51.00 47.00 49.00 74.00 70.33 65.33 47.33 71.00 63.67 71.67 52.67
34.33 47.00 65.67 65.00 53.00 35.00 71.33 61.00 69.67 45.67 71.00 61.67 72.00 54.33
55.00 48.00 45.00 46.33 52.00 53.67 53.00 52.67 52.67 50.67 52.00 52.67 52.00 49.33
60.33 48.00 39.67 41.33 52.00 58.67 52.00 68.00 51.67 49.67 52.33 66.00 52.67 50.33
51.00 51.67 44.00 47.00 46.00 50.00 47.67 50.00 49.33 44.67 50.00 50.00 53.67 53.67
83.00 50.33 15.67 19.00 48.33 77.67 55.33 74.00 58.33 43.00 56.33 73.67 57.67 44.67
47.00 48.67 52.67 52.00 50.67 47.67 59.00 59.00 55.33 50.00 55.00 60.33 58.67 50.00
64.33 50.33 35.67 33.67 49.67 66.33 75.00 73.67 76.33 44.00 77.00 76.33 75.67 55.33
"""
_PERCENT = np.array([line.split() for line in _WIN_PERCENTAGES.strip().splitlines()], np.float64)
_WINS = np.round(_PERCENT * GAMES_PER_PAIR / 100).astype(np.int64)
_BY_GAME = _WINS.reshape(len(GAMES), 2, len(DIRECTED_PAIRS))
# Wins of the first policy of each pair in 300 games, by the number of simulations per move. Shape
# `[8, 14]`: GAMES, DIRECTED_PAIRS.
PAIR_WINS = {100: _BY_GAME[:, 0], 1000: _BY_GAME[:, 1]}

# Table 4.17: wins of each of the first three policies in its 600 games against the other two. Each
# of GAMES has a row, with three columns for 100 simulations per move, then three for 1000.
_TABLE_4_17 = """
293 333 274 295 363 242
277 379 244 344 205 351
293 321 286 348 194 358
321 274 305 326 282 292
296 316 288 244 392 264
309 274 317 325 243 332
308 273 288 400 104 378
287 314 295 344 208 348
"""
_FIRST_WINS = np.array([line.split() for line in _TABLE_4_17.strip().splitlines()], np.int64)
# The thesis' first comparison, of three policies: the wins of table 4.17, by the number of
# simulations per move. Shape `[8, 3]`: GAMES, policies.
FIRST_COMPARISON = {100: _FIRST_WINS[:, :3], 1000: _FIRST_WINS[:, 3:]}
