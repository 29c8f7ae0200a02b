"""New games of this package: their files from templates, and the tables of their pages."""
