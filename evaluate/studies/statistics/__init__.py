"""Study of the package's statistics: error rates, power, coverage, and other libraries."""
