"""Study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), with our own runs."""
