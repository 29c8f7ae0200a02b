"""Study of selection policies in General Game Playing (Valencia, UAEMex, 2021)."""
