"""Networks of agents: encoders, layers, architectures, weight files, runner, evaluation cache."""
