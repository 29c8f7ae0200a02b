"""Game records of other programs: SGF, GGF, transcripts of Othello, and positions in FFO format."""
