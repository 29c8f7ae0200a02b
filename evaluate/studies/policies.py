"""Selection policies of the published studies; policies that are added later do not change them."""

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
