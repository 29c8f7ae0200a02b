"""Results of the thesis on bandits, section 4.2.1.

Valencia, "Desarrollo de una política de selección para General Game Playing basada en el problema
del bandido multi-armado", Universidad Autónoma del Estado de México, 2021.
"""

ARMS = (2, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)  # numbers of arms K

# Table 4.20: a row for each of ARMS with the alpha of lowest regret by the grids ("intervals") and
# by simulated annealing.
_ALPHAS = """
0.21875     0.231920917666258
0.1484375   0.150946812286281
0.109375    0.110409398029701
0.078125    0.0925477513275956
0.0546875   0.0414137549344286
0.0390625   0.0353988664320534
0.02734375  0.028712263957292
0.02734375  0.0226200347452994
0.01953125  0.0173697109028678
0.01953125  0.0182521667064247
0.013671875 0.0104088991784998
"""
BY_INTERVALS, BY_ANNEALING = (
    dict(zip(ARMS, map(float, column), strict=True))
    for column in zip(*(line.split() for line in _ALPHAS.strip().splitlines()), strict=True)
)

# Table 4.18: a row for each alpha with the mean regret after 100,000 rounds for each of ARMS. (For
# K = 10 and 30 the second grid of the thesis does not lie around the alpha with the lowest regret,
# but around a neighboring one.)
_TABLE = """
0.5          32.8760  209.4334  423.7802  630.8992  845.3931 1049.5631 1250.4386 1450.0861 1649.4340 1838.9901 2035.2917
0.25         18.2583  116.3316  234.4191  350.0860  466.4262  577.2316  693.2197  805.4397  917.4059 1021.6371 1132.6837
0.125        31.0783  100.3666  141.7457  198.0396  260.9196  326.8616  388.4936  450.8379  513.5874  580.1546  643.1949
0.0625      161.4920  355.7119  247.7847  211.5564  199.2319  210.0141  233.0756  260.0196  291.4136  320.3192  349.0559
0.03125     636.3840  953.3178  425.8911  280.8125  212.1633  194.9900  196.0247  197.1115  208.3208  222.3790  237.7056
0.015625   1281.8007 1375.1119  655.3645  429.7325  292.9512  243.9314  224.7827  208.8159  202.4927  198.2596  202.0549
0.0078125  1803.7201 1784.9952  889.4018  577.6450  396.9141  336.1454  290.6329  247.1634  241.2049  222.9236  214.0054
0.00390625 2278.3441 2108.1837 1061.4585  690.2368  523.3517  413.8623  368.0513  329.8982  293.9819  263.7591  250.5537
0.001953125 2749.9066 2245.0654 1174.4083  809.2447  616.1031  506.9338  433.0839  375.4480  336.6978  309.7464  296.9842
0.0        5369.5464 2620.8392 1507.3231 1044.8456  825.5027  664.8322  585.4101  535.9199  471.9239  437.4117  418.3438
"""  # noqa: E501
REGRETS = {
    float(alpha): dict(zip(ARMS, map(float, regrets), strict=True))
    for alpha, *regrets in (line.split() for line in _TABLE.strip().splitlines())
}
