"""New games of this package: files from templates, and tables of the documentation pages."""
