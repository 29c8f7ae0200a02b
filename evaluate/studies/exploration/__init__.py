"""Study of the exploration factor and of move groups in games of General Game Playing."""
