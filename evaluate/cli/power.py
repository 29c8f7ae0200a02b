"""The command `ludoteca power`."""

from ludoteca.evaluate.cli.options import OptionalFloat, OptionalInt


def power_command(
    elo: OptionalFloat = None,
    score: OptionalFloat = None,
    draws: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
    one_sided: bool = False,
    games: OptionalInt = None,
) -> None:
    """Compute how many games a match needs to show that one agent is stronger.

    Give the difference that matters, as Elo points or as a mean score.

    Args:
        elo: Elo difference of the agents.
        score: mean score of the stronger agent, such as 0.55, instead of the Elo difference.
        draws: fraction of drawn games.
        alpha: significance level: probability of detecting a difference between equal agents.
        power: probability of detecting the difference.
        one_sided: test only for a difference in the given direction.
        games: also print the power of a match of this many games.
    """
    from ludoteca.evaluate.statistics.power import PowerAnalysis, power_analysis_of_elo
    from ludoteca.evaluate.statistics.ratings import elo_difference
    from ludoteca.evaluate.statistics.sprt import Sprt

    if (elo is None) == (score is None):
        got = "none" if elo is None else "both"
        raise ValueError(f"expected one of --elo and --score, got {got}")
    if elo is not None:
        analysis = power_analysis_of_elo(elo, draws, alpha, not one_sided)
    else:
        assert score is not None
        analysis = PowerAnalysis(score, draws, alpha, not one_sided)
    elo_points = elo_difference(analysis.score)
    assert elo_points is not None
    sides = "one-sided" if one_sided else "two-sided"
    print(
        f"Elo difference {elo_points:+.1f}, mean score {analysis.score:.4f}, draws {draws:g}\n"
        f"{analysis.games(power):,} games detect it with probability {power:g} ({sides} test, "
        f"alpha {alpha:g})"
    )
    if games is not None:
        print(f"{games:,} games detect it with probability {analysis.power(games):.3f}")
    low, high = sorted((0.0, elo_points))
    # `Sprt` takes error probabilities up to 0.499.
    if power < 1 and alpha < 0.499 and 1 - power < 0.499:
        # H0 is the lower difference. If that is the negative one, H1 is equality, and the
        # probabilities of the two errors change places.
        alpha_option, beta_option = (alpha, 1 - power) if elo_points > 0 else (1 - power, alpha)
        test = Sprt(low, high, alpha_option, beta_option, counts="trinomial")
        games_if_equal, games_if_unequal = (
            test.expected_games(0, draws),
            test.expected_games(elo_points, draws),
        )
        print(
            f"a sequential test (one-sided), --sprt {low:.4g} {high:.4g} "
            f"--alpha {alpha_option:.4g} --beta {beta_option:.4g}, needs "
            f"{games_if_unequal:,.0f} games on average, and {games_if_equal:,.0f} if the agents "
            "are equal"
        )
