"""Confidence intervals of win rates and mean scores."""

from math import sqrt
from statistics import NormalDist

Z_95 = 1.959963984540054  # half width of a normal 95 % interval in standard errors


def wilson(successes: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a probability, after `successes` of `n` trials.

    From Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22, 1927. Without trials it is (0, 1).

    The interval is for independent trials that succeed or fail. It also holds for mean scores in
    which a draw counts as half a success: their variance is at most p (1 - p). With many draws it
    is too wide, see `score_interval`.

    Raises:
        ValueError: if `successes` is not from 0 to `n`, or `confidence` not between 0 and 1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be from 0 to n = {n}, got {successes}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    return _interval(successes, 0, n, confidence)


def score_interval(wins: int, draws: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval of the mean score of `n` games, in which a draw counts as half a win.

    Wilson's interval with the variance of such scores: all p whose distance from the observed mean
    s is at most z standard deviations, n (p - s)^2 <= z^2 (p (1 - p) - d / 4), with the fraction d
    of draws. Without draws it equals Wilson's interval. Without games it is (0, 1).

    The observed d is used as if it were exact. That needs many games: of a few that are all drawn
    the interval has no width. Use `wilson` with half a success for each draw there.

    Raises:
        ValueError: if `wins` and `draws` are negative or more than `n` in all, or `confidence` is
            not between 0 and 1.
    """
    if min(wins, draws) < 0 or wins + draws > n:
        raise ValueError(
            f"wins and draws must be 0 or more, and at most n = {n} in all, got {wins} and {draws}"
        )
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    return _interval(wins, draws, n, confidence)


def return_interval(mean_return: float, n: int) -> tuple[float, float]:
    """Return a 95 % interval of the mean of independent returns in [-1, 1], after `n` games.

    Wilson's interval of the scores (1 + return) / 2, whose variance is at most p (1 - p): if few
    returns are -1 or 1, it is too wide. Without games it is (-1, 1).

    Raises:
        ValueError: if `mean_return` is not from -1 to 1.
    """
    if not -1 <= mean_return <= 1:
        raise ValueError(f"the mean of returns must be from -1 to 1, got {mean_return}")
    low, high = wilson(n * (1 + mean_return) / 2, n)
    return 2 * low - 1, 2 * high - 1


def _interval(wins: float, draws: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the interval of `score_interval` for valid arguments; `wins` need not be whole."""
    if n == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    score, drawn = (wins + draws / 2) / n, draws / n
    middle = (2 * n * score + z2) / (2 * (n + z2))
    product = (n * score * score + z2 * drawn / 4) / (n + z2)  # product of the two solutions
    half_width = sqrt(max(middle * middle - product, 0.0))
    # Despite rounding errors, the score must lie in the interval, and the interval in [0, 1].
    return max(min(middle - half_width, score), 0.0), min(max(middle + half_width, score), 1.0)
