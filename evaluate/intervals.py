"""Confidence intervals of what matches measure."""


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a probability, after `successes` of `n` trials.

    From Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22, 1927; computed by SciPy. Without trials it is (0, 1).

    It holds for independent trials that succeed or fail. A score that counts draws as half is no
    such trial: its interval would be too wide, the more draws the wider.

    Raises:
        ValueError: if `successes` is not from 0 to `n`, or `confidence` not between 0 and 1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be from 0 to n = {n}, got {successes}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    if n == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest  # takes a second to import

    interval = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)
