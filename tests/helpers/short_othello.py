"""The shortest game of Othello on 4x4: b1 c1 d1 a1 a3, white passes, d4.

White (1) is left with a1 and no move.
"""

# Rows of a data set in CSV, without the last column, the label. 0: empty, 1 and 2: discs.
ROWS = """\
0,0,0,0,0,1,2,0,0,2,1,0,0,0,0,0
0,2,0,0,0,2,2,0,0,2,1,0,0,0,0,0
0,2,1,0,0,2,1,0,0,2,1,0,0,0,0,0
0,2,2,2,0,2,2,0,0,2,1,0,0,0,0,0
1,2,2,2,0,1,2,0,0,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,2,0,0,0,0,2
""".splitlines()
