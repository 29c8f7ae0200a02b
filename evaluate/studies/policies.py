"""Selection policies of tree search that the studies compare.

The list is constant, so that policies that are added to the package do not change published
results.
"""

PUBLISHED_POLICIES = (
    "ucb1",
    "ucb_tuned",
    "ucb_v",
    "ucb_minimal",
    "moss",
    "etc",
    "ucb_alpha1",
    "ucb_alpha2",
    "uct",
    "uniform",
    "omc",
    "omc_stochastic",
    "epsilon_greedy",
    "exp3",
    "thompson",
    "pbbm",
    "puct",
)
